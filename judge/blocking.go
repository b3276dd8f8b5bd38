package judge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/summary"
	"assay/unit"
)

// A blocking is a kind of call that blocks the CPU: for how long, and how much idle
// time that costs at most.
type blocking struct {
	rule, what string
	host, lost int64 // ns, summed over GPUs
	device     int64 // ns of the copies on the GPU
	rows       []blockingRow
	next       []Step
}

// A blockingRow is one line of evidence: calls of one name, for one kind of copy.
type blockingRow struct {
	call, copy  string
	runs        int64
	host        int64
	device      int64
	bytes       int64 // 0 if not known
	longest, at int64 // the longest call and its start
	where       string
	place       Place
}

// blockings returns the kinds of calls that block the CPU, in the order of their rules.
func (c *evaluator) blockings() []blocking {
	return []blocking{c.synchronizing(), c.synchronousCopies(), c.pageableCopies(), c.synchronousMemsets()}
}

// synchronizing sums up the calls that wait for all work of a stream or device.
func (c *evaluator) synchronizing() blocking {
	h := blocking{rule: RuleSyncCalls, what: "CPU blocked in synchronizing calls", next: []Step{
		advise("remove-synchronization"), advise("wait-for-an-event"), advise("wait-on-the-gpu"),
	}}
	longest := map[string]summary.Sync{}
	for _, r := range c.Syncs {
		h.host, h.lost = summary.Plus(h.host, r.HostNS), summary.Plus(h.lost, r.LostNS)
		if r.MaxNS > longest[r.Longest].MaxNS {
			longest[r.Longest] = r
		}
	}
	index := map[string]int{}
	for _, r := range c.Calls {
		if r.Kind != "sync" || strings.Contains(r.Name, "Event") {
			continue
		}
		i, ok := index[r.Name]
		if !ok {
			i = len(h.rows)
			index[r.Name] = i
			h.rows = append(h.rows, blockingRow{call: r.Name})
			if s, ok := longest[r.Name]; ok {
				h.rows[i].longest, h.rows[i].at, h.rows[i].where = s.MaxNS, s.MaxStartNS, c.choice(s.Input, s.Rank, s.Device)
				h.rows[i].place = placeOf(s.Input, s.Rank, s.Device)
			}
		}
		h.rows[i].runs, h.rows[i].host = summary.Plus(h.rows[i].runs, r.Count), summary.Plus(h.rows[i].host, r.TotalNS)
	}
	return h.sorted()
}

// synchronousCopies sums up the copies whose call waits for them. Copies within a GPU
// do not block the CPU, nor do small ones to a GPU, which the runtime buffers.
func (c *evaluator) synchronousCopies() blocking {
	return c.copiesBy(blocking{rule: RuleSyncCopies, what: "CPU blocked in synchronous copies", next: []Step{
		advise("copy-asynchronously"), advise("wait-where-it-is-used"),
	}}, func(r *summary.CopyCall, d direction) bool {
		fromHost := d == fromPageable || d == fromPinned || d == fromHost
		return isCopyCall(r.Call) && !isAsync(r.Call) && d != onDevice && (r.Large || !fromHost)
	})
}

// pageableCopies sums up the asynchronous copies that block because the CPU memory is
// pageable.
func (c *evaluator) pageableCopies() blocking {
	h := c.copiesBy(blocking{rule: RulePageableCopies, what: "CPU blocked in pageable copies", next: []Step{
		advise("pin-for-async"), advise("reuse-pinned"),
	}}, func(r *summary.CopyCall, _ direction) bool {
		return isCopyCall(r.Call) && isAsync(r.Call) && strings.Contains(r.Name, "Pageable")
	})
	if len(h.rows) > 0 && directionOf(summary.Copy{Name: h.rows[0].copy}) == toHost {
		// Avoiding the copy saves more than a faster copy.
		h.next = append([]Step{advise("read-back-less")}, h.next...)
	}
	return h
}

// synchronousMemsets sums up the memsets of CPU memory whose call waits.
func (c *evaluator) synchronousMemsets() blocking {
	return c.copiesBy(blocking{rule: RuleSyncMemsets, what: "CPU blocked in synchronous memsets", next: []Step{
		advise("fill-asynchronously"), advise("fill-on-the-host"),
	}}, func(r *summary.CopyCall, _ direction) bool {
		hosts := strings.Contains(r.Name, "Pinned") || strings.Contains(r.Name, "Managed") && !strings.Contains(r.Name, "Static")
		return r.Class == summary.ClassMemset.String() && hosts && strings.Contains(r.Call, "Memset") && !isAsync(r.Call)
	})
}

func isCopyCall(call string) bool { return strings.Contains(call, "Memcpy") }

func isAsync(call string) bool { return strings.Contains(strings.ToLower(call), "async") }

