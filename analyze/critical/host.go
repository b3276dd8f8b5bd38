package critical

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"assay/internal/lazyregexp"
	"assay/trace"
)

// A span is an event of the host.
type span struct {
	start, end int64 // end is that of its parent at most
	name       trace.Sym
	corr       trace.ID
	parent     int32
	op         int32 // the innermost operator: itself or around it, or none
	first      int32 // its first segment in the thread, then the node of that; none
	thread     int32
	kind       trace.Kind
	load       bool // a data loader, or within one
	kids       bool
}

// nesting is the order of events that start and end at the same time: outer kinds first.
func nesting(k trace.Kind) int {
	switch k {
	case trace.Annotation:
		return 0
	case trace.Python:
		return 1
	case trace.CPUOp:
		return 3
	case trace.Runtime:
		return 4
	}
	return 5
}

func (s *span) isCall() bool { return s.kind == trace.Runtime || s.kind == trace.Driver }

// A segment is a stretch of a thread in which the innermost span does not change. owner is none
// if no span is open.
type segment struct {
	start, end int64
	owner      int32
	firstNode  int32
	lastNode   int32
}

// A thread has the spans of one track by start, and its segments.
type thread struct {
	track    trace.TrackID
	from, to int32 // its spans
	segments []segment
}

// threadsOf collects the spans of the host, by thread, each thread in the order of nesting.
func (s *source) threadsOf() []thread {
	t := s.t
	number := make([]int32, len(t.Tracks)) // of the thread of a track, plus 1
	var threads []thread
	s.eachEvent(func(track trace.TrackID, _ span) {
		if number[track] == 0 {
			threads = append(threads, thread{track: track})
			s.tracks = append(s.tracks, track)
			number[track] = int32(len(threads))
		}
		threads[number[track]-1].to++
	})
	s.impossible = 0 // counted again
	total := int32(0)
	for i := range threads {
		n := threads[i].to
		threads[i].from, threads[i].to = total, total
		total += n
	}
	s.spans = make([]span, total)
	s.eachEvent(func(track trace.TrackID, x span) {
		th := &threads[number[track]-1]
		x.end = x.start + max(0, x.end)
		x.parent, x.op, x.first, x.thread = none, none, none, number[track]-1
		s.spans[th.to] = x
		th.to++
	})
	for i := range threads {
		list := s.spans[threads[i].from:threads[i].to]
		if !slices.IsSortedFunc(list, inOrder) {
			slices.SortStableFunc(list, inOrder)
		}
	}
	return threads
}

// inOrder is the order of spans in which those around others come first.
func inOrder(a, b span) int {
	return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end), cmp.Compare(nesting(a.kind), nesting(b.kind)))
}

// eachEvent calls f with the events of the host that fit; the end of the span is their duration.
func (s *source) eachEvent(f func(trace.TrackID, span)) {
	t := s.t
	put := func(track trace.TrackID, x span) {
		if !t.Tracks[track].OnDevice && s.fits(&x.start, x.end) {
			f(track, x)
		}
	}
	for p := range t.Spans.All() {
		if p.Kind == trace.Annotation {
			put(p.Track, span{start: p.Start, end: p.Dur, name: p.Name, kind: p.Kind})
		}
	}
	for p := range t.Python.All() {
		put(p.Track, span{start: p.Start, end: p.Dur, name: p.Name, kind: trace.Python})
	}
	for o := range t.Ops.All() {
		put(o.Track, span{start: o.Start, end: o.Dur, name: o.Name, kind: trace.CPUOp})
	}
	for c := range t.Calls.All() {
		put(c.Track, span{start: c.Start, end: c.Dur, name: c.Name, kind: c.Kind, corr: c.Correlation})
	}
}

// nest finds the parents of the spans of a thread, clips spans to them, and divides the thread
// into segments, which it also cuts at the given times. An annotation that ends after the event in
// which it began stays out of the nesting.
func (s *source) nest(th *thread, cuts []int64, loads func(trace.Sym) bool) {
	spans := s.spans
	var stack []int32
	th.segments = make([]segment, 0, 2*(th.to-th.from)+int32(len(cuts))+1)
	at := spans[th.from].start
	emit := func(to int64, owner int32, force bool) {
		if to <= at && !force {
			return
		}
		if owner != none && spans[owner].first == none {
			spans[owner].first = int32(len(th.segments))
		}
		a := at
		i := sort.Search(len(cuts), func(i int) bool { return cuts[i] > a })
		for ; i < len(cuts) && cuts[i] < to; i++ {
			th.segments = append(th.segments, segment{start: a, end: cuts[i], owner: owner})
			a = cuts[i]
		}
		th.segments = append(th.segments, segment{start: a, end: to, owner: owner})
	}
	pop := func() {
		top := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		x := &spans[top]
		emit(x.end, top, x.first == none && !x.kids)
		at = max(at, x.end)
	}
	for i := th.from; i < th.to; i++ {
		x := &spans[i]
		for len(stack) > 0 && spans[stack[len(stack)-1]].end <= x.start {
			pop()
		}
		top := none
		if len(stack) > 0 {
			top = stack[len(stack)-1]
			if x.end > spans[top].end {
				if x.kind == trace.Annotation {
					continue
				}
				x.end = spans[top].end
			}
		}
		emit(x.start, top, false)
		at = max(at, x.start)
		x.load = loads(x.name)
		if x.parent = top; top != none {
			spans[top].kids = true
			x.op = spans[top].op
			x.load = x.load || spans[top].load
		}
		if x.kind == trace.CPUOp {
			x.op = i
		}
		stack = append(stack, i)
	}
	for len(stack) > 0 {
		pop()
	}
}

