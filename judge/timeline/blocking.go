package timeline

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/judge/advice"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/judge/tree"
	"assay/summary"
)

// A blocking is a kind of call that blocks the CPU, with the time that it takes and the idle time
// that it costs at most.
type blocking struct {
	rule, what string
	cause      string // another cause of the calls; "" if the calls themselves are the cause
	host, lost int64  // ns, summed over GPUs
	device     int64  // ns of the copies on the GPU
	rows       []blockingRow
	next       []finding.Step
}

// A blockingRow is one line of evidence: calls of one name, for one kind of copy.
type blockingRow struct {
	call, copy  string
	runs        int64
	host        int64
	device      int64
	bytes       int64 // 0 if unknown
	longest, at int64 // ns of the longest call, and its start
	where       string
	place       finding.Place
}

// blockings returns the kinds of calls that block the CPU, in the order of their rules.
func blockings(c *Evaluator) []blocking {
	return []blocking{synchronizing(c), synchronousCopies(c), pageableCopies(c), synchronousMemsets(c)}
}

// synchronizing adds up the calls that wait for all work of a stream or device, and the waits for
// events if there is one for each operation.
func synchronizing(c *Evaluator) blocking {
	h := blocking{rule: rule.SyncCalls, what: "GPU idle after synchronizing calls", next: []finding.Step{
		finding.Advise("remove-synchronization"), finding.Advise("wait-for-an-event"), finding.Advise("wait-on-the-gpu"),
	}}
	longest := map[string]summary.Sync{}
	var waits, events summary.Sync // only Calls, HostNS and LostNS are used
	for _, r := range c.Syncs {
		waits.Calls, waits.HostNS, waits.LostNS = waits.Calls+r.Calls, waits.HostNS+r.HostNS,
			waits.LostNS+r.LostNS
		events.Calls, events.HostNS, events.LostNS = events.Calls+r.EventCalls,
			events.HostNS+r.EventHostNS, events.LostNS+r.EventLostNS
		if r.MaxNS > longest[r.Longest].MaxNS {
			longest[r.Longest] = r
		}
	}
	h.host, h.lost = waits.HostNS, waits.LostNS
	// Programs wait for events to limit how far the CPU is ahead, which is no problem unless they
	// do it for each operation.
	work, ofEvents := operations(c), events.Calls > waits.Calls
	each := work >= leastOperations && waits.Calls+events.Calls >= work/2
	if each {
		h.host, h.lost = h.host+events.HostNS, h.lost+events.LostNS
		h.what = "GPU idle as the CPU waits for each operation"
		h.cause = fmt.Sprintf("%s for %s", label.Plural(waits.Calls+events.Calls, "wait"),
			label.Plural(work, "GPU operation"))
		h.next = []finding.Step{finding.Advise("remove-synchronization"), finding.Advise("wait-less-often").For("each-operation"),
			finding.Advise("wait-on-the-gpu")}
		if ofEvents {
			h.next[0], h.next[1] = h.next[1], h.next[0]
		}
	}
	index := map[string]int{}
	for _, r := range c.Calls {
		if r.Kind != "sync" || strings.Contains(r.Name, "Event") && !(each && ofEvents) {
			continue
		}
		i, ok := index[r.Name]
		if !ok {
			i = len(h.rows)
			index[r.Name] = i
			h.rows = append(h.rows, blockingRow{call: r.Name})
			if s, ok := longest[r.Name]; ok {
				h.rows[i].longest, h.rows[i].at, h.rows[i].where = s.MaxNS, s.MaxStartNS, c.Choice(s.Input, s.Rank, s.Device)
				h.rows[i].place = finding.PlaceOf(s.Input, s.Rank, s.Device)
			}
		}
		h.rows[i].runs, h.rows[i].host = h.rows[i].runs+r.Count, h.rows[i].host+r.TotalNS
	}
	return h.sorted()
}

// leastOperations is the least number of GPU operations that show that the CPU waits for each one.
const leastOperations = 20

// operations returns the number of GPU operations.
func operations(c *Evaluator) (n int64) {
	for i := range c.Devices {
		n += c.Devices[i].Events
	}
	return n
}

// synchronousCopies adds up the copies whose call waits for them. Copies within a GPU do not block
// the CPU, and neither do small copies to a GPU, which the runtime buffers.
func synchronousCopies(c *Evaluator) blocking {
	return copiesBy(c, blocking{rule: rule.SyncCopies, what: "CPU blocked in synchronous copies", next: []finding.Step{
		finding.Advise("copy-asynchronously"), finding.Advise("wait-where-it-is-used"),
	}}, func(r *summary.CopyCall, d advice.Direction) bool {
		fromHost := d == advice.FromPageable || d == advice.FromPinned || d == advice.FromHost
		return isCopyCall(r.Call) && !isAsync(r.Call) && d != advice.OnDevice && (r.Large || !fromHost)
	})
}

