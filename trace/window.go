package trace

import (
	"cmp"
	"slices"
)

// A Window is a part of the time of a capture, from Start to before End. Times are on the
// clock of the trace.
//
// What takes time is clipped to a window, so that times over adjoining windows add up. What is counted belongs to the window in which it starts.
type Window struct {
	Start, End int64 // ns

	// Extent has, by device, the stretch from the first start to the last end of its work
	// in the whole capture. The window of a device does not reach beyond it.
	Extent map[int64]Extent
}

// An Extent is a stretch of time.
type Extent struct{ Start, End int64 } // ns

// Starts reports whether something that starts then is counted. Everything is counted
// where there is no window.
func (w *Window) Starts(at int64) bool { return w == nil || at >= w.Start && at < w.End }

// Overlaps reports whether something shares time with the window. Something without
// duration does if it starts in it.
func (w *Window) Overlaps(start, dur int64) bool {
	return start < w.End && (start+dur > w.Start || start >= w.Start)
}

// Within returns the part of the trace that the measurement of a window needs: all that
// overlaps it, the device work that it launches, what launched its device work and the host
// events around that, also of the forward pass of its backward pass. The trace shares the
// names, tracks and details of t. A window of a trace that has one is a part of both.
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
	out.Async = slices.DeleteFunc(slices.Clone(t.Async), func(s HostSpan) bool { return !n.w.Overlaps(s.Start, s.Dur) })
	out.Flows = filter(&t.Flows, n.flow)
	out.Memory = filter(&t.Memory, n.memory)
	return &out
}

// narrowingTo returns the narrowing to a window, complete.
func narrowingTo(t *Trace, start, end int64) *narrowing {
	n := newNarrowing(t, start, end)
	n.launched()
	n.surrounding()
	return n
}

// A narrowing finds what belongs to a window.
type narrowing struct {
	t *Trace
	w *Window

	edges      map[int64]*edges     // by device
	correlated idSet                // of calls and device work that belong together
	external   idSet                // of operators that launched work without a call
	arrows     map[Sym]idSet        // by category, in which each counts its own
	points     map[TrackID][]Extent // what the kept host events outside the window are around, by start
	moments    map[string][]int64   // by process: when work was launched outside the window, in order
	tails      map[TrackID]int64    // when the last operator that starts in the window ends, if that is after it
	ends       map[rowTime]bool     // where arrows begin and end outside the window

	linked, sequenced bool // device work and operators have numbers that link them

	// Calls from the launch of the work before the window up to that of the work after it
	// say what a gap at its edges was for: their work may not have been recorded.
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
	n := &narrowing{t: t, w: w, edges: make(map[int64]*edges), correlated: make(idSet), external: make(idSet), arrows: make(map[Sym]idSet),
		points: make(map[TrackID][]Extent), moments: make(map[string][]int64), tails: make(map[TrackID]int64), ends: make(map[rowTime]bool), from: w.Start, to: w.End}
	if t.Flows.Len() > 0 {
		n.linked = has(&t.Activities, func(a *Activity) bool { return a.Correlation != 0 })
		n.sequenced = has(&t.Ops, func(o *Op) bool { return o.Sequence != 0 })
	}
	return n
}

// near reports whether device work is next to the window. It says what a gap at the edge
// of the window is between.
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

// span reports whether a span belongs to the window. The profiler's bookkeeping says how
// the capture was made.
func (n *narrowing) span(s *HostSpan) bool {
	return s.Kind == Span || n.hostEvent(s.Track, s.Start, s.Dur)
}

func (n *narrowing) flow(f *FlowEnd) bool {
	return n.arrows[f.Category].has(f.ID) || f.ID == 0 && n.w.Starts(f.Start)
}

func (n *narrowing) memory(m *MemoryEvent) bool { return n.w.Starts(m.Start) }

// hostEvent reports whether a host event overlaps the window or is around a point or a
// moment, or in an operator that starts in the window and ends after it.
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

// Edges are when the last work of a device before the window ends and the first after it
// starts.
type edges struct {
	before, after int64
	any, later    bool
}

// neighbours finds, on each device, what ends last before the window and what starts first
// after it.
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

// launched finds the launches of the window's device work, the work of its launches, and
// what was in the queue of a device.
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

// arrowsTo finds the arrows that begin or end in the window or at the given starts of work,
// and those to work that was in a queue during all of it.
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

// needs reports whether an arrow says what the numbers of the events that it connects do
// not: see [Select.FlowsIfNeeded].
func (n *narrowing) needs(f *FlowEnd) bool {
	if n.t.Name(f.Category) == backwardFlow {
		return !n.sequenced
	}
	return !n.linked
}

// backwardFlow is the category of arrows from an operator to that of its backward pass.
const backwardFlow = "fwdbwd"

// A rowTime is a time of one row of the timeline. The tracks of arrows are those of the
// host, also where they end at a device.
type rowTime struct {
	pid, tid string
	at       int64
}

func (n *narrowing) at(track TrackID, at int64) rowTime {
	t := &n.t.Tracks[track]
	return rowTime{t.PID, t.TID, at}
}

// surrounding finds the operators whose work or whose backward pass is in the window.
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

// makings finds where the nodes of graphs were made that did work of the window.
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

// point notes a host event outside the window that is kept with what is around it, also on
// the other threads of its process: the main thread says what phase the program is in.
func (n *narrowing) point(track TrackID, start, dur int64) {
	if !n.w.Overlaps(start, dur) {
		n.points[track] = append(n.points[track], Extent{start, start + dur})
		pid := n.t.Tracks[track].PID
		n.moments[pid] = append(n.moments[pid], start)
	}
}

// sort sorts the points of each track, of equal starts the shortest first, and the moments.
func (n *narrowing) sort() {
	for _, list := range n.points {
		slices.SortFunc(list, func(a, b Extent) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End)) })
	}
	for _, list := range n.moments {
		slices.Sort(list)
	}
}

// An idSet is a set of ids without 0, which links nothing. Profilers count up, so pages of
// bits take less memory than a map.
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
