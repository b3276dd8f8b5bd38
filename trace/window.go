package trace

import (
	"cmp"
	"slices"
)

// A Window is a part of the time of a capture, from Start to before End. Times are on the
// clock of the trace.
//
// Durations are clipped to the window, so that the times of adjoining windows add up. Counts
// include an event in the window in which it starts.
type Window struct {
	Start, End int64 // ns

	// Extent has, by device, the time from the first start to the last end of its work in the
	// whole capture. The window of a device is limited to it.
	Extent map[int64]Extent
}

// An Extent is the time from Start to before End.
type Extent struct{ Start, End int64 } // ns

// Starts reports whether an event that starts at the given time is counted. A nil Window
// counts every event.
func (w *Window) Starts(at int64) bool { return w == nil || at >= w.Start && at < w.End }

// Overlaps reports whether an event shares time with the window. An event of duration 0 does
// if it starts in the window.
func (w *Window) Overlaps(start, dur int64) bool {
	return start < w.End && (start+dur > w.Start || start >= w.Start)
}

// Within returns the part of the trace that is needed to measure the window from start to
// before end (ns on the clock of the trace):
//
//   - all events that overlap the window,
//   - the device work launched in the window,
//   - the launches of the device work in the window, and the host events around them,
//   - the forward operators of backward operators in the window, and the host events around
//     them.
//
// The result shares the names, tracks and details of t. If t has a window already, the
// window of the result is the intersection.
func (t *Trace) Within(start, end int64) *Trace {
	n := narrowingTo(t, start, end)
	out := *t
	out.Window = n.w
	out.Activities = filter(&t.Activities, n.activity)
	out.Calls = filter(&t.Calls, n.call)
	out.CopySizes = filter(&t.CopySizes, func(c *CopySize) bool { return n.correlated.has(c.Correlation) })
	out.Ops = filter(&t.Ops, n.op)
	out.Collectives = filter(&t.Collectives, func(c *CollectiveCall) bool {
		if t.Tracks[c.Track].OnDevice {
			return n.w.Overlaps(c.Start, c.Dur) || n.correlated.has(c.Correlation)
		}
		return n.hostEvent(c.Track, c.Start, c.Dur)
	})
	out.Python = filter(&t.Python, n.python)
	out.Spans = filter(&t.Spans, n.span)
	out.Syncs = filter(&t.Syncs, func(s *SyncRecord) bool { return n.correlated.has(s.Correlation) || n.w.Starts(s.Start) })
	out.Async = slices.DeleteFunc(slices.Clone(t.Async), func(s HostSpan) bool { return !n.w.Overlaps(s.Start, s.Dur) })
	out.Flows = filter(&t.Flows, n.flow)
	out.Memory = filter(&t.Memory, n.memory)
	return &out
}

// narrowingTo returns a complete narrowing to a window.
func narrowingTo(t *Trace, start, end int64) *narrowing {
	n := newNarrowing(t, start, end)
	n.launched()
	n.surrounding()
	return n
}

// A narrowing selects the events that belong to a window: see [Trace.Within].
type narrowing struct {
	t *Trace
	w *Window

	edges      map[int64]*edges     // by device
	correlated idSet                // correlations of selected calls and their device work
	external   idSet                // numbers of operators that launched selected work without a call
	arrows     map[Sym]idSet        // selected arrows by category: each category has numbers of its own
	points     map[TrackID][]Extent // selected times outside the window, by start; host events around them are kept
	moments    map[string][]int64   // by process: the starts of points, ascending
	tails      map[TrackID]int64    // the latest end, after the window, of operators that start in it
	ends       map[rowTime]bool     // ends, outside the window, of selected arrows

	linked, sequenced bool // device work has correlations; operators have sequence numbers

	// The calls from the launch of the last work before the window to the launch of the first
	// work after it explain the gaps at its edges: the work of some may not have been recorded.
	from, to int64
}

func newNarrowing(t *Trace, start, end int64) *narrowing {
	w := &Window{Start: start, End: max(start, end), Extent: make(map[int64]Extent)}
	if outer := t.Window; outer != nil {
		w.Start, w.Extent = max(w.Start, outer.Start), outer.Extent
		w.End = max(w.Start, min(w.End, outer.End))
	} else {
		for a := range t.Activities.All() {
			device := t.Tracks[a.Track].Device
			e, ok := w.Extent[device]
			if !ok {
				e = Extent{a.Start, a.End()}
			}
			w.Extent[device] = Extent{min(e.Start, a.Start), max(e.End, a.End())}
		}
	}
	n := &narrowing{
		t: t, w: w, edges: make(map[int64]*edges),
		correlated: make(idSet), external: make(idSet), arrows: make(map[Sym]idSet),
		points: make(map[TrackID][]Extent), moments: make(map[string][]int64), tails: make(map[TrackID]int64),
		ends: make(map[rowTime]bool), from: w.Start, to: w.End,
	}
	if t.Flows.Len() > 0 {
		n.linked = has(&t.Activities, func(a *Activity) bool { return a.Correlation != 0 })
		n.sequenced = has(&t.Ops, func(o *Op) bool { return o.Sequence != 0 })
	}
	return n
}