// pageableCopies adds up the asynchronous copies that block because the CPU memory is pageable.
func pageableCopies(c *Evaluator) blocking {
	h := copiesBy(c, blocking{rule: rule.PageableCopies, what: "CPU blocked in pageable copies", next: []finding.Step{
		finding.Advise("pin-for-async"), finding.Advise("reuse-pinned"),
	}}, func(r *summary.CopyCall, _ advice.Direction) bool {
		return isCopyCall(r.Call) && isAsync(r.Call) && strings.Contains(r.Name, "Pageable")
	})
	if len(h.rows) > 0 && h.rows[0].bytes < h.rows[0].runs*advice.LargeCopy &&
		advice.DirectionOf(summary.Copy{Name: h.rows[0].copy}) == advice.ToHost {
		// Avoiding the copy of a result saves more than a faster copy. Large tensors are offloaded
		// or saved on purpose.
		h.next = append([]finding.Step{finding.Advise("read-back-less")}, h.next...)
	}
	return h
}

// synchronousMemsets adds up the memsets of CPU memory whose call waits.
func synchronousMemsets(c *Evaluator) blocking {
	return copiesBy(c, blocking{rule: rule.SyncMemsets, what: "CPU blocked in synchronous memsets", next: []finding.Step{
		finding.Advise("fill-asynchronously"), finding.Advise("fill-on-the-host"),
	}}, func(r *summary.CopyCall, _ advice.Direction) bool {
		hosts := strings.Contains(r.Name, "Pinned") || strings.Contains(r.Name, "Managed") &&
			!strings.Contains(r.Name, "Static")
		return r.Class == summary.ClassMemset.String() && hosts && strings.Contains(r.Call, "Memset") && !isAsync(r.Call)
	})
}

func isCopyCall(call string) bool { return strings.Contains(call, "Memcpy") }

func isAsync(call string) bool { return strings.Contains(strings.ToLower(call), "async") }

// copiesBy adds to h the copies that accept selects.
func copiesBy(c *Evaluator, h blocking, accept func(*summary.CopyCall, advice.Direction) bool) blocking {
	type key struct{ call, copy string }
	index := map[key]int{}
	for i := range c.CopyCalls {
		r := &c.CopyCalls[i]
		if !accept(r, advice.DirectionOf(summary.Copy{Name: r.Name, Class: r.Class})) {
			continue
		}
		h.host, h.lost, h.device = h.host+r.HostNS, h.lost+r.LostNS,
			h.device+r.TotalNS
		k := key{r.Call, r.Name}
		at, ok := index[k]
		if !ok {
			at = len(h.rows)
			index[k] = at
			h.rows = append(h.rows, blockingRow{call: r.Call, copy: r.Name})
		}
		row := &h.rows[at]
		row.runs, row.host, row.device = row.runs+r.Count, row.host+r.HostNS,
			row.device+r.TotalNS
		if r.Bytes != nil {
			row.bytes += *r.Bytes
		}
		if r.MaxNS > row.longest {
			row.longest, row.at, row.where = r.MaxNS, r.MaxStartNS, c.Choice(r.Input, r.Rank, r.Device)
			row.place = finding.PlaceOf(r.Input, r.Rank, r.Device)
		}
	}
	return h.sorted()
}

func (h blocking) sorted() blocking {
	slices.SortFunc(h.rows, func(a, b blockingRow) int {
		return cmp.Or(cmp.Compare(b.host, a.host), cmp.Compare(a.call, b.call), cmp.Compare(a.copy, b.copy))
	})
	return h
}

// mostBlocking is how many kinds of calls the evidence lists.
const mostBlocking = 3

func (h blocking) evidence() (out []string) {
	if h.cause != "" {
		out = append(out, h.cause)
	}
	for i, r := range h.rows {
		if i == mostBlocking {
			break
		}
		line := fmt.Sprintf("%s: %s, %s CPU time", r.call, label.Plural(r.runs, "call"), unit.Duration(r.host))
		longest := "longest"
		if r.copy != "" {
			longest = "longest copy"
			line = fmt.Sprintf("%s by %s: %s, %s CPU time, %s GPU time", r.copy, r.call,
				label.Plural(r.runs, "call"), unit.Duration(r.host), unit.Duration(r.device))
			if r.bytes > 0 {
				line += ", " + unit.Bytes(r.bytes)
			}
		}
		if r.longest > 0 {
			line += fmt.Sprintf("; %s %s at %s%s", longest, unit.Duration(r.longest), unit.Timestamp(r.at), r.where)
		}
		out = append(out, line)
	}
	return out
}

// places returns the longest calls as places.
func (h blocking) places() (out []finding.Place) {
	for i, r := range h.rows {
		if i == finding.MostPlaces {
			break
		}
		if r.longest > 0 {
			p := r.place.At(r.at, r.longest)
			p.Call, p.Copy = r.call, r.copy
			out = append(out, p)
		}
	}
	return out
}

