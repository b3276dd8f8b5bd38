package judge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/summary"
	"assay/unit"
)

// A holding is a kind of call that holds the host back: for how long, and how much
// idle time that cost at most.
type holding struct {
	rule, what string
	host, lost int64 // ns, of all devices
	device     int64 // ns of the copies on the device
	rows       []heldRow
	next       []Step
}

// A heldRow is one line of evidence: calls of one name, for one kind of copy.
type heldRow struct {
	call, copy  string
	runs        int64
	host        int64
	device      int64
	bytes       int64 // 0 where not known
	longest, at int64 // when it began
	where       string
	place       Place
}

// holdings are the kinds of calls that hold the host back, in the order of their
// rules.
func (c *court) holdings() []holding {
	return []holding{c.synchronizing(), c.synchronousCopies(), c.pageableCopies(), c.synchronousMemsets()}
}

// synchronizing sums up the calls that wait for all work of a stream or device.
func (c *court) synchronizing() holding {
	h := holding{rule: RuleSyncCalls, what: "calls that synchronize hold the host", next: []Step{
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
			h.rows = append(h.rows, heldRow{call: r.Name})
			if s, ok := longest[r.Name]; ok {
				h.rows[i].longest, h.rows[i].at, h.rows[i].where = s.MaxNS, s.MaxStartNS, c.choice(s.Input, s.Rank, s.Device)
				h.rows[i].place = placeOf(s.Input, s.Rank, s.Device)
			}
		}
		h.rows[i].runs, h.rows[i].host = summary.Plus(h.rows[i].runs, r.Count), summary.Plus(h.rows[i].host, r.TotalNS)
	}
	return h.sorted()
}

// synchronousCopies sums up the copies whose call waits for them by its nature.
// Those within a device do not hold the host, nor do small ones to it, which the
// runtime takes from the host's memory at once.
func (c *court) synchronousCopies() holding {
	return c.copiesBy(holding{rule: RuleSyncCopies, what: "synchronous copies hold the host", next: []Step{
		advise("copy-asynchronously"), advise("wait-where-it-is-used"),
	}}, func(r *summary.CopyCall, d direction) bool {
		fromHost := d == fromPageable || d == fromPinned || d == fromHost
		return isCopyCall(r.Call) && !isAsync(r.Call) && d != onDevice && (r.Large || !fromHost)
	})
}

// pageableCopies sums up the copies that were meant to be asynchronous and are
// not, for the host's memory is pageable.
func (c *court) pageableCopies() holding {
	h := c.copiesBy(holding{rule: RulePageableCopies, what: "asynchronous copies of pageable memory hold the host", next: []Step{
		advise("pin-for-async"), advise("reuse-pinned"),
	}}, func(r *summary.CopyCall, _ direction) bool {
		return isCopyCall(r.Call) && isAsync(r.Call) && strings.Contains(r.Name, "Pageable")
	})
	if len(h.rows) > 0 && directionOf(summary.Copy{Name: h.rows[0].copy}) == toHost {
		// Not to copy is better than to copy fast.
		h.next = append([]Step{advise("read-back-less")}, h.next...)
	}
	return h
}

// synchronousMemsets sums up the memsets of memory of the host whose call waits.
func (c *court) synchronousMemsets() holding {
	return c.copiesBy(holding{rule: RuleSyncMemsets, what: "synchronous memsets of pinned or managed memory hold the host", next: []Step{
		advise("fill-asynchronously"), advise("fill-on-the-host"),
	}}, func(r *summary.CopyCall, _ direction) bool {
		hosts := strings.Contains(r.Name, "Pinned") || strings.Contains(r.Name, "Managed") && !strings.Contains(r.Name, "Static")
		return r.Class == summary.ClassMemset.String() && hosts && strings.Contains(r.Call, "Memset") && !isAsync(r.Call)
	})
}

func isCopyCall(call string) bool { return strings.Contains(call, "Memcpy") }

func isAsync(call string) bool { return strings.Contains(strings.ToLower(call), "async") }