// near reports whether a is the last work of its device before the window or the first after
// it. Such work is the other side of a gap at the edge of the window.
func (n *narrowing) near(a *Activity) bool {
	e := n.edges[n.t.Tracks[a.Track].Device]
	return e != nil && !n.w.Overlaps(a.Start, a.Dur) &&
		(e.any && a.End() == e.before && a.Start < n.w.Start || e.later && a.Start == e.after)
}

// activity reports whether device work belongs to the window.
func (n *narrowing) activity(a *Activity) bool {
	return n.near(a) || n.w.Overlaps(a.Start, a.Dur) || n.correlated.has(a.Correlation) || n.ends[n.at(a.Track, a.Start)]
}

func (n *narrowing) call(c *Call) bool {
	return n.hostEvent(c.Track, c.Start, c.Dur) || n.correlated.has(c.Correlation) || c.Start >= n.from && c.Start <= n.to
}

func (n *narrowing) op(o *Op) bool { return n.hostEvent(o.Track, o.Start, o.Dur) }

func (n *narrowing) python(p *PythonCall) bool { return n.hostEvent(p.Track, p.Start, p.Dur) }

// span reports whether a span belongs to the window. The profiler's own spans always do,
// because they show how the capture was made.
func (n *narrowing) span(s *HostSpan) bool {
	return s.Kind == Span || n.hostEvent(s.Track, s.Start, s.Dur)
}

func (n *narrowing) flow(f *FlowEnd) bool {
	return n.arrows[f.Category].has(f.ID) || f.ID == 0 && n.w.Starts(f.Start)
}

func (n *narrowing) memory(m *MemoryEvent) bool { return n.w.Starts(m.Start) }

// hostEvent reports whether a host event overlaps the window, surrounds a point or a moment,
// or starts within an operator that reaches from the window beyond its end.
func (n *narrowing) hostEvent(track TrackID, start, dur int64) bool {
	if n.w.Overlaps(start, dur) || start >= n.w.End && start < n.tails[track] {
		return true
	}
	points := n.points[track]
	i, _ := slices.BinarySearchFunc(points, start, func(p Extent, at int64) int { return cmp.Compare(p.Start, at) })
	if i < len(points) && points[i].End <= start+dur {
		return true
	}
	moments := n.moments[n.t.Tracks[track].PID]
	i, _ = slices.BinarySearch(moments, start)
	return i < len(moments) && moments[i] < start+dur
}

// edges are, for one device, the end of the last work before the window and the start of the
// first work after it.
type edges struct {
	before, after int64
	any, later    bool
}

// neighbours finds, for each device, the work that ends last before the window and the work
// that starts first after it.
func (n *narrowing) neighbours() {
	for a := range n.t.Activities.All() {
		if n.w.Overlaps(a.Start, a.Dur) {
			continue
		}
		device := n.t.Tracks[a.Track].Device
		e := n.edges[device]
		if e == nil {
			e = new(edges)
			n.edges[device] = e
		}
		if a.End() <= n.w.Start && (!e.any || a.End() > e.before) {
			e.before, e.any = a.End(), true
		}
		if a.Start >= n.w.End && a.Dur > 0 && (!e.later || a.Start < e.after) {
			e.after, e.later = a.Start, true
		}
	}
}

// launched finds the launches of the device work in the window, the work launched in the
// window, and the work that was queued during all of it.
func (n *narrowing) launched() {
	n.neighbours()
	later := make(idSet) // of work that starts after the window
	starts := make(map[rowTime]bool)
	nextTo := make(idSet)
	for a := range n.t.Activities.All() {
		near := n.near(a)
		if near {
			nextTo.add(a.Correlation)
		}
		switch {
		case near || n.w.Overlaps(a.Start, a.Dur):
			n.external.add(a.External)
			if n.correlated.add(a.Correlation); a.Correlation == 0 {
				starts[n.at(a.Track, a.Start)] = true
			}
		case a.Start >= n.w.End:
			later.add(a.Correlation)
		}
	}
	for c := range n.t.Calls.All() {
		if n.w.Overlaps(c.Start, c.Dur) || c.Start < n.w.Start && later.has(c.Correlation) {
			n.correlated.add(c.Correlation)
		}
	}
	n.arrowsTo(starts)
	for c := range n.t.Calls.All() {
		if n.correlated.has(c.Correlation) || n.ends[n.at(c.Track, c.Start)] {
			n.point(c.Track, c.Start, c.Dur)
		}
		if nextTo.has(c.Correlation) {
			n.from, n.to = min(n.from, c.Start), max(n.to, c.Start)
		}
	}
}

