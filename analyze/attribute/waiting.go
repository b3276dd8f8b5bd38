package attribute

import (
	"cmp"
	"slices"
	"strings"

	"assay/analyze/gpu"
	"assay/analyze/limits"
	"assay/interval"
	"assay/summary"
	"assay/trace"
)

// A wait is a call that did not return before what it waited for was done.
type wait struct {
	*trace.Call
	link  int32 // of a call that copied or filled memory; -1 of one that synchronized
	event bool  // it waits for an event
}

func (w wait) end() int64 { return w.Start + w.Dur }

// waiting measures how long the host waited for a device, and the idle time that
// these waits caused.
type waiting struct {
	a       *Attribution
	byTrack map[trace.TrackID][]wait
	tracks  [][]trace.TrackID // by index of the device: the threads that launch its work

	graphs []int32 // links of calls that launch graphs

	syncs  []summary.Sync
	copies map[int32]int64 // by link: what waiting for its copies lost
}

func newWaiting(a *Attribution) *waiting {
	w := &waiting{a: a, byTrack: make(map[trace.TrackID][]wait), tracks: make([][]trace.TrackID, len(a.tl.Devices)), copies: make(map[int32]int64)}
	for ref, c := range a.t.Calls.Refs() {
		switch a.sync.kind(a.t, c.Name) {
		case graphLaunch:
			if i, ok := a.Links.OfCall(ref); ok {
				w.graphs = append(w.graphs, i)
			}
		case "sync":
			w.byTrack[c.Track] = append(w.byTrack[c.Track], wait{c, -1, ofEvent(a.t.Name(c.Name))})
		case "copy", "memset":
			if i, ok := a.Links.OfCall(ref); ok {
				if end, copies := a.Links.List[i].Copied(); copies && end <= c.Start+c.Dur {
					w.byTrack[c.Track] = append(w.byTrack[c.Track], wait{c, i, false})
				}
			}
		}
	}
	for i, d := range a.tl.Devices {
		w.tracks[i] = a.launchers(d)
	}
	return w
}

// ofEvent reports whether a call that synchronizes waits for an event, which is
// a point in a stream, and may not be the end of the work of the stream or device.
func ofEvent(name string) bool { return strings.Contains(name, "Event") }

// launchers returns the threads that launch the work of a device.
func (a *Attribution) launchers(d *gpu.Device) (out []trace.TrackID) {
	seen, last := make(map[trace.TrackID]bool), int32(-1)
	for _, w := range d.Work {
		i := a.Links.Of[w.Number]
		if i < 0 || i == last || !a.Links.HasCall(i) {
			continue
		}
		last = i
		if track := a.Links.List[i].Track; !seen[track] {
			seen[track] = true
			out = append(out, track)
		}
	}
	slices.Sort(out)
	return out
}

// of returns the waits of a device's launching threads that meet its window, by
// their end.
func (w *waiting) of(device int) (out []wait) {
	window := w.a.tl.Devices[device].Window
	var q queue
	for _, track := range w.tracks[device] {
		for _, c := range w.byTrack[track] {
			if c.Start >= window.End || c.end() <= window.Start {
				continue
			}
			if c.event && q == nil {
				q = w.a.queueOf(w.a.tl.Devices[device])
			}
			if !c.event || q.emptied(c) {
				out = append(out, c)
			}
		}
	}
	slices.SortFunc(out, func(a, b wait) int {
		return cmp.Or(cmp.Compare(a.end(), b.end()), cmp.Compare(a.Start, b.Start), cmp.Compare(a.Track, b.Track), cmp.Compare(a.link, b.link))
	})
	return out
}

// A queue has the launches of a device by their time, each with the end of all work that was
// launched until then.
type queue []struct{ at, done int64 }

