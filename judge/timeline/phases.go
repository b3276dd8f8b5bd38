package timeline

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/internal/stat"
	"assay/internal/unit"
	"assay/judge/advice"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/judge/tree"
	"assay/summary"
)

// A PhaseVerdict is the bottleneck of one phase, over all GPUs.
type PhaseVerdict struct {
	Path  string        `json:"path"`
	Bound finding.Bound `json:"bound"` // as in a Verdict; "" if too little ran to judge
	Share float64       `json:"share"` // the share of the phase's windows that decided
}

// A phaseSum is one phase over all GPUs.
type phaseSum struct {
	path     string
	total    summary.Activity
	runs     int64
	launched int64
	median   int64 // ns of one run, on the GPU with the longest median
	longest  summary.Phase
}

// phaseSums adds up phases over GPUs, those with the most time first.
func phaseSums(c *Evaluator) []phaseSum {
	sums := map[string]*phaseSum{}
	for _, p := range c.Phases {
		s := sums[p.Path]
		if s == nil {
			s = &phaseSum{path: p.Path}
			sums[p.Path] = s
		}
		s.total = s.total.Plus(p.Total)
		s.runs = max(s.runs, p.Count)
		s.launched += p.Launched
		s.median = max(s.median, p.MedianNS)
		if p.MaxNS > s.longest.MaxNS {
			s.longest = p
		}
	}
	out := make([]phaseSum, 0, len(sums))
	for _, s := range sums {
		out = append(out, *s)
	}
	slices.SortFunc(out, func(a, b phaseSum) int {
		return cmp.Or(cmp.Compare(b.total.Window(), a.total.Window()), cmp.Compare(a.path, b.path))
	})
	return out
}

// phaseVerdicts evaluates each phase like a window. The verdict of a phase without GPU time has no
// bound.
func phaseVerdicts(c *Evaluator) (out []PhaseVerdict) {
	for _, s := range phaseSums(c) {
		if s.path == "" {
			continue
		}
		v := PhaseVerdict{Path: s.path}
		if window := s.total.Window(); window > 0 && !mayBeUnrecorded(c, s.total) {
			v.Bound, v.Share = bound(c, func(p part) float64 { return float64(p.time(s.total)) / float64(window) })
			v.Bound = ofDecode(c, s.path[strings.LastIndexByte(s.path, '/')+1:], v.Bound)
		}
		out = append(out, v)
	}
	return out
}

// shareRules returns the phases of reinforcement learning that are judged by their share.
func shareRules() []struct{ rule, phase, what string } {
	return []struct{ rule, phase, what string }{
		{rule.WeightSyncShare, "weight-sync", "Weight sync"},
		{rule.GenerationShare, "generation", "Generation"},
		{rule.TrainingShare, "training", "Training"},
		{rule.WaitShare, "wait", "Waiting between trainer and rollouts"},
		{rule.SleepShare, "sleep-wake", "Engine sleep/wake"},
	}
}

// learns reports whether the capture shows reinforcement learning: it has two of the three phases
// that only such programs combine.
func learns(c *Evaluator) bool {
	n := 0
	for _, name := range []string{"generation", "training", "weight-sync"} {
		if slices.ContainsFunc(c.Phases, func(p summary.Phase) bool { return p.Name() == name }) {
			n++
		}
	}
	return n >= 2
}

// A shareOfStep is the share of a phase in the steps, or in the windows.
type shareOfStep struct {
	value    float64
	num, den int64 // ns, summed over the steps
	n        int64 // number of steps, or of runs if there are no steps
	of       string
	ofSteps  bool // the denominator is steps, and not the windows
}

// shareOf returns the share of all phases of a name. The denominator is the steps that have phases,
// or the windows if there are none.
func shareOf(c *Evaluator, name string) (s shareOfStep) {
	steps := stepsWithPhases(c)
	if len(steps) == 0 {
		s.of = c.WindowName()
		for _, p := range c.Phases {
			if p.Name() == name {
				s.num += p.Total.Window()
				s.n = max(s.n, p.Count)
			}
		}
		s.den = c.Total.Window()
		s.value = float64(s.num) / float64(max(1, s.den))
		return s
	}
	s.of, s.ofSteps, s.n = "the median step", true, int64(len(steps))
	at := func(i int) (num, den int64) {
		st := c.Steps[i]
		for _, p := range st.Phases {
			if p.Name == name {
				num += p.NS
			}
		}
		return num, cmp.Or(st.HostNS, st.WallNS)
	}
	for _, i := range steps {
		num, den := at(i)
		s.num, s.den = s.num+num, s.den+den
	}
	s.value = stat.MedianBy(steps, func(i int) float64 { return shareOfWhole(at(i)) })
	return s
}

// stepsWithPhases returns the steps that count in medians and have phases.
func stepsWithPhases(c *Evaluator) (out []int) {
	for _, g := range c.groups {
		for _, i := range g.steps {
			if len(c.Steps[i].Phases) > 0 {
				out = append(out, i)
			}
		}
	}
	return out
}

