package critical

import (
	"assay/analyze/critical/graph"
	"assay/trace"
)

// A Tally has times by rank and name.
type Tally [][]int64

func (t Tally) Add(g *Program, name trace.Sym, rank uint16, ns int64) {
	if t[rank] == nil {
		t[rank] = make([]int64, g.Ranks[rank].T.Names())
	}
	t[rank][name] += ns
}

// ByName adds up what the ranks have of each name.
func (g *Program) ByName(sums Tally) map[string]int64 {
	out := make(map[string]int64)
	for rank, of := range sums {
		for name, ns := range of {
			if ns > 0 {
				out[g.Ranks[rank].T.Name(trace.Sym(name))] += ns
			}
		}
	}
	return out
}

// Sums are the times of a path by name, in ns.
type Sums struct {
	Operators map[string]int64 // each piece for its [Program.Label]
	Kernels   map[string]int64 // of GPU work
	Ranks     map[int]int64    // by the number of the rank
	Modules   map[string]int64 // by the path of the innermost module, also of backward passes
	Phases    map[string]int64 // by the path of the innermost phase
}

// SumsOf returns the times of a path by name.
func (g *Program) SumsOf(p *Path) Sums {
	ops, kernels := make(Tally, len(g.Ranks)), make(Tally, len(g.Ranks))
	var classes [graph.Classes]int64
	ranks := make([]int64, len(g.Ranks))
	modules := make([]map[int32]int64, len(g.Ranks)) // by span of the innermost
	phases, phase, inPhase := make(map[string]int64), "", int64(0)
	g.Each(p, func(x Piece) {
		n, ns := &g.Nodes[x.Node], x.Span.Len()
		if name, rank, ok := g.operatorOf(&x); ok {
			ops.Add(g, name, rank, ns)
		} else {
			classes[x.Class] += ns
		}
		if !x.Delay && n.Flags&graph.IsGPU != 0 {
			kernels.Add(g, g.Work(x.Node).A.Name, n.Rank, ns)
		}
		ranks[n.Rank] += ns
		src := g.Ranks[n.Rank]
		span, at := n.Owner, x.Span.Start+src.Offset
		if n.Flags&graph.IsGPU != 0 {
			l := g.LaunchOf(x.Node)
			if l == nil {
				return // no module and no phase is known
			}
			span, at = l.Span, src.Spans[l.Span].Start
		}
		if src.Phase != nil {
			if now := src.Phase(at); now != phase { // few pieces change it
				phases[phase] += inPhase
				phase, inPhase = now, 0
			}
			inPhase += ns
		}
		if span != graph.None && src.Forward != nil {
			if modules[n.Rank] == nil {
				modules[n.Rank] = make(map[int32]int64)
			}
			if m := src.Module(span); m != graph.None {
				modules[n.Rank][m] += ns
			}
		}
	})
	phases[phase] += inPhase
	delete(phases, "")
	out := Sums{g.ByName(ops), g.ByName(kernels), make(map[int]int64, len(ranks)), make(map[string]int64), phases}
	for c, ns := range classes {
		if ns > 0 {
			out.Operators["("+graph.Class(c).String()+")"] += ns
		}
	}
	for i, ns := range ranks {
		if ns > 0 {
			out.Ranks[g.Ranks[i].Rank] += ns
		}
		for m, ns := range modules[i] {
			if path := g.Ranks[i].ModulePath(m); path != "" {
				out.Modules[path] += ns
			}
		}
	}
	return out
}