func (a *Attribution) queueOf(d *gpu.Device) queue {
	q := make(queue, 0, len(d.Work))
	for _, w := range d.Work {
		if i := a.Links.Of[w.Number]; i >= 0 {
			q = append(q, struct{ at, done int64 }{a.Links.Start(i), w.End()})
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

// emptied reports whether the device did the last of its work during a wait. A wait for an
// event of earlier work, such as one of the step before, leaves work in the queue.
func (q queue) emptied(c wait) bool {
	i, _ := slices.BinarySearchFunc(q, c.Start, func(l struct{ at, done int64 }, t int64) int { return cmp.Compare(l.at, t) })
	return i > 0 && q[i-1].done > c.Start && q[i-1].done <= c.end()
}

// measure adds the row of a device whose waits these are, if any of them
// synchronizes, and returns its index.
func (w *waiting) measure(device int, waits []wait) int {
	d := w.a.tl.Devices[device]
	out := summary.Sync{Device: d.Ordinal}
	var held, events []interval.Span
	only := !slices.ContainsFunc(waits, func(c wait) bool { return c.link < 0 && !c.event })
	for _, c := range waits {
		if c.link >= 0 {
			continue
		}
		calls, spans := &out.Calls, &held
		if c.event {
			calls, spans = &out.EventCalls, &events
		}
		if w.a.t.Window.Starts(c.Start) {
			*calls++
		}
		if *spans = append(*spans, interval.Span{Start: c.Start, End: c.end()}); c.event && !only {
			continue
		}
		if c.Dur > out.MaxNS || c.Dur == out.MaxNS && (out.Longest == "" || c.Start < out.MaxStartNS) {
			out.Longest, out.MaxNS, out.MaxStartNS = w.a.t.Name(c.Name), c.Dur, c.Start
		}
	}
	if len(held)+len(events) == 0 {
		return -1
	}
	out.HostNS = interval.Of(held...).Clip(d.Window).Len()
	out.EventHostNS = interval.Of(events...).Clip(d.Window).Len()
	w.syncs = append(w.syncs, out)
	return len(w.syncs) - 1
}

// device measures one device. It returns a function that must be called with each
// gap of the device, in order of time.
//
// A call that waits delays the host by its duration. Without the wait, everything
// after it would have started earlier by that time, and the gaps in which the
// device waited for its host would be shorter by the same total. Such gaps are
// therefore charged to the longest call before them until its time is used up.
// Times of several calls are not added up, because no program runs ahead of its
// device without limit.
func (w *waiting) device(device int) func(gap) {
	window := w.a.tl.Devices[device].Window
	waits := w.of(device)
	row := w.measure(device, waits)
	at, charged, left := 0, wait{}, int64(0)
	return func(g gap) {
		for ; at < len(waits) && waits[at].end() < g.span.End; at++ {
			held := interval.Span{Start: max(waits[at].Start, window.Start), End: waits[at].end()}.Len()
			if held >= left {
				charged, left = waits[at], held
			}
		}
		if left == 0 || g.link < 0 || !w.a.Links.HasCall(g.link) || w.a.Links.Start(g.link) <= g.span.Start {
			return
		}
		lost := min(left, g.span.Len())
		left -= lost
		switch {
		case charged.link >= 0:
			w.copies[charged.link] = summary.Plus(w.copies[charged.link], lost)
		case charged.event:
			w.syncs[row].EventLostNS += lost
		default:
			w.syncs[row].LostNS += lost
		}
	}
}

// syncRows returns how long the host of each device was blocked.
func (w *waiting) syncRows(rank int) []summary.Sync {
	for i := range w.syncs {
		w.syncs[i].Rank = rank
	}
	return w.syncs
}

// A copyKey names one row of the table of copies by the call that asked for them.
type copyKey struct {
	device int64
	name   trace.Sym
	kind   trace.Kind
	call   trace.Sym
	large  bool
	pool   bool // of a row that stands for those that there was no room for
}

// copyCallRows returns the table of copies by call. The table of copies has its events
// too: those that are pooled in both count once.
func (a *Attribution) copyCallRows(rank int, copies []summary.Copy, room *limits.Room) []summary.CopyCall {
	for i := range a.copyCalls {
		a.copyCalls[i].Rank = rank
	}
	counted := int64(0)
	for _, c := range copies {
		if c.Stream == limits.OtherStream {
			counted += c.Count
		}
	}
	room.Join(a.ofCopies, counted)
	return a.copyCalls
}

// copiesByCall sums up copies and memsets by the call that asked for them. A call
// of several copies counts its time in each row that one of them is in.
func copiesByCall(a *Attribution, room *limits.Room) (out []summary.CopyCall) {
	tl, sizes := a.tl, gpu.CopyBytes(a.t)
	taken, index := room.Table(), make(map[copyKey]int)
	var recent struct { // the row of the copy before
		key copyKey
		at  int
	}
	type call struct{ row, link int32 }
	counted := make(map[call]bool) // calls of several copies
	windows := make(map[int64]interval.Span)
	for _, d := range tl.Devices {
		windows[d.Ordinal] = d.Window
	}
	number := -1
	for w := range a.t.Activities.All() {
		number++
		device := a.t.Tracks[w.Track].Device
		if w.Kind == trace.Kernel || device > tl.Last || !a.t.Window.Starts(w.Start) {
			continue
		}
		bytes, told := sizes(w)
		link := a.Links.Of[number]
		key := copyKey{device: device, name: w.Name, kind: w.Kind, large: told && bytes > summary.LargeCopyBytes}
		if link >= 0 && a.Links.HasCall(link) {
			key.call = a.Links.Call(link).Name
		}
		at, ok := recent.at, recent.key == key && len(out) > 0
		if !ok {
			at, ok = index[key]
		}
		if !ok && !taken.Take(len(a.t.Name(key.name))+len(a.t.Name(key.call))) {
			key = copyKey{device: device, kind: w.Kind, pool: true}
			at, ok = index[key]
		}
		if !ok {
			at = len(out)
			index[key] = at
			out = append(out, a.copyRow(key))
		}
		recent.key, recent.at = key, at
		r := &out[at]
		addCopy(r, w, bytes, told)
		if key.call == 0 {
			continue
		}
		if k := (call{int32(at), link}); a.Links.List[link].Work > 1 {
			if counted[k] {
				continue
			}
			counted[k] = true
		}
		c := a.Links.Call(link)
		r.HostNS = summary.Plus(r.HostNS, interval.Span{Start: c.Start, End: c.Start + c.Dur}.And(windows[device]).Len())
		r.LostNS = summary.Plus(r.LostNS, a.waits.copies[link])
	}
	return out
}

func (a *Attribution) copyRow(key copyKey) summary.CopyCall {
	r := summary.CopyCall{Name: a.t.Name(key.name), Call: a.t.Name(key.call), Class: summary.ClassCopy.String(), Large: key.large, Device: key.device}
	if key.kind == trace.Memset {
		r.Class = summary.ClassMemset.String()
	}
	if key.pool {
		r.Name = limits.OtherCopies
	}
	return r
}

func addCopy(r *summary.CopyCall, w *trace.Activity, bytes int64, told bool) {
	if r.Count == 0 || w.Dur > r.MaxNS || w.Dur == r.MaxNS && w.Start < r.MaxStartNS {
		r.MaxNS, r.MaxStartNS = w.Dur, w.Start
	}
	r.Count++
	r.TotalNS = summary.Plus(r.TotalNS, w.Dur)
	if told {
		if r.Bytes == nil {
			r.Bytes = new(int64)
		}
		*r.Bytes = summary.Plus(*r.Bytes, bytes)
	}
}

// profilerWork returns when the profiler did work of its own.
func profilerWork(t *trace.Trace) interval.Set {
	var b interval.Builder
	for s := range t.Spans.All() {
		if s.Kind == trace.Overhead {
			b.Add(interval.Span{Start: s.Start, End: s.Start + s.Dur})
		}
	}
	return b.Set()
}
