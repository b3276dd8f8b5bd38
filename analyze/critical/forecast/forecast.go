package forecast

import (
	"cmp"
	"regexp"
	"slices"

	"assay/analyze/critical"
	"assay/analyze/critical/change"
	"assay/analyze/critical/graph"
	"assay/internal/interval"
)

// A Forecast is what changes would make of one step.
type Forecast struct {
	Step     string
	Rank     int
	Measured int64                // ns
	Fitted   int64                // ns: the step without the change and without the profiler, see [Model.FitTo]
	Forecast int64                // ns
	Classes  [graph.Classes]int64 // of the critical path of the changed step
	Verdict  critical.Verdict
	OfComm   bool  // work of communication is faster
	events   int64 // four times the events on the path whose recording takes time
}

// Forecast returns what the changes, taken together, would make of each step. It reports whether
// they change anything.
func (g *Model) Forecast(paths []critical.Path, list []change.Change) (out []Forecast, changes bool, err error) {
	r, changes, err := g.apply(list)
	if err != nil {
		return nil, false, err
	}
	was, base := g.Measured(), g.unaltered()
	t := g.ReplayInto(g.Scratch, r, false, g.Plan)
	before, fitted, after := g.Lengths(&was), g.Lengths(&base), g.Lengths(&t)
	for i := range g.Steps {
		f := g.forecast(&t, &paths[i], i, before[i].Len(), after[i], list)
		f.Fitted = fitted[i].Len()
		out = append(out, f)
	}
	if g.changing.differ > mostDiffer {
		for i := range out {
			out[i].Verdict.Add(critical.Warn, "how much longer a kernel takes than on the other rank differs by %.0f%% from call to call, "+
				"and ranks that differ by chance wait for each other longer than the forecast says", g.changing.differ)
		}
	}
	g.doubtRecording(list, out)
	return out, changes, nil
}

// forecast returns the forecast of one step after a replay.
func (g *Model) forecast(t *critical.Times, p *critical.Path, i int, before int64, after interval.Span, list []change.Change) Forecast {
	s := &g.Steps[i]
	f := Forecast{Step: s.Name, Rank: s.Rank, Measured: before, Forecast: after.Len(), Verdict: g.changed(p, list)}
	f.Classes, f.events = g.classesAfter(t, i, after)
	if slices.ContainsFunc(list, func(c change.Change) bool { return c.Kind == "graph" }) && g.waitsInside(s) {
		f.Verdict.First(critical.Warn, "the CPU waits for the GPU between the launches of the step, which one graph cannot hold")
	}
	host := int64(0)
	for c := graph.HostOp; c <= graph.LaunchDelay; c++ {
		host += f.Classes[c]
	}
	if share := graph.Percent(host, f.Forecast); share > critical.MuchOfStep && slices.ContainsFunc(list, func(c change.Change) bool { return c.Kind == "fuse" }) {
		f.Verdict.Add(critical.Warn, "%.0f%% of the changed path is the CPU, and what launches the fused work there is taken to be as for one of the works", share)
	}
	g.ofBatches(&f.Verdict, t, p, f.Forecast)
	g.ofOthers(&f.Verdict, graph.Percent(p.Classes[graph.Comm], p.Window.Len()), graph.Percent(f.Classes[graph.Comm], f.Forecast))
	return f
}

// classesAfter returns the classes of the critical path of step i after a replay, and four times the events on it.
func (g *Model) classesAfter(t *critical.Times, i int, after interval.Span) (out [graph.Classes]int64, events int64) {
	ends := g.Steps[i].Ends
	last := ends[0]
	for _, v := range ends {
		if t.End(v) > t.End(last) {
			last = v
		}
	}
	on := g.recording()
	g.Walk(t, last, after.Start, func(p critical.Piece) {
		if out[p.Class] += p.Span.Len(); !p.Delay {
			events += int64(on[p.Node])
		}
	})
	return out, events
}

// ofOthers warns if a change lets communication of one rank decide when the step ends: it has the time
// that it waited for the others. It takes the share of communication before and after, in percent.
func (g *Model) ofOthers(v *critical.Verdict, before, after float64) {
	if len(g.Ranks) == 1 && after > critical.MostComm && before <= critical.MostComm {
		v.Add(critical.Warn, "after the change %.1f%% of the path is communication, which includes waiting for other ranks; give all ranks", after)
	}
}

// A Gain is what a single change would give over all steps.
type Gain struct {
	Change        change.Change
	Before, After int64 // ns, all steps
	Verdict       critical.Verdict
	OfComm        bool // work of communication is faster
}

// topNames is how many kernels, and how many operators, a sweep asks about.
const topNames = 10