// savings returns how much of the idle time could be saved without these calls.
func (h blocking) savings(idle int64) string {
	return fmt.Sprintf("without these calls: up to %s less idle time (%s)", unit.Share(h.lost, idle),
		unit.DurationOf(h.lost, idle))
}

// blockingCall judges one kind of calls that block the CPU. They explain the exposed copies if
// theirs are at least a quarter of all copies. They explain the idle time that follows them if that
// reaches the least share of the window, because waiting for a busy GPU costs nothing.
func (c *Evaluator) blockingCall(kind int) []tree.Reading {
	h := c.calls[kind]
	limits, window := c.Limits[h.rule], c.Total.Window()
	h.host -= min(h.host, c.Unrecorded) // leaves out waits for work that was not recorded
	f, limit, ok := rule.Measured(limits, h.host, window)
	if !ok {
		return nil
	}
	share := h.what + ": " + c.OfWindow(h.host)
	if h.rule == rule.SyncCalls {
		// While the GPU works, such a wait costs nothing: what counts is the idle time that follows.
		level := f.Level
		idle := min(h.host, h.lost)
		limits.Warn, limit = limits.MinShare, limits.MinShare
		f, _, _ = rule.Measured(limits, idle, window)
		f.Level, share = level, h.what+": "+c.OfWindow(idle)
	}
	f.Title = share + rule.Over(limit)
	f.Cause, f.Evidence, f.Next, f.Where = h.cause, h.evidence(), h.next, h.places()
	if ns := loading(c); f.Cause == "" && h.rule == rule.SyncCalls && ns >= h.lost-ns && ns > 0 {
		f.Cause = fmt.Sprintf("after these calls, the CPU loads data while the GPU is idle: %s of %s of idle time",
			unit.Duration(ns), unit.Duration(c.Total.Idle()))
		f.Evidence = append(f.Evidence, f.Cause)
	}
	c.GainOfWindow(&f, h.lost)
	r := tree.Reading{Finding: f, Reached: true, Explains: map[string]int64{}, Advice: h.next}
	if h.device > 0 && h.device >= copyWork(c)/4 {
		// It is unknown which copies were exposed, so the exposed time is divided in proportion to
		// copy time.
		r.Explains[rule.ExposedCopies] = portion(c.Total.ExposedCopy(), h.device, copyWork(c))
		// The advice of these calls on pinned memory replaces that on copies.
		r.Drops = []string{"copy-pinned", "copy-pinned-not-pageable"}
	}
	if lost := h.lost - min(h.lost, c.remainingWork(kind)); float64(lost) >= limits.MinShare*float64(window) {
		r.Explains[rule.GPUIdle] = h.lost
		savings := h.savings(c.Total.Idle())
		r.Replacing = append([]string{savings}, h.evidence()...)
		share += "; " + savings
	}
	r.Below = append([]string{share}, h.evidence()...)
	if len(r.Explains) == 0 {
		return nil
	}
	return []tree.Reading{r}
}

// remainingWork returns the idle time in ns that named work of the CPU, its waits for others and the
// launch of large graphs would cause even without the preceding wait for the GPU. It counts below the
// limit of its rule as well.
func (c *Evaluator) remainingWork(kind int) (ns int64) {
	if c.calls[kind].rule != rule.SyncCalls {
		return 0 // a blocking copy can be replaced together with its wait
	}
	for _, w := range works(c) {
		ns += w.ns
	}
	graphs, _ := idleWithCause(c, isLongGraphLaunch)
	return ns + graphs
}

// isLongGraphLaunch reports whether the GPU waits for the launch of a graph for as long as for work of
// the CPU: the call takes time for each kernel of the graph.
func isLongGraphLaunch(r summary.Idle) bool {
	return r.Owner == summary.OwnerLaunch && advice.LaunchesGraph(r.Name) && r.Count > 0 && r.NS/r.Count >= summary.ShortGapNS
}

// loading returns the idle time in ns during which the CPU loads data.
func loading(c *Evaluator) (ns int64) {
	ns, _ = idleWithCause(c, func(r summary.Idle) bool { return r.State == summary.StateData })
	return ns
}

// portion returns ns * num / den, at most ns. The product needs 128 bits.
func portion(ns, num, den int64) int64 {
	if num >= den {
		return ns
	}
	high, low := bits.Mul64(uint64(max(0, ns)), uint64(max(0, num)))
	out, _ := bits.Div64(high, low, uint64(den))
	return int64(out)
}

// copyWork returns the total ns of all copies and memsets.
func copyWork(c *Evaluator) (ns int64) {
	for _, k := range c.Copies {
		ns += k.TotalNS
	}
	return ns
}