// arrowsTo finds the arrows that begin or end in the window or at one of the given starts,
// and the arrows to work that was queued during all of the window.
func (n *narrowing) arrowsTo(starts map[rowTime]bool) {
	before := make(map[Sym]idSet) // arrows to work that begin before the window
	for f := range n.t.Flows.All() {
		switch {
		case n.w.Starts(f.Start) || starts[n.at(f.Track, f.Start)]:
			put(n.arrows, f)
		case f.Phase == 's' && f.Start < n.w.Start && n.t.Name(f.Category) != backwardFlow && n.needs(f):
			put(before, f)
		}
	}
	for f := range n.t.Flows.All() {
		if f.Phase != 's' && f.Start >= n.w.End && before[f.Category].has(f.ID) {
			put(n.arrows, f)
		}
	}
	for f := range n.t.Flows.All() {
		if n.flow(f) && !n.w.Starts(f.Start) && n.needs(f) {
			n.ends[n.at(f.Track, f.Start)] = true
		}
	}
}

func put(arrows map[Sym]idSet, f *FlowEnd) {
	if arrows[f.Category] == nil {
		arrows[f.Category] = make(idSet)
	}
	arrows[f.Category].add(f.ID)
}

// needs reports whether the events that an arrow connects have no numbers that carry the same
// link: see [Select.FlowsIfNeeded].
func (n *narrowing) needs(f *FlowEnd) bool {
	if n.t.Name(f.Category) == backwardFlow {
		return !n.sequenced
	}
	return !n.linked
}

// backwardFlow is the category of arrows from an operator to its backward operator.
const backwardFlow = "fwdbwd"

// A rowTime is a time on one row of the timeline. It has no TrackID, because the ends of
// arrows are on tracks of the host even if they point to device work.
type rowTime struct {
	pid, tid string
	at       int64
}

func (n *narrowing) at(track TrackID, at int64) rowTime {
	t := &n.t.Tracks[track]
	return rowTime{t.PID, t.TID, at}
}

// surrounding finds the operators that launched work in the window, and the forward operators
// of backward operators in the window.
func (n *narrowing) surrounding() {
	n.makings()
	for o := range n.t.Ops.All() {
		if n.external.has(o.External) {
			n.point(o.Track, o.Start, o.Dur)
		}
		if end := o.Start + o.Dur; n.w.Starts(o.Start) && end > n.w.End {
			n.tails[o.Track] = max(n.tails[o.Track], end)
		}
	}
	n.sort()
	backward, starts := make(idSet), make(map[rowTime]bool)
	for o := range n.t.Ops.All() {
		if n.hostEvent(o.Track, o.Start, o.Dur) {
			if o.Forward != 0 {
				backward.add(o.Sequence)
			}
			if n.t.Flows.Len() > 0 {
				starts[n.at(o.Track, o.Start)] = true
			}
		}
	}
	n.arrowsTo(starts)
	for o := range n.t.Ops.All() {
		if o.Forward == 0 && backward.has(o.Sequence) || n.ends[n.at(o.Track, o.Start)] {
			n.point(o.Track, o.Start, o.Dur)
		}
	}
	n.sort()
}

// makings finds where the graph nodes that ran in the window were created.
func (n *narrowing) makings() {
	if len(n.t.GraphNodes) == 0 {
		return
	}
	seen := make(map[*GraphNode]bool)
	for a := range n.t.Activities.All() {
		node := n.t.graphNode(a)
		if node == nil || seen[node] || !n.activity(a) {
			continue
		}
		seen[node] = true
		for _, m := range node.Made {
			if m.Track != NoTrack {
				n.point(m.Track, m.Start, 0)
			}
		}
	}
}

// point records a host event outside the window. It is kept with the events around it, also
// on the other threads of its process, because the main thread shows the phase of the program.
func (n *narrowing) point(track TrackID, start, dur int64) {
	if !n.w.Overlaps(start, dur) {
		n.points[track] = append(n.points[track], Extent{start, start + dur})
		pid := n.t.Tracks[track].PID
		n.moments[pid] = append(n.moments[pid], start)
	}
}

// sort sorts the moments, and the points of each track by start, then by end.
func (n *narrowing) sort() {
	for _, list := range n.points {
		slices.SortFunc(list, func(a, b Extent) int {
			return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End))
		})
	}
	for _, list := range n.moments {
		slices.Sort(list)
	}
}

// An idSet is a set of ids. It never contains 0, which means "no id". Profilers assign ids in
// ascending order, so pages of bits take less memory than a map.
type idSet map[ID]*[idPage / 64]uint64

const idPage = 1 << 12

func (s idSet) add(id ID) {
	if id == 0 {
		return
	}
	page := s[id/idPage]
	if page == nil {
		page = new([idPage / 64]uint64)
		s[id/idPage] = page
	}
	page[id%idPage/64] |= 1 << (id % 64)
}

func (s idSet) has(id ID) bool {
	page := s[id/idPage]
	return page != nil && page[id%idPage/64]&(1<<(id%64)) != 0
}
