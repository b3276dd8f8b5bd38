package forecast

import (
	"math"
	"slices"

	"assay/analyze/critical"
	"assay/analyze/critical/change"
	"assay/analyze/critical/graph"
	"assay/internal/profilercost"
	"assay/internal/unit"
	"assay/trace"
)

// A cost that is fitted to a measured step is at most recordMost, in ns.
const recordMost = 10_000

// The limits of what is said about the time of the profiler, in percent.
const (
	sameStep   = 3  // lengths of steps are the same
	mostOfStep = 25 // a forecast without it rests on how it is divided
)

// A Model makes forecasts for a program.
type Model struct {
	*critical.Program
	overlap  *float64  // see overlapped
	changing *changing // the changes of the latest forecast
	second   *changing // those of another at the same time
	cost     float64   // ns of recording an event, which forecasts are without
	light    []int64   // durations without it; see base
	lightAt  float64   // the cost that they are without
	quarters []uint8   // see recording
	fit      *Fit      // by which the cost was found

	Copies Copying // how fast copies are
}

// ModelOf returns the model of a program.
func ModelOf(p *critical.Program) *Model { return &Model{Program: p} }

// recording returns how much of the recording of events falls into each node, in quarters of an event: half of an
// event is spent around its start and half around its end, before and after. Frames of Python take little beside
// operators and calls.
func (g *Model) recording() []uint8 {
	if g.quarters != nil {
		return g.quarters
	}
	g.quarters = make([]uint8, len(g.Nodes))
	add := func(v int32, of *graph.Node) { // where a node of the same thread can take it
		if v < 0 || int(v) >= len(g.Nodes) || g.Nodes[v].Flags&(graph.IsGPU|graph.IsJoin|graph.IsArrival) != 0 || g.quarters[v] == math.MaxUint8 {
			return
		}
		n := &g.Nodes[v]
		if src := g.Ranks[of.Rank]; n.Rank == of.Rank && (n.Owner == graph.None || src.Spans[n.Owner].Thread == src.Spans[of.Owner].Thread) {
			g.quarters[v]++
		}
	}
	last := make([][]int32, len(g.Ranks)) // by span: its last node, plus 1
	for r, src := range g.Ranks {
		last[r] = make([]int32, len(src.Spans))
	}
	for v := range g.Nodes {
		n, v := &g.Nodes[v], int32(v)
		if n.Flags&(graph.IsGPU|graph.IsJoin) != 0 || n.Owner == graph.None || !g.Ranks[n.Rank].Kineto || g.Ranks[n.Rank].Spans[n.Owner].Kind == trace.Python {
			continue
		}
		if last[n.Rank][n.Owner] == 0 {
			add(v-1, n)
			add(v, n)
		}
		last[n.Rank][n.Owner] = v + 1
	}
	for _, of := range last {
		for _, next := range of {
			if next > 0 {
				add(next-1, &g.Nodes[next-1])
				add(next, &g.Nodes[next-1])
			}
		}
	}
	return g.quarters
}

// EventCost returns what recording an event takes PyTorch's profiler, by what the traces have of each.
func (g *Model) EventCost() profilercost.Cost { return g.Events }

// At makes forecasts for a program whose events cost a time each to record, in ns, if it runs without the profiler.
func (g *Model) At(cost float64) { g.cost = cost }

// base returns the durations of nodes without the cost of recording. What a node is too short for is taken from
// those that follow on its thread. They are valid until they are asked for at another cost.
func (g *Model) base() []int64 {
	if g.cost == 0 {
		return g.Dur
	} else if g.lightAt == g.cost {
		return g.light
	}
	g.light, g.lightAt = append(g.light[:0], g.Dur...), g.cost
	recording, debt := g.recording(), int64(0)
	for v := range g.Nodes {
		n := &g.Nodes[v]
		if n.Flags&(graph.IsGPU|graph.IsJoin) != 0 {
			continue
		}
		if n.Flags&graph.IsArrival != 0 || n.Pred != int32(v)-1 { // of another thread, or after a wait
			debt = 0
		}
		debt += int64(g.cost * float64(recording[v]) / 4)
		cut := min(debt, g.light[v])
		g.light[v] -= cut
		debt -= cut
	}
	return g.light
}

// unaltered returns the times of the program without a change: those of the trace, or without the cost of recording.
func (g *Model) unaltered() critical.Times {
	if g.cost == 0 {
		return g.Measured()
	}
	r := g.Unchanged()
	r.Dur = g.base()
	return g.ReplayInto(nil, r, false, g.Plan)
}

