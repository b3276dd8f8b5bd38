package critical

import (
	"fmt"
	"math"
	"slices"

	"assay/analyze/critical/change"
	"assay/internal/profilercost"
	"assay/internal/unit"
	"assay/trace"
)

// A cost that is fitted to a measured step is at most recordMost, in ns.
const recordMost = 10_000

// The limits of what is said about the time of the profiler, in percent.
const (
	muchOfStep = 4  // it matters
	sameStep   = 3  // lengths of steps are the same
	mostOfStep = 25 // a forecast without it rests on how it is divided
)

// recording returns how much of the recording of events falls into each node, in quarters of an event: half of an
// event is spent around its start and half around its end, before and after. Frames of Python take little beside
// operators and calls.
func (g *Graph) recording() []uint8 {
	if g.quarters != nil {
		return g.quarters
	}
	g.quarters = make([]uint8, len(g.nodes))
	add := func(v int32, of *node) { // where a node of the same thread can take it
		if v < 0 || int(v) >= len(g.nodes) || g.nodes[v].flags&(isGPU|isJoin|isArrival) != 0 || g.quarters[v] == math.MaxUint8 {
			return
		}
		n := &g.nodes[v]
		if src := g.ranks[of.rank]; n.rank == of.rank && (n.owner == none || src.spans[n.owner].thread == src.spans[of.owner].thread) {
			g.quarters[v]++
		}
	}
	last := make([][]int32, len(g.ranks)) // by span: its last node, plus 1
	for r, src := range g.ranks {
		last[r] = make([]int32, len(src.spans))
	}
	for v := range g.nodes {
		n, v := &g.nodes[v], int32(v)
		if n.flags&(isGPU|isJoin) != 0 || n.owner == none || !g.ranks[n.rank].kineto || g.ranks[n.rank].spans[n.owner].kind == trace.Python {
			continue
		}
		if last[n.rank][n.owner] == 0 {
			add(v-1, n)
			add(v, n)
		}
		last[n.rank][n.owner] = v + 1
	}
	for _, of := range last {
		for _, next := range of {
			if next > 0 {
				add(next-1, &g.nodes[next-1])
				add(next, &g.nodes[next-1])
			}
		}
	}
	return g.quarters
}

// EventCost returns what recording an event takes PyTorch's profiler, by what the traces have of each.
func (g *Graph) EventCost() profilercost.Cost { return g.events }

// eventCost returns the cost of a trace. Only the newest name the options of its profiler; without any shape, and
// without frames of Python, it recorded neither.
func eventCost(t *trace.Trace) profilercost.Cost {
	o := profilercost.OptionsOf(t.Meta.Recorder)
	o.Stacks = o.Stacks || t.Python.Len() > 0
	ops := 0
	for x := range t.Ops.All() {
		if ops++; x.Shape != 0 {
			o.Shapes = true
			break
		}
	}
	o.Plain = t.Meta.Kineto && ops >= fewOps
	return profilercost.Of(o)
}

// fewOps is how many operators without shapes tell that none were recorded.
const fewOps = 20

// At makes forecasts for a program whose events cost a time each to record, in ns, if it runs without the profiler.
func (g *Graph) At(cost float64) { g.cost = cost }

