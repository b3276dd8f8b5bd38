package critical

import (
	"slices"
	"strings"

	"assay/internal/label"
	"assay/trace"
)

// A ranked is a name in the trace of a rank.
type ranked struct {
	name trace.Sym
	rank uint16
}

// A tally has times by rank and name.
type tally [][]int64

func (t tally) add(g *Graph, name trace.Sym, rank uint16, ns int64) {
	if t[rank] == nil {
		t[rank] = make([]int64, g.ranks[rank].t.Names())
	}
	t[rank][name] += ns
}

// byName adds up what the ranks have of each name.
func (g *Graph) byName(sums tally) map[string]int64 {
	out := make(map[string]int64)
	for rank, of := range sums {
		for name, ns := range of {
			if ns > 0 {
				out[g.ranks[rank].t.Name(trace.Sym(name))] += ns
			}
		}
	}
	return out
}

// Sums are the times of a path by name, in ns.
type Sums struct {
	Operators map[string]int64 // each piece for its [Graph.Label]
	Kernels   map[string]int64 // of GPU work
	Ranks     map[int]int64    // by the number of the rank
	Modules   map[string]int64 // by the path of the innermost module, also of backward passes
	Phases    map[string]int64 // by the path of the innermost phase
}

// SumsOf returns the times of a path by name.
func (g *Graph) SumsOf(p *Path) Sums {
	ops, kernels := make(tally, len(g.ranks)), make(tally, len(g.ranks))
	var classes [Classes]int64
	ranks := make([]int64, len(g.ranks))
	modules := make([]map[int32]int64, len(g.ranks)) // by span
	phases, phase, inPhase := make(map[string]int64), "", int64(0)
	g.Each(p, func(x Piece) {
		n, ns := &g.nodes[x.node], x.Span.Len()
		if name, rank, ok := g.operatorOf(&x); ok {
			ops.add(g, name, rank, ns)
		} else {
			classes[x.class] += ns
		}
		if !x.delay && n.flags&isGPU != 0 {
			kernels.add(g, g.work(x.node).a.Name, n.rank, ns)
		}
		ranks[n.rank] += ns
		src := g.ranks[n.rank]
		span, at := n.owner, x.Span.Start+src.offset
		if n.flags&isGPU != 0 {
			l := g.launchOf(x.node)
			if l == nil {
				return // no module and no phase is known
			}
			span, at = l.span, src.spans[l.span].start
		}
		if src.phase != nil {
			if now := src.phase(at); now != phase { // few pieces change it
				phases[phase] += inPhase
				phase, inPhase = now, 0
			}
			inPhase += ns
		}
		if span != none && src.forward != nil {
			if modules[n.rank] == nil {
				modules[n.rank] = make(map[int32]int64)
			}
			modules[n.rank][span] += ns
		}
	})
	phases[phase] += inPhase
	delete(phases, "")
	out := Sums{g.byName(ops), g.byName(kernels), make(map[int]int64, len(ranks)), make(map[string]int64), phases}
	for c, ns := range classes {
		if ns > 0 {
			out.Operators["("+Class(c).String()+")"] += ns
		}
	}
	for i, ns := range ranks {
		if ns > 0 {
			out.Ranks[g.ranks[i].rank] += ns
		}
		for span, ns := range modules[i] {
			if path := g.ranks[i].moduleOf(span); path != "" {
				out.Modules[path] += ns
			}
		}
	}
	return out
}

// findModules finds the operators of forward passes by sequence number, if the trace has modules. Numbers only
// grow, so the last operator with a number created the node of the backward pass.
func (s *source) findModules() {
	s.isModule = make([]bool, s.t.Names())
	for i := range s.isModule {
		s.isModule[i] = label.IsModule(s.t.Name(trace.Sym(i)))
	}
	if !slices.Contains(s.isModule, true) {
		return
	}
	low, high, n := ^trace.ID(0), trace.ID(0), 0
	of := func(x *span) bool { return x.kind == trace.CPUOp && x.corr != 0 && !x.backward }
	for i := range s.spans {
		if x := &s.spans[i]; of(x) {
			low, high, n = min(low, x.corr), max(high, x.corr), n+1
		}
	}
	s.forward = newByID(low, high, n)
	for i := range s.spans {
		if x := &s.spans[i]; of(x) {
			s.forward.set(x.corr, int32(i))
		}
	}
}

// moduleOf returns the names of the modules around an event, itself included, separated by slashes, or "". An
// operator of a backward pass belongs to the module of its forward operator.
func (s *source) moduleOf(span int32) string {
	var parts []string
	back := none
	for i := span; i != none; i = s.spans[i].parent {
		x := &s.spans[i]
		if x.kind == trace.Python && s.isModule[x.name] {
			parts = append(parts, strings.ReplaceAll(strings.TrimPrefix(s.t.Name(x.name), label.ModulePrefix), "/", "_"))
		} else if x.backward && back == none {
			back = s.forward.get(x.corr)
		}
	}
	if len(parts) == 0 && back != none {
		return s.moduleOf(back)
	}
	slices.Reverse(parts)
	return strings.Join(parts, "/")
}