// Sweep tries every single change that is worth asking about, and returns those that make the
// chosen steps shorter, largest first.
func (g *Model) Sweep(paths []critical.Path, chosen []int) (out []Gain) {
	sound := slices.DeleteFunc(slices.Clone(chosen), func(i int) bool { return paths[i].Verdict.Level == critical.Abstain })
	if len(sound) > 0 {
		chosen = sound // a step whose path is withheld says nothing of a change
	}
	if len(chosen) == 0 {
		return nil
	}
	total := func(all []interval.Span) (sum int64) { // of the chosen steps
		for _, i := range chosen {
			sum += all[i].Len()
		}
		return sum
	}
	was := g.unaltered()
	before := total(g.Lengths(&was))
	without := g.without(chosen, g.Plan)
	comm := int64(0)
	for _, i := range chosen {
		comm += paths[i].Classes[graph.Comm]
	}
	asks := g.asks()
	gains := make([]*Gain, len(asks))
	g.replayEach(asks, g.Plan, func(i int, c *changing, t *critical.Times) {
		all := g.Lengths(t)
		if after := total(all); after < before {
			var rest, events int64
			for _, i := range chosen {
				if len(g.Ranks) == 1 {
					classes, on := g.classesAfter(t, i, all[i])
					rest, events = rest+classes[graph.Comm], events+on
				}
			}
			v := g.worst(paths, chosen, asks[i:i+1])
			for _, i := range chosen {
				g.ofBatches(&v, t, &paths[i], all[i].Len())
			}
			g.ofOthers(&v, graph.Percent(comm, before), graph.Percent(rest, after))
			g.Copies.doubt(&v, asks[i])
			g.ofRecording(&v, without, before, events, after)
			gains[i] = &Gain{asks[i], before, after, v, c.ofComm()}
		}
	})
	for _, x := range gains {
		if x != nil {
			out = append(out, *x)
		}
	}
	slices.SortStableFunc(out, func(a, b Gain) int { return cmp.Compare(a.After, b.After) })
	return out
}

// worst returns the verdict on the forecast of the chosen step that can be trusted least.
func (g *Model) worst(paths []critical.Path, chosen []int, list []change.Change) (out critical.Verdict) {
	for k, i := range chosen {
		if v := g.changed(&paths[i], list); k == 0 || v.Level > out.Level {
			out = v
		}
	}
	return out
}

// asks returns the changes of a sweep.
func (g *Model) asks() (out []change.Change) {
	for _, c := range []graph.Class{graph.Compute, graph.Comm, graph.Copy, graph.HostOp, graph.Python, graph.HostGap, graph.Runtime, graph.DataLoader} {
		out = append(out, ask("scale", twiceAs(c)))
	}
	kernels, ops := make(map[string]int64), make(map[string]int64)
	for v := range g.Nodes {
		switch n := &g.Nodes[v]; {
		case n.Flags&graph.IsGPU != 0:
			kernels[g.Name(int32(v))] += g.Dur[v]
		case n.Class == graph.HostOp || n.Class == graph.Runtime:
			if op := g.Operator(int32(v)); op != "" {
				ops[op] += g.Dur[v]
			}
		}
	}
	for _, name := range top(kernels) {
		out = append(out, ask("scale", twiceAsFast(name)))
	}
	for _, name := range top(ops) {
		out = append(out, ask("scale", "op~^"+regexp.QuoteMeta(name)+"$=0.5"))
	}
	return append(out, ask("remove", "sync~."), ask("remove", "wait~."), ask("launch", "0.5"), ask("gap", "0.5"),
		g.Copies.pinned(), ask("host", "2x"))
}

func ask(kind, value string) change.Change { return change.Change{Kind: kind, Value: value} }

// top returns the names with the most time.
func top(sums map[string]int64) (out []string) {
	for name := range sums {
		out = append(out, name)
	}
	slices.SortFunc(out, func(a, b string) int { return cmp.Or(cmp.Compare(sums[b], sums[a]), cmp.Compare(a, b)) })
	return out[:min(len(out), topNames)]
}

func (c *changing) contend(string, float64) error {
	g := c.g
	comm := make([]interval.Builder, len(g.Ranks))
	c.each(true, func(v int32, n *graph.Node) {
		if n.Class == graph.Comm {
			comm[n.Rank].Add(interval.Span{Start: g.Start[v], End: g.End(v)})
		}
	})
	sets := make([]interval.Set, len(comm))
	for i := range comm {
		sets[i] = comm[i].Set()
	}
	type key struct {
		name, op string
		detail   [3]int64
	}
	groups := make(map[key]*[2][]int32) // alone; beside communication
	c.each(true, func(v int32, n *graph.Node) {
		if n.Class != graph.Compute || g.Dur[v] == 0 {
			return
		}
		src := g.Ranks[n.Rank]
		k := key{g.Name(v), g.Operator(v), src.T.Detail(g.Work(v).A.Detail).Grid}
		if groups[k] == nil {
			groups[k] = new([2][]int32)
		}
		beside := 0
		if 10*sets[n.Rank].Clip(interval.Span{Start: g.Start[v], End: g.End(v)}).Len() >= g.Dur[v] {
			beside = 1
		}
		groups[k][beside] = append(groups[k][beside], v)
	})
	for _, both := range groups {
		if len(both[0]) < 3 || len(both[1]) < 3 {
			continue
		}
		f := float64(g.middle(both[1])) / float64(max(1, g.middle(both[0])))
		if f > 1 && f <= 2 { // beyond 2 it is taken for different work of one name
			for _, v := range both[1] {
				c.scaleBy(v, 1/f)
			}
		}
	}
	return nil
}

// middle returns the median duration of nodes.
func (g *Model) middle(vs []int32) int64 {
	var durs []int64
	for _, v := range vs {
		durs = append(durs, g.Dur[v])
	}
	return graph.TypicalOf(durs, 1)
}