// copiesBy adds to h the copies that are asked for.
func (c *court) copiesBy(h holding, of func(*summary.CopyCall, direction) bool) holding {
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
			h.rows = append(h.rows, heldRow{call: r.Call, copy: r.Name})
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

func (h holding) sorted() holding {
	slices.SortFunc(h.rows, func(a, b heldRow) int {
		return cmp.Or(cmp.Compare(b.host, a.host), cmp.Compare(a.call, b.call), cmp.Compare(a.copy, b.copy))
	})
	return h
}

// choice names a device where there are several.
func (c *court) choice(input, rank int, device int64) string {
	if len(c.Devices) < 2 {
		return ""
	}
	return " on " + c.device(input, rank, device)
}

// mostHeld is how many kinds of calls are told one by one.
const mostHeld = 3

func (h holding) evidence() (out []string) {
	for i, r := range h.rows {
		if i == mostHeld {
			break
		}
		line := fmt.Sprintf("%s: %s, %s of host time in all", r.call, plural(r.runs, "call"), unit.Duration(r.host))
		longest := "the longest call"
		if r.copy != "" {
			line = fmt.Sprintf("%s by %s: %s, %s of host time and %s on the device", r.copy, r.call,
				plural(r.runs, "time"), unit.Duration(r.host), unit.Duration(r.device))
			if r.bytes > 0 {
				line += ", " + unit.Bytes(r.bytes)
			}
			longest = "the longest"
		}
		if r.longest > 0 {
			line += fmt.Sprintf("; %s is %s at %s of the trace%s", longest, unit.Duration(r.longest), unit.Timestamp(r.at), r.where)
		}
		out = append(out, line)
	}
	return out
}

// places says where the longest calls are.
func (h holding) places() (out []Place) {
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

// ofIdle says how much of the idle time not waiting could save.
func (h holding) ofIdle(idle int64) string {
	return fmt.Sprintf("; not waiting could save up to %s of the idle time (%s)", unit.Share(h.lost, idle), fraction(h.lost, idle))
}

// held judges the calls that hold the host back. Copies are told with exposed
// copies where those are over their limit and they are a quarter of them or more.
// All else must have cost idle time, and is told with that where it is over its
// limit: one finding, with what it comes from.
func (c *court) held(judged []Finding) []Finding {
	for _, h := range c.calls {
		rule, window := c.rules[h.rule], c.total.Window()
		f, limit, ok := measured(rule, h.host, window)
		if !ok {
			continue
		}
		share := fmt.Sprintf("%s for %s of %s (%s)", h.what, unit.Share(h.host, window), c.windowName(), fraction(h.host, window))
		costs := float64(h.lost) >= rule.MinShare*float64(window)
		copies, idle := findingOf(judged, RuleExposedCopies), findingOf(judged, RuleGPUIdle)
		switch {
		case copies != nil && h.device > 0 && h.device >= c.copyWork()/4:
			if costs {
				share += h.ofIdle(c.total.Idle())
			}
			// What they say of pinned memory the advice on copies says too.
			copies.Next = slices.DeleteFunc(copies.Next, func(s Step) bool { return s.ID == "copy-pinned" || s.ID == "copy-pinned-not-pageable" })
			copies.tell(append([]string{share}, h.evidence()...), h.next, h.device >= c.copyWork()/2)
		case !costs:
			// The devices were kept busy meanwhile.
		case idle != nil && idle.Rule == RuleOpaqueGraphs:
			// Nobody knows whether the device was idle while the host waited.
		case idle != nil && idle.Rule == h.rule: // its title has the share
			idle.tell(append([]string{strings.TrimPrefix(h.ofIdle(c.total.Idle()), "; ")}, h.evidence()...), h.next, true)
		case idle != nil:
			// What the finding says that the device waits for comes before what the
			// host waited for earlier.
			idle.tell(append([]string{share + h.ofIdle(c.total.Idle())}, h.evidence()...), h.next, idle.InPlaceOf == "" && h.lost >= c.total.Idle()/2)
		default:
			f.Title = fmt.Sprintf("%s, %s; not waiting could save up to %s of it (%s)", share, reaches(f, limit), unit.Share(h.lost, window), unit.Duration(h.lost))
			f.Evidence, f.Next, f.Where = h.evidence(), h.next, h.places()
			f.gain(h.lost, window, c.windowName())
			judged = append(judged, f)
		}
	}
	return judged
}

// copyWork returns the sum of the durations of all copies and memsets.
func (c *court) copyWork() (ns int64) {
	for _, k := range c.Copies {
		ns = summary.Plus(ns, k.TotalNS)
	}
	return ns
}

// findingOf returns the finding of a rule, or of what its part of the window comes
// from, or nil.
func findingOf(list []Finding, rule string) *Finding {
	i := slices.IndexFunc(list, func(f Finding) bool { return f.Rule == rule || f.InPlaceOf == rule })
	if i < 0 {
		return nil
	}
	return &list[i]
}

// tell adds evidence and advice that is of another rule to f, before its own if
// it explains most of it.
func (f *Finding) tell(evidence []string, next []Step, most bool) {
	if most {
		f.Evidence, f.Next = slices.Concat(evidence, f.Evidence), joinSteps(next, f.Next)
	} else {
		f.Evidence, f.Next = slices.Concat(f.Evidence, evidence), joinSteps(f.Next, next)
	}
}