// copiesBy adds to h the copies that of accepts.
func (c *evaluator) copiesBy(h blocking, of func(*summary.CopyCall, direction) bool) blocking {
	type key struct{ call, copy string }
	index := map[key]int{}
	for i := range c.CopyCalls {
		r := &c.CopyCalls[i]
		if !of(r, directionOf(summary.Copy{Name: r.Name, Class: r.Class})) {
			continue
		}
		h.host, h.lost, h.device = summary.Plus(h.host, r.HostNS), summary.Plus(h.lost, r.LostNS), summary.Plus(h.device, r.TotalNS)
		k := key{r.Call, r.Name}
		at, ok := index[k]
		if !ok {
			at = len(h.rows)
			index[k] = at
			h.rows = append(h.rows, blockingRow{call: r.Call, copy: r.Name})
		}
		row := &h.rows[at]
		row.runs, row.host, row.device = summary.Plus(row.runs, r.Count), summary.Plus(row.host, r.HostNS), summary.Plus(row.device, r.TotalNS)
		if r.Bytes != nil {
			row.bytes = summary.Plus(row.bytes, *r.Bytes)
		}
		if r.MaxNS > row.longest {
			row.longest, row.at, row.where = r.MaxNS, r.MaxStartNS, c.choice(r.Input, r.Rank, r.Device)
			row.place = placeOf(r.Input, r.Rank, r.Device)
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

// choice returns " on " and the name of a GPU, or "" if there is only one.
func (c *evaluator) choice(input, rank int, device int64) string {
	if len(c.Devices) < 2 {
		return ""
	}
	return " on " + c.device(input, rank, device)
}

// mostBlocking is how many kinds of calls the evidence lists.
const mostBlocking = 3

func (h blocking) evidence() (out []string) {
	for i, r := range h.rows {
		if i == mostBlocking {
			break
		}
		line := fmt.Sprintf("%s: %s, %s CPU time", r.call, label.Plural(r.runs, "call"), unit.Duration(r.host))
		const longest = "longest"
		if r.copy != "" {
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

// places returns the places of the longest calls.
func (h blocking) places() (out []Place) {
	for i, r := range h.rows {
		if i == mostPlaces {
			break
		}
		if r.longest > 0 {
			p := r.place.at(r.at, r.longest)
			p.Call, p.Copy = r.call, r.copy
			out = append(out, p)
		}
	}
	return out
}

// savings returns how much of the idle time could be saved without these calls.
func (h blocking) savings(idle int64) string {
	return fmt.Sprintf("without these calls: up to %s less idle time (%s)", unit.Share(h.lost, idle), fraction(h.lost, idle))
}

// blockingCalls judges the calls that block the CPU. If exposed copies exceed their
// limit, copies that are at least a quarter of them are reported there. All other
// calls must have cost idle time. If idle time exceeds its limit, they are reported
// there, because they are part of its cause.
func (c *evaluator) blockingCalls(judged []Finding) []Finding {
	for _, h := range c.calls {
		rule, window := c.rules[h.rule], c.total.Window()
		f, limit, ok := measured(rule, h.host, window)
		if !ok {
			continue
		}
		share := h.what + ": " + c.ofWindow(h.host)
		costs := float64(h.lost) >= rule.MinShare*float64(window)
		copies, idle := findingOf(judged, RuleExposedCopies), findingOf(judged, RuleGPUIdle)
		switch {
		case copies != nil && h.device > 0 && h.device >= c.copyWork()/4:
			if costs {
				share += "; " + h.savings(c.total.Idle())
			}
			// The advice of these calls on pinned memory replaces that on copies.
			copies.Next = slices.DeleteFunc(copies.Next, func(s Step) bool { return s.ID == "copy-pinned" || s.ID == "copy-pinned-not-pageable" })
			copies.include(append([]string{share}, h.evidence()...), h.next, h.device >= c.copyWork()/2)
		case !costs:
			// The GPUs were busy during the calls.
		case idle != nil && idle.Rule == RuleOpaqueGraphs:
			// It is not known whether the GPU was idle during the calls.
		case idle != nil && idle.Rule == h.rule: // its title has the share
			idle.include(append([]string{h.savings(c.total.Idle())}, h.evidence()...), h.next, true)
		case idle != nil:
			// The cause that the finding names comes before what the CPU waited for.
			idle.include(append([]string{share + "; " + h.savings(c.total.Idle())}, h.evidence()...), h.next, idle.InPlaceOf == "" && h.lost >= c.total.Idle()/2)
		default:
			f.Title = share + over(limit)
			f.Evidence, f.Next, f.Where = h.evidence(), h.next, h.places()
			f.gain(h.lost, window, c.windowWhole())
			judged = append(judged, f)
		}
	}
	return judged
}

// copyWork returns the sum of the durations of all copies and memsets.
func (c *evaluator) copyWork() (ns int64) {
	for _, k := range c.Copies {
		ns = summary.Plus(ns, k.TotalNS)
	}
	return ns
}

// findingOf returns the finding of a rule, or the one of a cause that replaces it, or
// nil.
func findingOf(list []Finding, rule string) *Finding {
	i := slices.IndexFunc(list, func(f Finding) bool { return f.Rule == rule || f.InPlaceOf == rule })
	if i < 0 {
		return nil
	}
	return &list[i]
}

// include adds evidence and advice of another rule to f, before its own if that rule
// explains most of it.
func (f *Finding) include(evidence []string, next []Step, most bool) {
	if most {
		f.Evidence, f.Next = slices.Concat(evidence, f.Evidence), joinSteps(next, f.Next)
	} else {
		f.Evidence, f.Next = slices.Concat(f.Evidence, evidence), joinSteps(f.Next, next)
	}
}
