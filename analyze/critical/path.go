package critical

import (
	"slices"
	"sync"

	"assay/analyze/critical/graph"
	"assay/internal/interval"
	"assay/trace"
)

// A Program is a graph whose paths can be followed, and whose times can be computed anew.
type Program struct {
	*graph.Graph
	Plan     []Run    // the nodes in the order of replays
	Scratch  []int64  // starts, for replays
	unmarked []uint16 // the flags of a rule that changes nothing
	origin   int64    // the first start

	transfers   []transfer // see Sent
	findSending sync.Once
	sending     map[[2]int32]int64 // by rank and stream: ns of communication less those of other work
}

// New returns the program of a graph.
func New(g *graph.Graph) *Program {
	g.Finish()
	p := &Program{Graph: g, Scratch: make([]int64, len(g.Nodes)), unmarked: make([]uint16, len(g.Nodes))}
	if len(g.Start) > 0 {
		p.origin = slices.Min(g.Start)
	}
	p.Plan = p.stretches(g.Order)
	return p
}

// A Piece is a part of a critical path.
type Piece struct {
	Span interval.Span

	Node  int32 // the node whose time or wait it is
	Class graph.Class
	Kind  graph.Kind // of the edge that the piece is the delay of
	Delay bool       // the piece is a delay, not the time of a node
}

// Times has the start and the duration of every node, as measured or as replayed.
type Times struct {
	start, dur []int64
	rule       *Rule // of the change; nil as measured
}

// Measured returns the times of the trace.
func (g *Program) Measured() Times { return Times{start: g.Start, dur: g.Dur} }

// Loads reports whether batches come at other times than measured.
func (t *Times) Loads() bool { return t.rule != nil && len(t.rule.Arrivals) > 0 }

func (t *Times) End(v int32) int64 { return min(t.start[v]+t.dur[v], 2*graph.Far) }

func (t *Times) from(src int32, k graph.Kind) int64 {
	if k.FromEnd() {
		return t.End(src)
	}
	return t.start[src]
}

// An hop is the edge over which a path goes back.
type hop struct {
	src  int32
	kind graph.Kind
	typ  int64
}

// hop returns the binding edge of v, or one with src none where the path begins. arrival reports
// whether nothing in the graph made v start.
func (g *Program) hop(t *Times, v int32) (h hop, arrival bool) {
	n := &g.Nodes[v]
	if n.Pred == graph.None && n.First == graph.None {
		return hop{src: graph.None}, false
	}
	if t.rule != nil {
		best, at := t.rule.latest(g, t, v)
		return best, n.Flags&graph.IsArrival != 0 && t.start[v] > at
	}
	for e := n.First; e != graph.None; e = g.Extra[e].Next {
		if x := &g.Extra[e]; x.Binds {
			return hop{x.Src, x.Kind, x.Typ}, false
		}
	}
	arrival = n.Flags&graph.IsArrival != 0 && g.Start[v] > g.End(n.Pred)
	return hop{n.Pred, g.ChainKind(v), g.Typ(v)}, arrival
}

var classOfDelay = [graph.Kinds]graph.Class{graph.Program: graph.HostGap, graph.Handoff: graph.HostGap, graph.Launch: graph.LaunchDelay, graph.Stream: graph.KernelGap, graph.Event: graph.KernelGap,
	graph.EventGuess: graph.KernelGap, graph.Sync: graph.SyncReturn, graph.SyncGuess: graph.SyncReturn, graph.Free: graph.Runtime, graph.Staged: graph.Copy, graph.Queue: graph.SyncReturn, graph.Collective: graph.Comm}

// Walk calls f with the pieces of the critical path from t0 to the end of a node, latest piece first.
// The pieces partition the time.
func (g *Program) Walk(t *Times, last int32, t0 int64, f func(Piece)) {
	v, at := last, t.End(last)
	piece := func(to int64, class graph.Class, k graph.Kind, delay bool) {
		if to = max(to, t0); to < at {
			f(Piece{interval.Span{Start: to, End: at}, v, class, k, delay})
			at = to
		}
	}
	for at > t0 {
		if t.dur[v] > 0 {
			piece(t.start[v], g.Nodes[v].Class, graph.Program, false)
		}
		if n := &g.Nodes[v]; n.InProgramOrder() && t.start[v] == t.End(n.Pred) {
			v = n.Pred
			continue
		}
		h, arrival := g.hop(t, v)
		if h.src == graph.None {
			break
		}
		from := t.from(h.src, h.kind)
		if arrival {
			piece(from, graph.DataLoader, h.kind, true)
		}
		if lag := t.start[v] - from; lag > h.typ+graph.Jitter && h.kind != graph.Free && h.kind != graph.Staged {
			piece(t.start[v]-(lag-h.typ), graph.Unexplained, h.kind, true)
		}
		class := classOfDelay[h.kind]
		if h.kind == graph.Launch { // within the launch call it is the call, then delay
			if x := g.HostSpan(h.src); x != nil {
				piece(from+max(0, x.End-x.Start), class, h.kind, true)
				class = graph.Runtime
			}
		}
		piece(from, class, h.kind, true)
		v = h.src
	}
	piece(t0, graph.Unexplained, graph.Program, true)
}