// phaseShare compares the share of one phase with its limits.
func phaseShare(c *Evaluator, id, name, what string) (finding.Finding, bool) {
	limits := c.Limits[id]
	s := shareOf(c, name)
	if s.num == 0 || s.n < limits.MinEvents {
		return finding.Finding{}, false
	}
	level, limit, ok := limits.Level(s.value)
	if !ok {
		return finding.Finding{}, false
	}
	f := finding.Finding{Rule: id, Level: level, Value: s.value, NumeratorNS: s.num, DenominatorNS: s.den,
		Warn: limits.Warn, Critical: limits.Critical}
	f.Level, limit = limits.Tempered(level, limit, s.n)
	f.Title = fmt.Sprintf("%s: %s of %s", what, percent(s.value), s.of) + rule.Over(limit)
	if s.ofSteps {
		f.Evidence = append(f.Evidence, fmt.Sprintf("sum over %s: %s", label.Plural(s.n, "step"),
			unit.DurationOf(s.num, s.den)))
		f.GainGPUs = gpusOf(c, stepsWithPhases(c))
	} else { // the rule's own denominator is steps, and there are none
		f.GainOf, f.GainGPUs, f.GainOfAll = c.WindowWhole(), len(c.Devices), c.AllOfWindows("")
	}
	f.Evidence = append(f.Evidence, phaseEvidence(c, name)...)
	f.Where = longestRuns(c, name)
	if f.Next = advice.PhaseAdvice(name); name == "generation" {
		f.Next = engineAdvice(c, f.Next)
	}
	return f, true
}

// gpusOf returns how many GPUs some steps ran on.
func gpusOf(c *Evaluator, steps []int) int {
	gpus := make(map[summary.GPU]bool)
	for _, i := range steps {
		st := c.Steps[i]
		gpus[summary.GPU{Input: st.Input, Rank: st.Rank, Device: st.Device}] = true
	}
	return len(gpus)
}

// dataShare compares data loading with its limits. Loading while the GPUs work costs nothing, so
// its idle time must reach the limit too.
func (c *Evaluator) dataShare() []tree.Reading {
	f, ok := phaseShare(c, rule.DataShare, "data", "Data loading")
	idle := idleIn(c, "data")
	if !ok || float64(idle) < c.Limits[rule.DataShare].Warn*float64(c.Total.Window()) {
		return nil
	}
	return []tree.Reading{{Finding: f, Reached: true, Explains: map[string]int64{rule.DataLoading: idle},
		Below: []string{f.Title}}}
}

// idleIn returns the idle time of the GPUs in ns, in all phases of a name.
func idleIn(c *Evaluator, name string) (ns int64) {
	for _, p := range c.Phases {
		if p.Name() == name {
			ns += p.Total.Idle()
		}
	}
	return ns
}

// steadyIdleIn is idleIn without the warm-up steps, if their idle time is left out. It is a lower
// bound: phases of warm-up steps are subtracted with all their time.
func steadyIdleIn(c *Evaluator, name string) int64 {
	ns := idleIn(c, name)
	for i, st := range c.Steps {
		if !c.Placed || c.states[i] != StepWarmUp {
			continue
		}
		for _, p := range st.Phases {
			if p.Name == name {
				ns -= p.NS
			}
		}
	}
	return min(max(0, ns), c.Total.Idle())
}

// longestRuns returns the longest runs of the phases of some names as places.
func longestRuns(c *Evaluator, names ...string) (out []finding.Place) {
	for _, p := range c.Phases {
		if p.MaxNS > 0 && slices.Contains(names, p.Name()) {
			at := finding.PlaceOf(p.Input, p.Rank, p.Device).At(p.MaxStartNS, p.MaxNS)
			at.Phase = p.Path
			out = append(out, at)
		}
	}
	return finding.Longest(out)
}

// phaseEvidence returns the GPU time breakdown of a phase, and its longest run.
func phaseEvidence(c *Evaluator, name string) (out []string) {
	for _, s := range phaseSums(c) {
		if (summary.Phase{Path: s.path}).Name() != name {
			continue
		}
		a := s.total
		if a.Window() > 0 {
			out = append(out, fmt.Sprintf("GPU time in %s: compute %s, exposed communication %s, exposed copies %s, idle %s (of %s)", s.path,
				unit.Share(a.Compute(), a.Window()), unit.Share(a.ExposedComm(), a.Window()),
				unit.Share(a.ExposedCopy(), a.Window()), unit.Share(a.Idle(), a.Window()), unit.Duration(a.Window())))
		}
		if p := s.longest; p.MaxNS > 0 && s.runs > 1 {
			out = append(out, fmt.Sprintf("median run %s, longest run %s at %s", unit.Duration(s.median),
				unit.Duration(p.MaxNS), unit.Timestamp(p.MaxStartNS)))
		}
	}
	return out
}

