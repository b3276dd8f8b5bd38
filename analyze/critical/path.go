package critical

import (
	"assay/internal/interval"
	"assay/trace"
)

// A Piece is a part of a critical path.
type Piece struct {
	Span interval.Span

	node  int32 // the node whose time or wait it is
	class Class
	kind  kind // of the edge that the piece is the delay of
	delay bool // the piece is a delay, not the time of a node
}

// Times has the start and the duration of every node, as measured or as replayed.
type times struct {
	start, dur []int64
	rule       *rule // of the change; nil as measured
}

// measured returns the times of the trace.
func (g *Graph) measured() times { return times{start: g.start, dur: g.dur} }

func (t *times) end(v int32) int64 { return min(t.start[v]+t.dur[v], 2*far) }

func (t *times) from(src int32, k kind) int64 {
	if k.fromEnd() {
		return t.end(src)
	}
	return t.start[src]
}

// An hop is the edge over which a path goes back.
type hop struct {
	src  int32
	kind kind
	typ  int64
}

// hop returns the binding edge of v, or one with src none where the path begins. arrival reports
// whether nothing in the graph made v start.
func (g *Graph) hop(t *times, v int32) (h hop, arrival bool) {
	n := &g.nodes[v]
	if n.pred == none && n.first == none {
		return hop{src: none}, false
	}
	if t.rule != nil {
		best, at := t.rule.latest(g, t, v)
		return best, n.flags&isArrival != 0 && t.start[v] > at
	}
	for e := n.first; e != none; e = g.extra[e].next {
		if x := &g.extra[e]; x.binds {
			return hop{x.src, x.kind, x.typ}, false
		}
	}
	arrival = n.flags&isArrival != 0 && g.start[v] > g.end(n.pred)
	return hop{n.pred, g.chainKind(v), g.typ(v)}, arrival
}

var classOfDelay = [kinds]Class{program: HostGap, handoff: HostGap, launch: LaunchDelay, stream: KernelGap, event: KernelGap,
	eventGuess: KernelGap, sync: SyncReturn, syncGuess: SyncReturn, free: Runtime, staged: Copy, queue: SyncReturn, collective: Comm}

// walk calls f with the pieces of the critical path from t0 to the end of a node, latest piece first.
// The pieces partition the time.
func (g *Graph) walk(t *times, last int32, t0 int64, f func(Piece)) {
	v, at := last, t.end(last)
	piece := func(to int64, class Class, k kind, delay bool) {
		if to = max(to, t0); to < at {
			f(Piece{interval.Span{Start: to, End: at}, v, class, k, delay})
			at = to
		}
	}
	for at > t0 {
		if t.dur[v] > 0 {
			piece(t.start[v], g.nodes[v].class, program, false)
		}
		if n := &g.nodes[v]; n.inProgramOrder() && t.start[v] == t.end(n.pred) {
			v = n.pred
			continue
		}
		h, arrival := g.hop(t, v)
		if h.src == none {
			break
		}
		from := t.from(h.src, h.kind)
		if arrival {
			piece(from, DataLoader, h.kind, true)
		}
		if lag := t.start[v] - from; lag > h.typ+jitter && h.kind != free && h.kind != staged {
			piece(t.start[v]-(lag-h.typ), Unexplained, h.kind, true)
		}
		class := classOfDelay[h.kind]
		if h.kind == launch { // within the launch call it is the call, then delay
			if x := g.hostSpan(h.src); x != nil {
				piece(from+max(0, x.end-x.start), class, h.kind, true)
				class = Runtime
			}
		}
		piece(from, class, h.kind, true)
		v = h.src
	}
	piece(t0, Unexplained, program, true)
}

// hostSpan returns the span of a node of the host, or nil.
func (g *Graph) hostSpan(v int32) *span {
	if n := &g.nodes[v]; n.flags&isGPU == 0 && n.owner != none {
		return &g.ranks[n.rank].spans[n.owner]
	}
	return nil
}