// hostClass returns the class of the time in which a span is the innermost.
func (s *source) hostClass(owner int32) Class {
	if owner == none {
		return HostGap
	}
	x := &s.spans[owner]
	switch {
	case x.load:
		return DataLoader
	case x.kind == trace.CPUOp:
		return HostOp
	case x.isCall():
		return Runtime
	}
	return Python
}

var loader = lazyregexp.New(`(?i)DataLoader|data_load`)

// named returns a function that reports whether a name matches, and remembers the answers.
func named(t *trace.Trace, is func(string) bool) func(trace.Sym) bool {
	known := make([]uint8, t.Names())
	return func(s trace.Sym) bool {
		if known[s] == 0 {
			known[s] = 1
			if is(t.Name(s)) {
				known[s] = 2
			}
		}
		return known[s] == 2
	}
}

// autograd is the prefix of the events of the thread that runs the backward pass.
const autograd = "autograd::engine"

// A turn is a run of segments of another thread within one segment: the thread of the
// segment waited.
type turn struct {
	start, end  int64
	child       int
	first, last int
}

// turns returns the turns in each segment of the thread that starts the backward pass, and its
// number. Without evidence that one thread waits for another there are none.
func (s *source) turns(threads []thread, main int) (parent int, out map[int][]turn) {
	if len(threads) == 0 {
		return -1, nil
	}
	parent, children := s.backward(threads, main)
	segs := threads[parent].segments
	out = make(map[int][]turn)
	for _, b := range children {
		last := -1
		for j, x := range threads[b].segments {
			if x.owner == none {
				continue
			}
			k := sort.Search(len(segs), func(i int) bool { return segs[i].start > x.start }) - 1
			if k < 0 || x.end > segs[k].end || segs[k].owner != none && s.spans[segs[k].owner].isCall() {
				continue
			}
			list := out[k]
			if k == last {
				list[len(list)-1].last, list[len(list)-1].end = j, x.end
				continue
			}
			last = k
			out[k] = append(list, turn{x.start, x.end, b, j, j})
		}
	}
	for _, list := range out {
		slices.SortFunc(list, func(a, b turn) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end)) })
	}
	return parent, out
}

// backward returns the thread that starts backward passes and those that run them. Evidence are
// the arrows from forward to backward operators, their sequence numbers, and the autograd engine's
// events.
func (s *source) backward(threads []thread, main int) (parent int, children []int) {
	t := s.t
	of := make(map[trace.TrackID]int)
	for i := range threads {
		of[threads[i].track] = i
	}
	starts, runs := make(map[int]int), make(map[int]bool)
	for f := range t.Flows.All() {
		n, ok := of[f.Track]
		if !ok || t.Name(f.Category) != "fwdbwd" {
			continue
		}
		if f.Phase == 's' {
			starts[n]++
		} else if f.Phase == 'f' {
			runs[n] = true
		}
	}
	if len(starts) == 0 {
		forward := make(map[trace.ID]int)
		for o := range t.Ops.All() {
			if n, ok := of[o.Track]; ok && o.Sequence != 0 && o.Forward == 0 {
				forward[o.Sequence] = n
			}
		}
		for o := range t.Ops.All() {
			if n, ok := forward[o.Sequence]; ok && o.Forward != 0 {
				starts[n]++
				runs[of[o.Track]] = true
			}
		}
	}
	isEngine := named(t, func(n string) bool { return strings.HasPrefix(n, autograd) })
	for i := range s.spans {
		if isEngine(s.spans[i].name) {
			runs[int(s.spans[i].thread)] = true
		}
	}
	parent, most := main, 0
	for n := range threads {
		if starts[n] > most {
			parent, most = n, starts[n]
		}
	}
	for n := range threads {
		if runs[n] && n != parent {
			children = append(children, n)
		}
	}
	return parent, children
}

// addHost adds the nodes of all threads.
func (g *Graph) addHost(s *source, threads []thread, main int) {
	segments := 0
	for i := range threads {
		segments += len(threads[i].segments)
	}
	g.nodes = make([]node, 0, segments+segments/32+s.t.Activities.Len()+1000)
	parent, turns := s.turns(threads, main)
	isIter := named(s.t, func(n string) bool { return strings.Contains(n, "MultiProcessingDataLoaderIter") })
	type pair struct {
		turn
		own, join int32
	}
	var waiting []pair
	for n := range threads {
		prev := none
		for j := range threads[n].segments {
			x := &threads[n].segments[j]
			class := s.hostClass(x.owner)
			add := func(start, end int64, flags uint8) int32 {
				prev = g.add(start, end, class, x.owner, prev, flags)
				return prev
			}
			if x.owner != none && isIter(s.spans[x.owner].name) && x.end-x.start > loaderOwn {
				x.firstNode = add(x.start, x.start+loaderOwn, 0)
				x.lastNode = add(x.end, x.end, isArrival) // the batch comes from other processes at its own time
				g.Counts.Arrivals++
				continue
			}
			at, first := x.start, none
			if n == parent {
				for _, p := range turns[j] {
					own := add(at, p.start, 0)
					if first == none {
						first = own
					}
					waiting = append(waiting, pair{p, own, add(p.end, p.end, 0)})
					at = p.end
				}
			}
			x.lastNode = add(at, x.end, 0)
			if x.firstNode = first; first == none {
				x.firstNode = x.lastNode
			}
		}
	}
	for _, p := range waiting {
		first := threads[p.child].segments[p.first].firstNode
		g.nodes[first].pred, g.nodes[first].first = none, none
		g.link(p.own, first, 0, handoff)
		g.link(threads[p.child].segments[p.last].lastNode, p.join, 0, handoff)
	}
	for i := range s.spans {
		if x := &s.spans[i]; x.first != none {
			x.first = threads[x.thread].segments[x.first].firstNode
		}
	}
}