// A Fit is what the events of a program cost to record, by the length of its step without a profiler.
type Fit struct {
	Given     int64   // ns of a step without the profiler
	Measured  int64   // of the typical step in the trace
	Fitted    int64   // of the same, replayed at the cost
	Cost      float64 // ns of an event
	Low, High float64 // costs that yield the given time too
	Failed    string  // why no cost explains it
}

// FitTo finds the cost at which the median of steps takes a given time, and makes later forecasts for it.
func (g *Model) FitTo(steps []int, given int64) Fit {
	f := &Fit{Given: given}
	length := func(cost float64) int64 {
		g.At(cost)
		t := g.unaltered()
		var out []int64
		all := g.Lengths(&t)
		for _, i := range steps {
			out = append(out, all[i].Len())
		}
		slices.Sort(out)
		return out[len(out)/2]
	}
	first := func(most int64) float64 { // the least cost at which the step is at most as long
		low, high := -1.0, float64(recordMost)
		for high-low > 10 {
			if mid := (low + high) / 2; length(max(0, mid)) <= most {
				high = mid
			} else {
				low = mid
			}
		}
		return max(0, high)
	}
	f.Measured = length(0)
	short, long := given-given*sameStep/100, given+given*sameStep/100
	switch {
	case f.Measured < short:
		f.Failed = "the step in the trace is shorter than that, so not only the profiler differs"
		if 100*length(float64(g.Events.Usual)) >= (100-sameStep)*f.Measured { // the GPU is busy; the host may matter after a change
			f.Cost, f.Low, f.High = float64(g.Events.Usual), float64(g.Events.Least), float64(g.Events.Most)
		}
	case length(recordMost) > long:
		f.Failed = "no cost of recording up to 10 µs for each event explains that, so something else differs"
	default:
		f.Low, f.High = first(long), recordMost
		if length(recordMost) < short {
			f.High = first(short)
		}
		if f.Measured > long && f.High < recordMost {
			f.Cost = first(given)
			break
		}
		within := func(x float64) float64 { return min(max(x, f.Low), f.High) } // the step does not tell, as that of a busy GPU
		f.Cost, f.Low, f.High = within(float64(g.Events.Usual)), within(float64(g.Events.Least)), within(float64(g.Events.Most))
	}
	f.Fitted = length(f.Cost)
	g.fit = f
	return *f
}

// A Range is what a step takes at two costs of recording.
type Range struct{ Low, High int64 }

// off returns by how much of a time a range differs from it, in percent.
func (r Range) off(from int64) float64 {
	return graph.Percent(max(from-r.Low, r.Low-from, from-r.High, r.High-from), from)
}

// Unrecorded returns how long the steps would take without the profiler, at its usual costs, and how many events
// of the host it records in each; nil if its cost is not known.
func (g *Model) Unrecorded(paths []critical.Path) (out []Range, events []int64) {
	if !g.ofKineto() {
		return nil, nil
	}
	events = make([]int64, len(paths))
	at := make([]int, len(g.Ranks)) // the step that had the last node: the next is seldom in another
	steps := make([][]int, len(g.Ranks))
	for i, p := range paths { // each begins where the one before ends
		steps[p.Rank] = append(steps[p.Rank], i)
	}
	for v, n := range g.recording() {
		if n == 0 {
			continue
		}
		rank, start := g.Nodes[v].Rank, g.Start[v]
		mine, i := steps[rank], at[rank]
		for i > 0 && start < paths[mine[i]].Window.Start {
			i--
		}
		for i+1 < len(mine) && start >= paths[mine[i]].Window.End {
			i++
		}
		if at[rank] = i; i < len(mine) && paths[mine[i]].Window.Start <= start && start < paths[mine[i]].Window.End {
			events[mine[i]] += int64(n)
		}
	}
	for i := range events {
		events[i] = (events[i] + 2) / 4
	}
	return g.withoutProfiler(g.Plan), events
}

// withoutProfiler returns the lengths of the steps without the profiler, at its usual costs.
func (g *Model) withoutProfiler(order []critical.Run) []Range {
	out := g.atCosts(float64(g.Events.Least), float64(g.Events.Most), func() critical.Times {
		r := g.Unchanged()
		r.Dur = g.base()
		return g.ReplayInto(g.Scratch, r, false, order)
	})
	t := g.Measured()
	for i, profiled := range g.Lengths(&t) {
		out[i].slowedFrom(profiled.Len())
	}
	return out
}