// base returns the durations of nodes without the cost of recording. What a node is too short for is taken from
// those that follow on its thread. They are valid until they are asked for at another cost.
func (g *Graph) base() []int64 {
	if g.cost == 0 {
		return g.dur
	} else if g.lightAt == g.cost {
		return g.light
	}
	g.light, g.lightAt = append(g.light[:0], g.dur...), g.cost
	recording, debt := g.recording(), int64(0)
	for v := range g.nodes {
		n := &g.nodes[v]
		if n.flags&(isGPU|isJoin) != 0 {
			continue
		}
		if n.flags&isArrival != 0 || n.pred != int32(v)-1 { // of another thread, or after a wait
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
func (g *Graph) unaltered() times {
	if g.cost == 0 {
		return g.measured()
	}
	r := g.unchanged()
	r.dur = g.base()
	return g.replayInto(nil, r, false, g.plan)
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
func (g *Graph) FitTo(steps []int, given int64) Fit {
	f := &Fit{Given: given}
	length := func(cost float64) int64 {
		g.At(cost)
		t := g.unaltered()
		var out []int64
		all := g.lengths(&t)
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
		if 100*length(float64(g.events.Usual)) >= (100-sameStep)*f.Measured { // the GPU is busy; the host may matter after a change
			f.Cost, f.Low, f.High = float64(g.events.Usual), float64(g.events.Least), float64(g.events.Most)
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
		f.Cost, f.Low, f.High = within(float64(g.events.Usual)), within(float64(g.events.Least)), within(float64(g.events.Most))
	}
	f.Fitted = length(f.Cost)
	g.fit = f
	return *f
}

// A Range is what a step takes at two costs of recording.
type Range struct{ Low, High int64 }

// off returns by how much of a time a range differs from it, in percent.
func (r Range) off(from int64) float64 {
	return percent(max(from-r.Low, r.Low-from, from-r.High, r.High-from), from)
}

// Unrecorded returns how long the steps would take without the profiler, at its usual costs, and how many events
// of the host it records in each; nil if its cost is not known.
func (g *Graph) Unrecorded(paths []Path) (out []Range, events []int64) {
	if !g.ofKineto() {
		return nil, nil
	}
	events = make([]int64, len(paths))
	at := make([]int, len(g.ranks)) // the step that had the last node: the next is seldom in another
	steps := make([][]int, len(g.ranks))
	for i, p := range paths { // each begins where the one before ends
		steps[p.Rank] = append(steps[p.Rank], i)
	}
	for v, n := range g.recording() {
		if n == 0 {
			continue
		}
		rank, start := g.nodes[v].rank, g.start[v]
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
	return g.withoutProfiler(g.plan), events
}

// withoutProfiler returns the lengths of the steps without the profiler, at its usual costs.
func (g *Graph) withoutProfiler(order []stretch) []Range {
	out := g.atCosts(float64(g.events.Least), float64(g.events.Most), func() times {
		r := g.unchanged()
		r.dur = g.base()
		return g.replayInto(g.scratch, r, false, order)
	})
	t := g.measured()
	for i, profiled := range g.lengths(&t) {
		out[i].slowedFrom(profiled.Len())
	}
	return out
}

// slowedFrom keeps a range for a step without the profiler to what makes the step with it plausible.
func (r *Range) slowedFrom(profiled int64) {
	r.Low = max(r.Low, min(profiled/profilercost.Slowdown, r.High))
}

// without returns the sum of some steps without the profiler, or nothing if its cost is not known.
func (g *Graph) without(steps []int, order []stretch) (sum Range) {
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
func (g *Graph) ofKineto() bool {
	return !slices.ContainsFunc(g.ranks, func(s *source) bool { return !s.kineto })
}

// atCosts returns the lengths of the steps after a replay at two costs.
func (g *Graph) atCosts(low, high float64, replay func() times) []Range {
	defer g.At(g.cost)
	out := make([]Range, len(g.Steps))
	g.At(high)
	t := replay()
	for i, s := range g.lengths(&t) {
		out[i].Low = s.Len()
	}
	g.At(low)
	t = replay()
	for i, s := range g.lengths(&t) {
		out[i].High = s.Len()
	}
	return out
}

// changedAt returns how long the changed steps take at two costs of recording.
func (g *Graph) changedAt(low, high float64, list []change.Change) []Range {
	return g.atCosts(low, high, func() times {
		r, _, _ := g.apply(list) // which succeeded before
		return g.replayInto(g.scratch, r, false, g.plan)
	})
}

// doubtRecording warns of forecasts that the time of the profiler may change.
func (g *Graph) doubtRecording(list []change.Change, out []Forecast) {
	if !g.ofKineto() {
		return
	}
	if g.fit != nil {
		for i, r := range g.changedAt(g.fit.Low, g.fit.High, list) {
			f := &out[i]
			if g.fit.Failed != "" {
				f.Verdict.Add(Warn, "%s", g.fit.Failed)
			}
			if g.fit.Cost > float64(g.events.Most) {
				f.Verdict.Add(Warn, "recording would take %s for each event, where %s to %s are usual, so something else may differ", unit.Duration(int64(g.fit.Cost)),
					unit.Duration(g.events.Least), unit.Duration(g.events.Most))
			}
			if share := percent(f.Measured-f.Fitted, f.Measured); share > mostOfStep {
				f.Verdict.Add(Warn, "recording took %.0f%% of the step, so the forecast rests on an equal cost of all events", share)
			}
			if r.off(f.Forecast) > muchOfStep {
				f.Verdict.Add(Warn, "the measured step does not tell what recording costs; after the change that makes it %s to %s",
					unit.Duration(r.Low), unit.Duration(r.High))
			}
		}
		return
	}
	before, after := g.withoutProfiler(g.plan), g.changedAt(float64(g.events.Least), float64(g.events.Most), list)
	for i := range out {
		f := &out[i]
		after[i].slowedFrom(f.Forecast)
		if before[i].off(f.Measured) > muchOfStep || after[i].off(f.Forecast) > muchOfStep {
			f.Verdict.warnFirst("the profiler slows the CPU; without it the step may take %s to %s, and %s to %s after the change: give --measured TIME",
				unit.Duration(before[i].Low), unit.Duration(before[i].High), unit.Duration(after[i].Low), unit.Duration(after[i].High))
		}
	}
}

// ofRecording warns if much of a step, or of a changed step, is time of the profiler: by what the step would take
// without it, and by the events on the path of the changed one.
func (g *Graph) ofRecording(v *Verdict, without Range, measured, events, forecast int64) {
	if g.fit != nil || !g.ofKineto() {
		return
	}
	share := min(percent(events*g.events.Usual/4, forecast), 99)
	switch {
	case without.off(measured) > muchOfStep:
		v.warnFirst("the profiler slows the CPU; without it the step may take %s to %s: \"assay whatif --measured TIME\" forecasts that",
			unit.Duration(without.Low), unit.Duration(without.High))
	case share > muchOfStep:
		v.Add(Warn, "about %.0f%% of the changed step may be the profiler's own time; \"assay whatif --measured TIME\" forecasts without it", share)
	}
}

// warnFirst adds a warning that comes before others, because it may change an answer most.
func (v *Verdict) warnFirst(format string, args ...any) {
	at := 0
	if v.Level == Abstain {
		at = len(v.Reasons)
	}
	v.Level = max(v.Level, Warn)
	v.Reasons = slices.Insert(v.Reasons, at, fmt.Sprintf(format, args...))
}
