package forecast

import (
	"cmp"
	"regexp"
	"slices"

	"assay/analyze/critical"
	"assay/analyze/critical/change"
	"assay/analyze/critical/graph"
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
func (r *Replayer) Best() (out []Trial) {
	if r.path.Verdict.Level == critical.Abstain {
		return nil
	}
	list := candidates(r.g, r.path)
	for _, x := range r.try(list[:min(len(list), mostTrials)]) {
		if x.Forecast.Forecast >= x.Measured && x.Verdict.Level != critical.Abstain {
			continue
		}
		if !slices.ContainsFunc(out, func(o Trial) bool { return o.Forecast.Forecast == x.Forecast.Forecast && o.Classes == x.Classes }) {
			out = append(out, x)
		}
	}
	slices.SortStableFunc(out, func(a, b Trial) int { return cmp.Compare(a.Forecast.Forecast, b.Forecast.Forecast) })
	return out
}

// Each returns the forecasts of changes, each alone. Changes that change nothing are left out.
func (r *Replayer) Each(list []change.Change) []Trial {
	if r.path.Verdict.Level == critical.Abstain {
		return nil
	}
	var asked []change.Change
	for _, c := range list {
		if c.Kind == "pinned" {
			c = r.g.Copies.pinned()
		}
		if class := ofClass(c); class < graph.Classes && 100*r.path.Classes[class] < r.path.Window.Len() {
			continue // little of the path
		}
		asked = append(asked, c)
	}
	return r.try(asked)
}

// ofClass returns the class whose work a change takes away, or Classes if it is not about one.
func ofClass(c change.Change) graph.Class {
	if c.Kind == "hide-comm" || c.Kind == "early" {
		return graph.Comm
	}
	for k := range graph.Classes {
		if c.Value == "class:"+k.String()+"=0" {
			return k
		}
	}
	return graph.Classes
}

// A Replayer makes forecasts of one step.
type Replayer struct {
	g     *Model
	paths []critical.Path
	path  *critical.Path // of the step
	step  int
	order []critical.Run              // the nodes that the step depends on, and those before it
	tried map[change.Change]*Forecast // nil for those that change nothing

	without Range // the step without the profiler
}

// NewReplayer returns a replayer of step i of a graph.
func NewReplayer(g *Model, paths []critical.Path, i int) *Replayer {
	r := &Replayer{g: g, paths: paths, path: &paths[i], step: i, tried: make(map[change.Change]*Forecast)}
	var steps []int
	for k := range i + 1 {
		if g.Steps[k].Rank == g.Steps[i].Rank {
			steps = append(steps, k)
		}
	}
	r.order = critical.Needed(g.Program, steps)
	r.without = g.without([]int{i}, r.order)
	return r
}

// try returns the forecasts of changes, each alone, of those that change anything.
func (r *Replayer) try(list []change.Change) (out []Trial) {
	fresh := slices.DeleteFunc(slices.Clone(list), func(c change.Change) bool { _, ok := r.tried[c]; return ok })
	found := make([]*Forecast, len(fresh))
	r.g.replayEach(fresh, r.order, func(i int, c *changing, t *critical.Times) {
		f := r.g.forecast(t, r.path, r.step, r.path.Window.Len(), r.g.Lengths(t)[r.step], fresh[i:i+1])
		f.OfComm = c.ofComm()
		r.g.Copies.doubt(&f.Verdict, fresh[i])
		r.g.ofRecording(&f.Verdict, r.without, f.Measured, f.events, f.Forecast)
		found[i] = &f
	})
	for i, c := range fresh {
		r.tried[c] = found[i]
	}
	for _, c := range list {
		if f := r.tried[c]; f != nil {
			out = append(out, Trial{c, *f})
		}
	}
	return out
}

// A candidate is a change with the most that it can take from a critical path, in ns.
type candidate struct {
	change change.Change
	most   int64
}

// candidates returns the changes that may make a step shorter, those that can take most from its
// path first. Those that cannot take a hundredth of it are left out.
func candidates(g *Model, p *critical.Path) (list []change.Change) {
	var out []candidate
	half := func(kind, value string, ns int64) {
		if ns/2 >= p.Window.Len()/100 {
			out = append(out, candidate{ask(kind, value), ns / 2})
		}
	}
	host := int64(0)
	for _, c := range []graph.Class{graph.HostOp, graph.Python, graph.HostGap, graph.Runtime, graph.DataLoader, graph.Compute, graph.Comm, graph.Copy} {
		half("scale", twiceAs(c), p.Classes[c])
		if c <= graph.Runtime {
			host += p.Classes[c]
		}
	}
	half("host", "2x", host)
	half("launch", "0.5", p.Classes[graph.Runtime]+p.Classes[graph.LaunchDelay])
	half("gap", "0.5", p.Classes[graph.KernelGap])
	captured := p.Classes[graph.HostOp] + p.Classes[graph.Runtime] + p.Classes[graph.LaunchDelay]
	if p.Step != graph.WholeTrace && 2*g.Counts.Graphs < g.Counts.Launches && captured >= p.Window.Len()/100 {
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
	for _, x := range out {
		list = append(list, x.change)
	}
	return list
}

// namesOn returns the time on a path of kernels and of operators, those around others included, by
// name, and whether the path leads through the end of a wait.
func namesOn(g *Model, p *critical.Path) (kernels, ops map[string]int64, syncs bool) {
	within, works := make(critical.Tally, len(g.Ranks)), make(critical.Tally, len(g.Ranks))
	last := graph.None // the node of the piece before
	g.Each(p, func(x critical.Piece) {
		n := &g.Nodes[x.Node]
		if !x.Delay && n.Flags&graph.IsGPU != 0 {
			works.Add(g.Program, g.Work(x.Node).A.Name, n.Rank, x.Span.Len())
		}
		syncs = syncs || x.Delay && (x.Kind == graph.Sync || x.Kind == graph.SyncGuess || x.Kind == graph.Staged) || n.Flags&graph.IsGPU != 0 && last != graph.None && g.Nodes[last].Flags&graph.IsGPU == 0
		last = x.Node
		if x.Class > graph.Runtime {
			return
		}
		src := g.Ranks[n.Rank]
		var seen [8]trace.Sym
		for s, k := g.SpanOf(x.Node), 0; s != nil && s.Op != graph.None && k < len(seen); k++ {
			s = &src.Spans[s.Op]
			if seen[k] = s.Name; !slices.Contains(seen[:k], s.Name) {
				within.Add(g.Program, s.Name, n.Rank, x.Span.Len())
			}
			s = src.Parent(s)
		}
	})
	return g.ByName(works), g.ByName(within), syncs
}