// operatorOf returns the name that a piece is counted for in a table of operators, and of which rank:
// of an operator, or of the node itself. It has none if the piece is counted for its class.
func (g *Graph) operatorOf(p *Piece) (name trace.Sym, rank uint16, ok bool) {
	n := &g.nodes[p.node]
	switch p.class {
	case HostOp, Runtime, Python, Compute, Comm, Copy:
	default:
		return 0, 0, false
	}
	src := g.ranks[n.rank]
	if s := g.spanOf(p.node); s != nil && s.op != none {
		return src.spans[s.op].name, n.rank, true
	}
	switch {
	case n.flags&isGPU != 0:
		return g.work(p.node).a.Name, n.rank, true
	case n.owner != none:
		return src.spans[n.owner].name, n.rank, true
	}
	return 0, 0, false
}

// Label returns what a piece is counted for in a table of operators: an operator, a name, or its
// class in parentheses.
func (g *Graph) Label(p *Piece) string {
	if name, rank, ok := g.operatorOf(p); ok {
		return g.ranks[rank].t.Name(name)
	}
	return "(" + p.class.String() + ")"
}

// A Path is the critical path of one step.
type Path struct {
	Step    string
	Rank    int           // in the order of [Join]
	Window  interval.Span // from the end of the step before, or the step's start, to its end
	Classes [Classes]int64
	Last    int32 // the node with which the step ends

	Inferred   int64 // ns of delays of edges that are inferred
	Unlaunched int64 // ns of GPU work whose launch is not in the trace
	Exact      int64 // ns: length of the step in an unchanged replay
	Explained  int64 // ns: its length if all delays were typical

	Verdict Verdict

	pieces int // how many there are
}

// Paths returns the critical path of each step.
func (g *Graph) Paths() []Path {
	g.finish()
	t := g.measured()
	g.scratch = make([]int64, len(g.nodes))
	strict := g.replayInto(g.scratch, nil, true, g.plan)
	exactly, strictly := g.lengths(&t), g.lengths(&strict) // see finish
	prev := make(map[int]int64)
	out := make([]Path, 0, len(g.Steps))
	for i, s := range g.Steps {
		last := s.ends[0]
		for _, v := range s.ends {
			if e, f := t.end(v), t.end(last); e > f || e == f && v > last {
				last = v
			}
		}
		t0, ok := prev[s.rank]
		if !ok {
			t0 = s.Start
		}
		end := max(t0, t.end(last)) // work of the step before may end later
		prev[s.rank] = end
		p := Path{Step: s.Name, Rank: s.rank, Window: interval.Span{Start: t0, End: end}, Last: last,
			Exact: exactly[i].Len(), Explained: strictly[i].Len()}
		g.walk(&t, last, t0, func(x Piece) {
			p.pieces++
			n := x.Span.Len()
			p.Classes[x.class] += n
			if x.delay && x.class != Unexplained && x.kind.inferred() {
				p.Inferred += n
			}
			if x.class.onGPU() && g.nodes[x.node].flags&isGPU != 0 && g.work(x.node).call == none {
				p.Unlaunched += n
			}
		})
		p.Verdict = g.verdict(&p)
		out = append(out, p)
	}
	return out
}

// Each calls f with the pieces of a path, the latest first. They partition its window.
func (g *Graph) Each(p *Path, f func(x Piece)) {
	t := g.measured()
	g.walk(&t, p.Last, p.Window.Start, f)
}

// Pieces returns the pieces of a path, the latest first.
func (g *Graph) Pieces(p *Path) []Piece {
	out := make([]Piece, 0, p.pieces)
	g.Each(p, func(x Piece) { out = append(out, x) })
	return out
}

// lengths returns the time of each step: since the end of the step before, or since its own start.
func (g *Graph) lengths(t *times) []interval.Span {
	prev := make(map[int]int64)
	out := make([]interval.Span, len(g.Steps))
	for i, s := range g.Steps {
		end := int64(-1 << 62)
		for _, v := range s.ends {
			end = max(end, t.end(v))
		}
		from, ok := prev[s.rank]
		if !ok {
			if from = s.Start; s.first != none {
				from = t.start[s.first]
			}
		}
		end = max(end, from)
		out[i], prev[s.rank] = interval.Span{Start: from, End: end}, end
	}
	return out
}
