package graph

import (
	"cmp"
	"slices"
	"strings"

	"assay/internal/lazyregexp"
	"assay/internal/runsort"
	"assay/trace"
)

// A Span is an event of the host.
type Span struct {
	Start, End int64 // end is that of its parent at most
	Name       trace.Sym
	corr       trace.ID // of a call; of an operator its sequence number
	Parent     int32
	Op         int32 // the innermost operator: itself or around it, or none
	first      int32 // its first segment in the thread, then the node of that; none
	Thread     int32
	Call       int32 // its number among the calls of its rank that launched work, or none
	Kind       trace.Kind
	load       bool // a data loader, or within one
	kids       bool
	backward   bool // an operator of a backward pass
}

// nesting is the order of events that start and end at the same time: outer kinds first.
func nesting(k trace.Kind) uint8 {
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

func (s *Span) isCall() bool { return s.Kind == trace.Runtime || s.Kind == trace.Driver }

// A segment is a stretch of a thread in which the innermost span does not change, until the next
// segment. owner is none if no span is open.
type segment struct {
	start int64
	owner int32
	node  int32 // its first
}

// A thread has the spans of one track by start, and its segments.
type thread struct {
	track    trace.TrackID
	from, to int32 // its spans
	segments []segment
	end      int64 // of the last segment
	last     int32 // its last node
}

// until returns the end of a segment.
func (th *thread) until(i int) int64 {
	if i+1 < len(th.segments) {
		return th.segments[i+1].start
	}
	return th.end
}

// lastNode returns the last node of a segment.
func (th *thread) lastNode(i int) int32 {
	if i+1 < len(th.segments) {
		return th.segments[i+1].node - 1
	}
	return th.last
}

// The tables of a trace with events of the host.
const (
	annotations uint8 = iota
	functions
	operators
	calls
	tables
)

// A reference is an event of the host in its table, with what decides its place in its thread.
type reference struct {
	start, end int64
	row        trace.Ref
	table      uint8
	nesting    uint8
}

// threadsOf collects the spans of the host, by thread, each thread in the order of nesting.
func (s *Source) threadsOf() []thread {
	number := make([]int32, len(s.T.Tracks)) // of the thread of a track, plus 1
	var threads []thread
	s.eachEvent(func(track trace.TrackID, _ reference) {
		if number[track] == 0 {
			threads = append(threads, thread{track: track})
			s.Tracks = append(s.Tracks, track)
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
	all, ends := make([]reference, total), make([][tables]int, len(threads))
	s.eachEvent(func(track trace.TrackID, x reference) {
		n := number[track] - 1
		th := &threads[n]
		all[th.to] = x
		th.to++
		ends[n][x.table] = int(th.to - th.from)
	})
	s.Spans = make([]Span, 0, total)
	for i := range threads {
		list, from := all[threads[i].from:threads[i].to], 0
		for k, end := range ends[i] {
			ends[i][k] = max(end, from)
			runsort.Sort(list[from:ends[i][k]], inOrder)
			from = ends[i][k]
		}
		runsort.Each(list, ends[i][:], inOrder, func(r *reference) {
			x := s.event(r)
			x.Parent, x.Op, x.first, x.Call, x.Thread = None, None, None, None, int32(i)
			s.Spans = append(s.Spans, x)
		})
	}
	return threads
}

// inOrder is the order of events in which those around others come first.
func inOrder(a, b reference) int {
	if a.start != b.start {
		return cmp.Compare(a.start, b.start)
	}
	return cmp.Or(cmp.Compare(b.end, a.end), cmp.Compare(a.nesting, b.nesting))
}

// eachEvent calls f with the events of the host that fit.
func (s *Source) eachEvent(f func(trace.TrackID, reference)) {
	t := s.T
	put := func(track trace.TrackID, start, dur int64, k trace.Kind, table uint8, row trace.Ref) {
		if !t.Tracks[track].OnDevice && s.fits(&start, dur) {
			f(track, reference{start, start + max(0, dur), row, table, nesting(k)})
		}
	}
	for r, p := range t.Spans.Refs() {
		if p.Kind == trace.Annotation {
			put(p.Track, p.Start, p.Dur, p.Kind, annotations, r)
		}
	}
	for r, p := range t.Python.Refs() {
		put(p.Track, p.Start, p.Dur, trace.Python, functions, r)
	}
	for r, o := range t.Ops.Refs() {
		put(o.Track, o.Start, o.Dur, trace.CPUOp, operators, r)
	}
	for r, c := range t.Calls.Refs() {
		put(c.Track, c.Start, c.Dur, c.Kind, calls, r)
	}
}

// event returns the span of an event.
func (s *Source) event(x *reference) Span {
	out := Span{Start: x.start, End: x.end}
	switch x.table {
	case annotations:
		out.Name, out.Kind = s.T.Spans.At(x.row).Name, trace.Annotation
	case functions:
		out.Name, out.Kind = s.T.Python.At(x.row).Name, trace.Python
	case operators:
		o := s.T.Ops.At(x.row)
		out.Name, out.Kind, out.corr, out.backward = o.Name, trace.CPUOp, o.Sequence, o.Forward != 0
	case calls:
		c := s.T.Calls.At(x.row)
		out.Name, out.Kind, out.corr = c.Name, c.Kind, c.Correlation
	}
	return out
}

// nest finds the parents of the spans of a thread, clips spans to them, and divides the thread
// into segments, which it also cuts at the given times. An annotation that ends after the event in
// which it began stays out of the nesting.
func (s *Source) nest(th *thread, cuts []int64, loads func(trace.Sym) bool) {
	spans := s.Spans
	var stack []int32
	th.segments = make([]segment, 0, 2*(th.to-th.from)+int32(len(cuts))+1)
	at, next := spans[th.from].Start, 0 // the next cut
	emit := func(to int64, owner int32, force bool) {
		if to <= at && !force {
			return
		}
		if owner != None && spans[owner].first == None {
			spans[owner].first = int32(len(th.segments))
		}
		th.segments = append(th.segments, segment{start: at, owner: owner})
		for ; next < len(cuts) && cuts[next] < to; next++ {
			if cuts[next] > at {
				th.segments = append(th.segments, segment{start: cuts[next], owner: owner})
			}
		}
	}
	pop := func() {
		top := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		x := &spans[top]
		emit(x.End, top, x.first == None && !x.kids)
		at = max(at, x.End)
	}
	for i := th.from; i < th.to; i++ {
		x := &spans[i]
		for len(stack) > 0 && spans[stack[len(stack)-1]].End <= x.Start {
			pop()
		}
		top := None
		if len(stack) > 0 {
			top = stack[len(stack)-1]
			if x.End > spans[top].End {
				if x.Kind == trace.Annotation {
					continue
				}
				x.End = spans[top].End
			}
		}
		emit(x.Start, top, false)
		at = max(at, x.Start)
		x.load = loads(x.Name)
		if x.Parent = top; top != None {
			spans[top].kids = true
			x.Op = spans[top].Op
			x.load = x.load || spans[top].load
		}
		if x.Kind == trace.CPUOp {
			x.Op = i
		}
		stack = append(stack, i)
	}
	for len(stack) > 0 {
		pop()
	}
	th.end = at
}

// hostClass returns the class of the time in which a span is the innermost.
func (s *Source) hostClass(owner int32) Class {
	if owner == None {
		return HostGap
	}
	x := &s.Spans[owner]
	switch {
	case x.load:
		return DataLoader
	case x.Kind == trace.CPUOp:
		return HostOp
	case x.isCall():
		return Runtime
	}
	return Python
}

var loader = lazyregexp.New(`(?i)DataLoader|data_load`)

// Named returns a function that reports whether a name matches, and remembers the answers.
func Named(t *trace.Trace, is func(string) bool) func(trace.Sym) bool {
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

// A turn is a run of segments of another thread within one segment, within: the thread of the
// segment waited.
type turn struct {
	start, end  int64
	within      int
	child       int
	first, last int
}

// turns returns the turns of the thread that starts the backward pass by segment, and its
// number. Without evidence that one thread waits for another there are none.
func (s *Source) turns(threads []thread, main int) (parent int, out []turn) {
	if len(threads) == 0 {
		return -1, nil
	}
	parent, children := s.backward(threads, main)
	segs := threads[parent].segments
	for _, b := range children {
		last, k := -1, -1
		for j, x := range threads[b].segments {
			end := threads[b].until(j)
			if x.owner == None {
				continue
			}
			for k+1 < len(segs) && segs[k+1].start <= x.start {
				k++
			}
			if k < 0 || end > threads[parent].until(k) || segs[k].owner != None && s.Spans[segs[k].owner].isCall() {
				continue
			}
			if k == last {
				out[len(out)-1].last, out[len(out)-1].end = j, end
				continue
			}
			last = k
			out = append(out, turn{x.start, end, k, b, j, j})
		}
	}
	slices.SortFunc(out, func(a, b turn) int {
		return cmp.Or(cmp.Compare(a.within, b.within), cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end))
	})
	return parent, out
}

// backward returns the thread that starts backward passes and those that run them. Evidence are
// the arrows from forward to backward operators, their sequence numbers, and the autograd engine's
// events.
func (s *Source) backward(threads []thread, main int) (parent int, children []int) {
	t := s.T
	of := make([]int, len(t.Tracks)) // threads of tracks, plus 1
	for i := range threads {
		of[threads[i].track] = i + 1
	}
	starts, runs := make([]int, len(threads)+1), make([]bool, len(threads)+1) // by thread, plus 1
	any := false
	isArrow := Named(t, func(n string) bool { return n == "fwdbwd" })
	for f := range t.Flows.All() {
		if n := of[f.Track]; n == 0 || !isArrow(f.Category) {
			continue
		} else if f.Phase == 's' {
			starts[n]++
			any = true
		} else if f.Phase == 'f' {
			runs[n] = true
		}
	}
	if !any {
		forward := make(map[trace.ID]int)
		for o := range t.Ops.All() {
			if n := of[o.Track]; n > 0 && o.Sequence != 0 && o.Forward == 0 {
				forward[o.Sequence] = n
			}
		}
		for o := range t.Ops.All() {
			if o.Forward == 0 {
				continue
			}
			if n, ok := forward[o.Sequence]; ok {
				starts[n]++
				runs[of[o.Track]] = true
			}
		}
	}
	isEngine := Named(t, func(n string) bool { return strings.HasPrefix(n, autograd) })
	for i := range s.Spans {
		if isEngine(s.Spans[i].Name) {
			runs[s.Spans[i].Thread+1] = true
		}
	}
	parent, most := main, 0
	for n := range threads {
		if starts[n+1] > most {
			parent, most = n, starts[n+1]
		}
	}
	for n := range threads {
		if runs[n+1] && n != parent {
			children = append(children, n)
		}
	}
	return parent, children
}

// addHost adds the nodes of all threads.
func (g *Graph) addHost(s *Source, threads []thread, main int) {
	segments := 0
	for i := range threads {
		segments += len(threads[i].segments)
	}
	g.reserve(segments + segments/32 + s.T.Activities.Len() + 1000)
	parent, turns := s.turns(threads, main)
	isIter := Named(s.T, func(n string) bool { return strings.Contains(n, "MultiProcessingDataLoaderIter") })
	type pair struct {
		turn
		own, join int32
	}
	var waiting []pair
	for n := range threads {
		th, prev := &threads[n], None
		for j := range th.segments {
			x, end := &th.segments[j], th.until(j)
			class := s.hostClass(x.owner)
			add := func(start, end int64, flags uint8) int32 {
				prev = g.add(start, end, class, x.owner, prev, flags)
				return prev
			}
			x.node = int32(len(g.Nodes))
			if x.owner != None && isIter(s.Spans[x.owner].Name) && end-x.start > loaderOwn {
				add(x.start, x.start+loaderOwn, 0)
				add(end, end, IsArrival) // the batch comes from other processes at its own time
				g.Counts.Arrivals++
				g.Batches = append(g.Batches, prev)
				continue
			}
			at := x.start
			if n == parent {
				for ; len(turns) > 0 && turns[0].within <= j; turns = turns[1:] {
					p := turns[0]
					if p.within < j { // in a data loader
						continue
					}
					own := add(at, p.start, 0)
					waiting = append(waiting, pair{p, own, add(p.end, p.end, 0)})
					at = p.end
				}
			}
			if add(at, end, 0); x.owner != None && isIter(s.Spans[x.owner].Name) {
				g.Batches = append(g.Batches, prev)
			}
		}
		th.last = int32(len(g.Nodes)) - 1
	}
	for _, p := range waiting {
		child := &threads[p.child]
		first := child.segments[p.first].node
		g.Nodes[first].Pred, g.Nodes[first].First = None, None
		g.link(p.own, first, 0, Handoff)
		g.link(child.lastNode(p.last), p.join, 0, Handoff)
	}
	for i := range s.Spans {
		if x := &s.Spans[i]; x.first != None {
			x.first = threads[x.Thread].segments[x.first].node
		}
	}
}