// slowedFrom keeps a range for a step without the profiler to what makes the step with it plausible.
func (r *Range) slowedFrom(profiled int64) {
	r.Low = max(r.Low, min(profiled/profilercost.Slowdown, r.High))
}

// without returns the sum of some steps without the profiler, or nothing if its cost is not known.
func (g *Model) without(steps []int, order []critical.Run) (sum Range) {
	if !g.ofKineto() || g.fit != nil {
		return sum
	}
	all := g.withoutProfiler(order)
	for _, i := range steps {
		sum.Low += all[i].Low
		sum.High += all[i].High
	}
	return sum
}

// ofKineto reports whether PyTorch's profiler, whose cost is known, made the traces.
func (g *Model) ofKineto() bool {
	return !slices.ContainsFunc(g.Ranks, func(s *graph.Source) bool { return !s.Kineto })
}

// atCosts returns the lengths of the steps after a replay at two costs.
func (g *Model) atCosts(low, high float64, replay func() critical.Times) []Range {
	defer g.At(g.cost)
	out := make([]Range, len(g.Steps))
	g.At(high)
	t := replay()
	for i, s := range g.Lengths(&t) {
		out[i].Low = s.Len()
	}
	g.At(low)
	t = replay()
	for i, s := range g.Lengths(&t) {
		out[i].High = s.Len()
	}
	return out
}

// changedAt returns how long the changed steps take at two costs of recording.
func (g *Model) changedAt(low, high float64, list []change.Change) []Range {
	return g.atCosts(low, high, func() critical.Times {
		r, _, _ := g.apply(list) // which succeeded before
		return g.ReplayInto(g.Scratch, r, false, g.Plan)
	})
}

// doubtRecording warns of forecasts that the time of the profiler may change.
func (g *Model) doubtRecording(list []change.Change, out []Forecast) {
	if !g.ofKineto() {
		return
	}
	if g.fit != nil {
		for i, r := range g.changedAt(g.fit.Low, g.fit.High, list) {
			f := &out[i]
			if g.fit.Failed != "" {
				f.Verdict.Add(critical.Warn, "%s", g.fit.Failed)
			}
			if g.fit.Cost > float64(g.Events.Most) {
				f.Verdict.Add(critical.Warn, "recording would take %s for each event, where %s to %s are usual, so something else may differ", unit.Duration(int64(g.fit.Cost)),
					unit.Duration(g.Events.Least), unit.Duration(g.Events.Most))
			}
			if share := graph.Percent(f.Measured-f.Fitted, f.Measured); share > mostOfStep {
				f.Verdict.Add(critical.Warn, "recording took %.0f%% of the step, so the forecast rests on an equal cost of all events", share)
			}
			if r.off(f.Forecast) > critical.MuchOfStep {
				f.Verdict.Add(critical.Warn, "the measured step does not tell what recording costs; after the change that makes it %s to %s",
					unit.Duration(r.Low), unit.Duration(r.High))
			}
		}
		return
	}
	before, after := g.withoutProfiler(g.Plan), g.changedAt(float64(g.Events.Least), float64(g.Events.Most), list)
	for i := range out {
		f := &out[i]
		after[i].slowedFrom(f.Forecast)
		if before[i].off(f.Measured) > critical.MuchOfStep || after[i].off(f.Forecast) > critical.MuchOfStep {
			f.Verdict.WarnFirst("the profiler slows the CPU; without it the step may take %s to %s, and %s to %s after the change: give --measured TIME",
				unit.Duration(before[i].Low), unit.Duration(before[i].High), unit.Duration(after[i].Low), unit.Duration(after[i].High))
		}
	}
}

// ofRecording warns if much of a step, or of a changed step, is time of the profiler: by what the step would take
// without it, and by the events on the path of the changed one.
func (g *Model) ofRecording(v *critical.Verdict, without Range, measured, events, forecast int64) {
	if g.fit != nil || !g.ofKineto() {
		return
	}
	share := min(graph.Percent(events*g.Events.Usual/4, forecast), 99)
	switch {
	case without.off(measured) > critical.MuchOfStep:
		v.WarnFirst("the profiler slows the CPU; without it the step may take %s to %s: \"assay whatif --measured TIME\" forecasts that",
			unit.Duration(without.Low), unit.Duration(without.High))
	case share > critical.MuchOfStep:
		v.Add(critical.Warn, "about %.0f%% of the changed step may be the profiler's own time; \"assay whatif --measured TIME\" forecasts without it", share)
	}
}
