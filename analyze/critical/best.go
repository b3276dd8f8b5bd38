package critical

import (
	"cmp"
	"regexp"
	"slices"

	"assay/analyze/critical/change"
	"assay/trace"
)

// A Trial is a change with its forecast for one step.
type Trial struct {
	Change change.Change
	Forecast
}

// mostTrials is how many changes are replayed at most to find those that pay most.
const mostTrials = 11

// Best returns the single changes that pay most for the step, each alone, the best first. What a
// change takes from the critical path limits what it can give, so those that take little are not
// replayed. A change that follows another with the same effect is left out.
func (r *Replayer) Best(most int) []Trial {
	if r.path.Verdict.Level == Abstain {
		return nil
	}
	var out []Trial
	for n, x := range candidates(r.g, r.path) {
		if n == mostTrials || len(out) >= most && x.most < out[most-1].Measured-out[most-1].Forecast.Forecast {
			break
		}
		f, ok := r.try(x.change)
		if !ok || f.Forecast >= f.Measured && f.Verdict.Level != Abstain {
			continue
		}
		if slices.ContainsFunc(out, func(o Trial) bool { return o.Forecast.Forecast == f.Forecast && o.Classes == f.Classes }) {
			continue
		}
		out = append(out, Trial{x.change, f})
		slices.SortStableFunc(out, func(a, b Trial) int { return cmp.Compare(a.Forecast.Forecast, b.Forecast.Forecast) })
	}
	return out[:min(most, len(out))]
}

// Each returns the forecasts of changes, each alone. Changes that change nothing are left out.
func (r *Replayer) Each(list []change.Change) (out []Trial) {
	if r.path.Verdict.Level == Abstain {
		return nil
	}
	for _, c := range list {
		if c.Kind == "pinned" {
			c = r.g.Copies.pinned()
		}
		if class := ofClass(c); class < Classes && 100*r.path.Classes[class] < r.path.Window.Len() {
			continue // little of the path
		}
		if f, ok := r.try(c); ok {
			out = append(out, Trial{c, f})
		}
	}
	return out
}

// ofClass returns the class whose work a change takes away, or Classes if it is not about one.
func ofClass(c change.Change) Class {
	if c.Kind == "hide-comm" || c.Kind == "early" {
		return Comm
	}
	for k := range Classes {
		if c.Value == "class:"+k.String()+"=0" {
			return k
		}
	}
	return Classes
}

// A Replayer makes forecasts of one step.
type Replayer struct {
	g     *Graph
	path  *Path
	step  int
	order []stretch // the nodes that the step depends on, and those before it
	tried map[change.Change]Trial

	without Range // the step without the profiler
}

// NewReplayer returns a replayer of step i of a graph.
func NewReplayer(g *Graph, paths []Path, i int) *Replayer {
	r := &Replayer{g: g, path: &paths[i], step: i, tried: make(map[change.Change]Trial)}
	var steps []int
	for k := range i + 1 {
		if g.Steps[k].rank == g.Steps[i].rank {
			steps = append(steps, k)
		}
	}
	r.order = needed(g, steps)
	r.without = g.without([]int{i}, r.order)
	return r
}

// try returns the forecast of one change, and reports whether it changes anything.
func (r *Replayer) try(c change.Change) (Forecast, bool) {
	if f, ok := r.tried[c]; ok {
		return f.Forecast, ok
	}
	list := []change.Change{c}
	rule, changes, err := r.g.apply(list)
	if err != nil || !changes {
		return Forecast{}, false
	}
	t := r.g.replayInto(r.g.scratch, rule, false, r.order)
	f := r.g.forecast(&t, r.path, r.step, r.path.Window.Len(), r.g.lengths(&t)[r.step], list)
	f.OfComm = r.g.changing.ofComm()
	r.g.Copies.doubt(&f.Verdict, c)
	r.g.ofRecording(&f.Verdict, r.without, f.Measured, f.events, f.Forecast)
	r.tried[c] = Trial{c, f}
	return f, true
}

// A candidate is a change with the most that it can take from a critical path, in ns.
type candidate struct {
	change change.Change
	most   int64
}

// candidates returns the changes that may make a step shorter, those that can take most from its
// path first. Those that cannot take a hundredth of it are left out.
func candidates(g *Graph, p *Path) (out []candidate) {
	half := func(kind, value string, ns int64) {
		if ns/2 >= p.Window.Len()/100 {
			out = append(out, candidate{ask(kind, value), ns / 2})
		}
	}
	host := int64(0)
	for _, c := range []Class{HostOp, Python, HostGap, Runtime, DataLoader, Compute, Comm, Copy} {
		half("scale", twiceAs(c), p.Classes[c])
		if c <= Runtime {
			host += p.Classes[c]
		}
	}
	half("host", "2x", host)
	half("launch", "0.5", p.Classes[Runtime]+p.Classes[LaunchDelay])
	half("gap", "0.5", p.Classes[KernelGap])
	captured := p.Classes[HostOp] + p.Classes[Runtime] + p.Classes[LaunchDelay]
	if p.Step != WholeTrace && 2*g.Counts.Graphs < g.Counts.Launches && captured >= p.Window.Len()/100 {
		out = append(out, candidate{ask("graph", ""), captured})
	}
	kernels, ops, syncs := namesOn(g, p)
	for _, name := range top(kernels) {
		half("scale", twiceAsFast(name), kernels[name])
	}
	for _, name := range top(ops) {
		half("scale", "op~^"+regexp.QuoteMeta(name)+"$=0.5", ops[name])
	}
	if syncs { // without a wait, all work before it can run at the same time as the host
		out = append(out, candidate{ask("remove", "sync~."), p.Window.Len()}, candidate{g.Copies.pinned(), p.Window.Len()})
	}
	slices.SortStableFunc(out, func(a, b candidate) int { return cmp.Compare(b.most, a.most) })
	return out
}

// namesOn returns the time on a path of kernels and of operators, those around others included, by
// name, and whether the path leads through the end of a wait.
func namesOn(g *Graph, p *Path) (kernels, ops map[string]int64, syncs bool) {
	within, works := make(map[ranked]int64), make(map[ranked]int64)
	last := none // the node of the piece before
	g.Each(p, func(x Piece) {
		n := &g.nodes[x.node]
		if !x.delay && n.flags&isGPU != 0 {
			works[ranked{g.work(x.node).a.Name, n.rank}] += x.Span.Len()
		}
		syncs = syncs || x.delay && (x.kind == sync || x.kind == syncGuess || x.kind == staged) || n.flags&isGPU != 0 && last != none && g.nodes[last].flags&isGPU == 0
		last = x.node
		if x.class > Runtime {
			return
		}
		src := g.ranks[n.rank]
		var seen [8]trace.Sym
		for s, k := g.spanOf(x.node), 0; s != nil && s.op != none && k < len(seen); k++ {
			s = &src.spans[s.op]
			if seen[k] = s.name; !slices.Contains(seen[:k], s.name) {
				within[ranked{s.name, n.rank}] += x.Span.Len()
			}
			s = src.parent(s)
		}
	})
	return g.byName(works), g.byName(within), syncs
}