// HostSpan returns the span of a node of the host, or nil.
func (g *Program) HostSpan(v int32) *graph.Span {
	if n := &g.Nodes[v]; n.Flags&graph.IsGPU == 0 && n.Owner != graph.None {
		return &g.Ranks[n.Rank].Spans[n.Owner]
	}
	return nil
}

// operatorOf returns the name that a piece is counted for in a table of operators, and of which rank:
// of an operator, or of the node itself. It has none if the piece is counted for its class.
func (g *Program) operatorOf(p *Piece) (name trace.Sym, rank uint16, ok bool) {
	n := &g.Nodes[p.Node]
	switch p.Class {
	case graph.HostOp, graph.Runtime, graph.Python, graph.Compute, graph.Comm, graph.Copy:
	default:
		return 0, 0, false
	}
	src := g.Ranks[n.Rank]
	if s := g.SpanOf(p.Node); s != nil && s.Op != graph.None {
		return src.Spans[s.Op].Name, n.Rank, true
	}
	switch {
	case n.Flags&graph.IsGPU != 0:
		return g.Work(p.Node).A.Name, n.Rank, true
	case n.Owner != graph.None:
		return src.Spans[n.Owner].Name, n.Rank, true
	}
	return 0, 0, false
}

// Label returns what a piece is counted for in a table of operators: an operator, a name, or its
// class in parentheses.
func (g *Program) Label(p *Piece) string {
	if name, rank, ok := g.operatorOf(p); ok {
		return g.Ranks[rank].T.Name(name)
	}
	return "(" + p.Class.String() + ")"
}

// A Path is the critical path of one step.
type Path struct {
	Step    string
	Rank    int           // in the order of [Join]
	Window  interval.Span // from the end of the step before, or the step's start, to its end
	Classes [graph.Classes]int64
	Last    int32 // the node with which the step ends

	Inferred   int64 // ns of delays of edges that are inferred
	Unlaunched int64 // ns of GPU work whose launch is not in the trace
	Unrecorded int64 // ns in which the host waited for the GPU, although no call of the trace tells
	Exact      int64 // ns: length of the step in an unchanged replay
	Explained  int64 // ns: its length if all delays were typical

	Verdict Verdict

	pieces int // how many there are
}

// Paths returns the critical path of each step.
func (g *Program) Paths() []Path {
	t := g.Measured()
	strict := g.ReplayInto(g.Scratch, nil, true, g.Plan)
	exactly, strictly := g.Lengths(&t), g.Lengths(&strict) // see [graph.Graph.Finish]
	prev := make(map[int]int64)
	out := make([]Path, 0, len(g.Steps))
	for i, s := range g.Steps {
		last := s.Ends[0]
		for _, v := range s.Ends {
			if e, f := t.End(v), t.End(last); e > f || e == f && v > last {
				last = v
			}
		}
		t0, ok := prev[s.Rank]
		if !ok {
			t0 = s.Start
		}
		end := max(t0, t.End(last)) // work of the step before may end later
		prev[s.Rank] = end
		p := Path{Step: s.Name, Rank: s.Rank, Window: interval.Span{Start: t0, End: end}, Last: last,
			Exact: exactly[i].Len(), Explained: strictly[i].Len()}
		g.Walk(&t, last, t0, func(x Piece) {
			p.pieces++
			n := x.Span.Len()
			p.Classes[x.Class] += n
			if x.Delay && x.Class != graph.Unexplained && x.Kind.Inferred() {
				p.Inferred += n
			}
			if x.Class <= graph.DataLoader {
				p.Unrecorded += g.UnrecordedWait(s.Rank, x.Span)
			}
			if x.Class.OnGPU() && g.Nodes[x.Node].Flags&graph.IsGPU != 0 && g.Work(x.Node).Call == graph.None {
				p.Unlaunched += n
			}
		})
		p.Verdict = g.verdict(&p)
		out = append(out, p)
	}
	return out
}

// Each calls f with the pieces of a path, the latest first. They partition its window.
func (g *Program) Each(p *Path, f func(x Piece)) {
	t := g.Measured()
	g.Walk(&t, p.Last, p.Window.Start, f)
}

// Pieces returns the pieces of a path, the latest first.
func (g *Program) Pieces(p *Path) []Piece {
	out := make([]Piece, 0, p.pieces)
	g.Each(p, func(x Piece) { out = append(out, x) })
	return out
}

// Lengths returns the time of each step: since the end of the step before, or since its own start.
func (g *Program) Lengths(t *Times) []interval.Span {
	prev := make(map[int]int64)
	out := make([]interval.Span, len(g.Steps))
	for i, s := range g.Steps {
		end := int64(-1 << 62)
		for _, v := range s.Ends {
			end = max(end, t.End(v))
		}
		from, ok := prev[s.Rank]
		if !ok {
			if from = s.Start; s.First != graph.None {
				from = t.start[s.First]
			}
		}
		end = max(end, from)
		out[i], prev[s.Rank] = interval.Span{Start: from, End: end}, end
	}
	return out
}
