package calls

import (
	"cmp"
	"slices"
	"strings"

	"assay/analyze/gpu"
	"assay/internal/interval"
	"assay/summary"
	"assay/trace"
)

// A wait is a call that returned only when GPU work was done.
type wait struct {
	*trace.Call
	link  int32 // link of a copy or memset; -1 for a synchronization
	event bool  // the call waits for an event
}

func (w wait) end() int64 { return w.Start + w.Dur }

// ofEvent reports whether a synchronization waits for an event. An event is a point in a stream,
// so work may be left in the queue.
func ofEvent(name string) bool { return strings.Contains(name, "Event") }

// launchers returns the threads that launch the work of a device.
func (c *Calls) launchers(d *gpu.Device) (out []trace.TrackID) {
	seen, last := make(map[trace.TrackID]bool), int32(-1)
	for _, w := range d.Work {
		i := c.links.Of[w.Number]
		if i < 0 || i == last || !c.links.HasCall(i) {
			continue
		}
		last = i
		if track := c.links.List[i].Track; !seen[track] {
			seen[track] = true
			out = append(out, track)
		}
	}
	slices.Sort(out)
	return out
}

// waitsOf returns the waits of a device's launching threads that overlap its window, by end.
func (c *Calls) waitsOf(device int) (out []wait) {
	window := c.tl.Devices[device].Window
	var q queue
	for _, track := range c.tracks[device] {
		for _, w := range c.byTrack[track] {
			if w.Start >= window.End || w.end() <= window.Start {
				continue
			}
			if w.event && q == nil {
				q = c.queueOf(c.tl.Devices[device])
			}
			if !w.event || q.emptied(w) {
				out = append(out, w)
			}
		}
	}
	slices.SortFunc(out, func(a, b wait) int {
		return cmp.Or(cmp.Compare(a.end(), b.end()), cmp.Compare(a.Start, b.Start), cmp.Compare(a.Track, b.Track),
			cmp.Compare(a.link, b.link))
	})
	return out
}

// A queue has the launches of a device by time, each with the end of all work launched until then.
type queue []struct{ at, done int64 }

func (c *Calls) queueOf(d *gpu.Device) queue {
	q := make(queue, 0, len(d.Work))
	for _, w := range d.Work {
		if i := c.links.Of[w.Number]; i >= 0 {
			q = append(q, struct{ at, done int64 }{c.links.Start(i), w.End()})
		}
	}
	slices.SortFunc(q, func(a, b struct{ at, done int64 }) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.done, b.done))
	})
	for i := 1; i < len(q); i++ {
		q[i].done = max(q[i].done, q[i-1].done)
	}
	return q
}

// emptied reports whether the device ran out of work during a wait. A wait for an event of earlier
// work, such as the last step, leaves work in the queue.
func (q queue) emptied(c wait) bool {
	i, _ := slices.BinarySearchFunc(q, c.Start,
		func(l struct{ at, done int64 }, t int64) int { return cmp.Compare(l.at, t) })
	return i > 0 && q[i-1].done > c.Start && q[i-1].done <= c.end()
}

// measure adds the row of synchronization for a device with the given waits and returns its index,
// or -1 if none of them is a synchronization.
func (c *Calls) measure(device int, waits []wait) int {
	d := c.tl.Devices[device]
	out := summary.Sync{Device: d.Ordinal}
	var held, events []interval.Span
	only := !slices.ContainsFunc(waits, func(w wait) bool { return w.link < 0 && !w.event })
	for _, w := range waits {
		if w.link >= 0 {
			continue
		}
		calls, spans := &out.Calls, &held
		if w.event {
			calls, spans = &out.EventCalls, &events
		}
		if c.t.Window.Starts(w.Start) {
			*calls++
		}
		if *spans = append(*spans, interval.Span{Start: w.Start, End: w.end()}); w.event && !only {
			continue
		}
		if w.Dur > out.MaxNS || w.Dur == out.MaxNS && (out.Longest == "" || w.Start < out.MaxStartNS) {
			out.Longest, out.MaxNS, out.MaxStartNS = c.t.Name(w.Name), w.Dur, w.Start
		}
	}
	if len(held)+len(events) == 0 {
		return -1
	}
	out.HostNS = interval.Of(held...).Clip(d.Window).Len()
	out.EventHostNS = interval.Of(events...).Clip(d.Window).Len()
	c.syncs = append(c.syncs, out)
	return len(c.syncs) - 1
}

// Waits measures the waits for one device. It returns a function that must be called with each
// gap of the device, in order of time.
//
// A call that waits delays the host by its duration. Without the wait, everything after it would
// have started earlier by that time, and the gaps in which the device waited for the host would be
// shorter by the same total. So these gaps are charged to the longest call before them, until its
// time is used up. While another device of the process works, nothing is lost: without the wait, that
// work would still take its time. The times of several calls are not added, because no program runs ahead of its
// device without limit.
func (c *Calls) Waits(device int) func(Gap) {
	window := c.tl.Devices[device].Window
	waits := c.waitsOf(device)
	row := c.measure(device, waits)
	at, charged, left := 0, wait{}, int64(0)
	return func(g Gap) {
		for ; at < len(waits) && waits[at].end() < g.End; at++ {
			held := interval.Span{Start: max(waits[at].Start, window.Start), End: waits[at].end()}.Len()
			if held >= left {
				charged, left = waits[at], held
			}
		}
		if left == 0 || g.Link < 0 || !c.links.HasCall(g.Link) || c.links.Start(g.Link) <= g.Start {
			return
		}
		lost := min(left, c.idleOf(device, g))
		left -= lost
		switch {
		case charged.link >= 0:
			c.copies[charged.link] = summary.Plus(c.copies[charged.link], lost)
		case charged.event:
			c.syncs[row].EventLostNS += lost
		default:
			c.syncs[row].LostNS += lost
		}
	}
}

// SyncRows returns, for each device, how long the host was blocked in synchronization. The function
// of Waits must have seen all gaps.
func (c *Calls) SyncRows(rank int) []summary.Sync {
	for i := range c.syncs {
		c.syncs[i].Rank = rank
	}
	return c.syncs
}