// weightSyncTime compares the median weight sync with its target.
func (c *Evaluator) weightSyncTime() (finding.Finding, bool) {
	limits := c.Limits[rule.WeightSyncTime]
	median, runs := int64(0), int64(0)
	for _, p := range c.Phases {
		if p.Name() == "weight-sync" {
			median, runs = max(median, p.MedianNS), max(runs, p.Count)
		}
	}
	if runs == 0 || !learns(c) {
		return finding.Finding{}, false
	}
	f, ok := rule.OverTarget(limits, median)
	if !ok {
		return finding.Finding{}, false
	}
	f.Title = fmt.Sprintf("Weight sync: median %s (%s); target %s", unit.Duration(median), label.Plural(runs, "run"),
		unit.Duration(limits.Under))
	f.Evidence = phaseEvidence(c, "weight-sync")
	f.Where = longestRuns(c, "weight-sync")
	f.Next = advice.PhaseAdvice("weight-sync")
	return f, true
}

// rlUtilization compares GPU time utilization with the target for reinforcement learning.
func (c *Evaluator) rlUtilization() []tree.Reading {
	busy, window := c.Total.Busy(), c.Total.Window()
	f, limit, ok := rule.Measured(c.Limits[rule.RLUtilization], c.Total.Idle(), window)
	if !ok || !learns(c) {
		return nil
	}
	idle := map[string]int64{}
	for _, p := range c.Phases {
		if p.Depth() <= 0 {
			name := cmp.Or(p.Path, advice.OutsidePhases)
			idle[name] += p.Total.Idle()
		}
	}
	names := slices.SortedFunc(maps.Keys(idle), func(a,
		b string) int {
		return cmp.Or(cmp.Compare(idle[b], idle[a]), strings.Compare(a, b))
	})
	for _, name := range names[:min(3, len(names))] {
		f.Evidence = append(f.Evidence, fmt.Sprintf("%s: %s of the idle time (%s)", name,
			unit.Share(idle[name], c.Total.Idle()), unit.DurationOf(idle[name], c.Total.Idle())))
	}
	f.Title = fmt.Sprintf("GPU time utilization: %s (%s); target for RL over %s", unit.Share(busy, window),
		c.PerGPU(busy, window), unit.Percent(1-limit))
	c.GainOfWindow(&f, c.Total.Idle())
	if f.Next = advice.PhaseAdvice(names[0]); names[0] == "generation" {
		f.Next = engineAdvice(c, f.Next)
	}
	return []tree.Reading{{Finding: f, Reached: true, Explains: map[string]int64{rule.GPUIdle: f.NumeratorNS},
		Below: append([]string{f.Title}, f.Evidence...)}}
}

// runsOnce reports whether a program runs a phase only once.
func runsOnce(name string) bool {
	return slices.Contains([]string{"setup", "warm-up", "compile", "graph-capture"}, name)
}

// warmUpPhases reports the share of the phases that a program runs only once, and the bottleneck of
// the rest. If they are nearly all that was recorded, the first fix is to record later.
func (c *Evaluator) warmUpPhases() []tree.Reading {
	oneTime := c.oneTimePhases()
	all, rest := oneTime.all, oneTime.without(c.recorded)
	if all.Window() == 0 {
		return nil
	}
	f, limit, ok := rule.Measured(c.Limits[rule.WarmUpPhases], all.Window(), c.recorded.Window())
	if !ok {
		return nil
	}
	names := oneTime.names()
	for _, name := range names {
		f.Evidence = append(f.Evidence, fmt.Sprintf("%s: %s (%s)", name,
			unit.Share(oneTime.phases[name].Window(), c.recorded.Window()),
			unit.DurationOf(oneTime.phases[name].Window(), c.recorded.Window())))
	}
	f.Where = longestRuns(c, names...)
	f.Title = fmt.Sprintf("%s: %s of %s (%s)", finding.Upper(strings.Join(names, " and ")),
		unit.Share(all.Window(), c.recorded.Window()), c.PlainName(), c.PerGPU(all.Window(), c.recorded.Window()))
	if f.Level > finding.Info {
		f.Title += rule.Over(limit)
	}
	if window := rest.Window(); window > 0 && rest.Busy() > 0 {
		bound, share := bound(c, func(p part) float64 { return float64(p.time(rest)) / float64(window) })
		f.Evidence = append(f.Evidence, fmt.Sprintf("without them the run is %s (%s of the other %s)", bound.Is(),
			percent(share), unit.Duration(window)))
	}
	f.Next = []finding.Step{finding.Advise("record-without", "phases", strings.Join(names, " and "))}
	r := tree.Reading{Finding: f, Reached: true}
	if c.Left == "" {
		r.First = f.Next
	}
	return []tree.Reading{r}
}

// IsOfPhases reports whether a rule is about phases of reinforcement learning.
func IsOfPhases(id string) bool {
	return id == rule.WeightSyncTime || id == rule.DataShare || id == rule.RLUtilization ||
		slices.ContainsFunc(shareRules(), func(r struct{ rule, phase, what string }) bool { return r.rule == id })
}
