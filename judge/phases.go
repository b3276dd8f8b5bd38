package judge

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/summary"
	"assay/unit"
)

// A PhaseVerdict is the bottleneck of one phase, over all GPUs.
type PhaseVerdict struct {
	Path  string  `json:"path"`
	Bound Bound   `json:"bound"` // as in a Verdict; "" if too little ran to judge
	Share float64 `json:"share"` // the share of the phase that decided
}

// A phaseSum is one phase over all GPUs.
type phaseSum struct {
	path     string
	total    summary.Activity
	runs     int64
	launched int64
	median   int64 // of one run, on the GPU with the longest median
	longest  summary.Phase
}

// phaseSums adds up phases over GPUs, those with the most time first.
func (c *evaluator) phaseSums() []phaseSum {
	sums := map[string]*phaseSum{}
	for _, p := range c.Phases {
		s := sums[p.Path]
		if s == nil {
			s = &phaseSum{path: p.Path}
			sums[p.Path] = s
		}
		s.total = s.total.Plus(p.Total)
		s.runs = max(s.runs, p.Count)
		s.launched = summary.Plus(s.launched, p.Launched)
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

// phaseVerdicts evaluates each phase like a window. The verdict of a phase without GPU
// time has no bound.
func (c *evaluator) phaseVerdicts() (out []PhaseVerdict) {
	for _, s := range c.phaseSums() {
		if s.path == "" {
			continue
		}
		v := PhaseVerdict{Path: s.path}
		if window := s.total.Window(); window > 0 {
			v.Bound, v.Share = c.bound(func(p part) float64 { return float64(p.time(s.total)) / float64(window) })
		}
		out = append(out, v)
	}
	return out
}

// shareRules returns the phases of reinforcement learning that are judged by their share.
func shareRules() []struct{ rule, phase, what string } {
	return []struct{ rule, phase, what string }{
		{RuleWeightSyncShare, "weight-sync", "Weight sync"},
		{RuleGenerationShare, "generation", "Generation"},
		{RuleTrainingShare, "training", "Training"},
		{RuleWaitShare, "wait", "Waiting between trainer and rollouts"},
		{RuleSleepShare, "sleep-wake", "Engine sleep/wake"},
	}
}

// learns reports whether the capture shows reinforcement learning: it has two of three
// phases that no other program has together.
func (c *evaluator) learns() bool {
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
	num, den int64 // sums over the steps
	n        int64 // steps, or runs without steps
	of       string
}

// shareOf returns the share of all phases of a name. The denominator is the steps that
// have phases, or the windows if there are none.
func (c *evaluator) shareOf(name string) (s shareOfStep) {
	steps := c.stepsWithPhases()
	if len(steps) == 0 {
		s.of = c.windowName()
		for _, p := range c.Phases {
			if p.Name() == name {
				s.num = summary.Plus(s.num, p.Total.Window())
				s.n = max(s.n, p.Count)
			}
		}
		s.den = c.total.Window()
		s.value = float64(s.num) / float64(max(1, s.den))
		return s
	}
	s.of, s.n = "the median step", int64(len(steps))
	at := func(n int) (num, den int64) {
		st := c.Steps[steps[n]]
		for _, p := range st.Phases {
			if p.Name == name {
				num = summary.Plus(num, p.NS)
			}
		}
		return num, cmp.Or(st.HostNS, st.WallNS)
	}
	for n := range steps {
		num, den := at(n)
		s.num, s.den = summary.Plus(s.num, num), summary.Plus(s.den, den)
	}
	s.value = middleShare(len(steps), at)
	return s
}

// stepsWithPhases returns the steps that count and that contain phases.
func (c *evaluator) stepsWithPhases() (out []int) {
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
func (c *evaluator) phaseShare(id, name, what string) (Finding, bool) {
	rule := c.rules[id]
	s := c.shareOf(name)
	if s.num == 0 || s.n < rule.MinEvents {
		return Finding{}, false
	}
	level, limit, ok := rule.level(s.value)
	if !ok {
		return Finding{}, false
	}
	f := Finding{Rule: id, Level: level, Value: s.value, NumeratorNS: s.num, DenominatorNS: s.den, Warn: rule.Warn, Critical: rule.Critical}
	f.Level, limit = rule.tempered(level, limit, s.n)
	f.Title = fmt.Sprintf("%s: %s of %s", what, percent(s.value), s.of) + over(limit)
	if s.of == "the median step" {
		f.Evidence = append(f.Evidence, fmt.Sprintf("sum over %s: %s", label.Plural(s.n, "step"), fraction(s.num, s.den)))
	}
	f.Evidence = append(f.Evidence, c.phaseEvidence(name)...)
	f.Where = c.longestRuns(name)
	f.Next = phaseAdvice(name)
	return f, true
}

// dataShare compares data loading with its limits. Data loading costs nothing while the
// GPUs work.
func (c *evaluator) dataShare() []reading {
	f, ok := c.phaseShare(RuleDataShare, "data", "Data loading")
	idle := c.idleIn("data")
	if !ok || float64(idle) < c.rules[RuleDataShare].Warn*float64(c.total.Window()) {
		return nil
	}
	return []reading{{Finding: f, reached: true, explains: map[string]int64{RuleDataLoading: idle}, below: []string{f.Title}}}
}

// idleIn returns the idle time of the GPUs in all phases of a name.
func (c *evaluator) idleIn(name string) (ns int64) {
	for _, p := range c.Phases {
		if p.Name() == name {
			ns = summary.Plus(ns, p.Total.Idle())
		}
	}
	return ns
}

// longestRuns returns the places of the longest runs of the phases of some names.
func (c *evaluator) longestRuns(names ...string) (out []Place) {
	for _, p := range c.Phases {
		if p.MaxNS > 0 && slices.Contains(names, p.Name()) {
			at := placeOf(p.Input, p.Rank, p.Device).at(p.MaxStartNS, p.MaxNS)
			at.Phase = p.Path
			out = append(out, at)
		}
	}
	return longest(out)
}

// phaseEvidence returns the GPU time breakdown of a phase, and its longest run.
func (c *evaluator) phaseEvidence(name string) (out []string) {
	for _, s := range c.phaseSums() {
		if (summary.Phase{Path: s.path}).Name() != name {
			continue
		}
		a := s.total
		if a.Window() > 0 {
			out = append(out, fmt.Sprintf("GPU time in %s: compute %s, exposed communication %s, exposed copies %s, idle %s (of %s)", s.path,
				unit.Share(a.Compute(), a.Window()), unit.Share(a.ExposedComm(), a.Window()), unit.Share(a.ExposedCopy(), a.Window()), unit.Share(a.Idle(), a.Window()), unit.Duration(a.Window())))
		}
		if p := s.longest; p.MaxNS > 0 && s.runs > 1 {
			out = append(out, fmt.Sprintf("median run %s, longest run %s at %s", unit.Duration(s.median), unit.Duration(p.MaxNS), unit.Timestamp(p.MaxStartNS)))
		}
	}
	return out
}

// weightSyncTime compares the median weight sync with its target.
func (c *evaluator) weightSyncTime() (Finding, bool) {
	rule := c.rules[RuleWeightSyncTime]
	median, runs := int64(0), int64(0)
	for _, p := range c.Phases {
		if p.Name() == "weight-sync" {
			median, runs = max(median, p.MedianNS), max(runs, p.Count)
		}
	}
	if runs == 0 || !c.learns() {
		return Finding{}, false
	}
	level, _, ok := rule.level(float64(median) / float64(rule.Under))
	if !ok {
		return Finding{}, false
	}
	f := Finding{Rule: rule.ID, Level: level, Value: float64(median) / float64(rule.Under), NumeratorNS: median, DenominatorNS: rule.Under, Warn: rule.Warn}
	f.Title = fmt.Sprintf("Weight sync: median %s (%s); target %s", unit.Duration(median), label.Plural(runs, "run"), unit.Duration(rule.Under))
	f.Evidence = c.phaseEvidence("weight-sync")
	f.Where = c.longestRuns("weight-sync")
	f.Next = phaseAdvice("weight-sync")
	return f, true
}

// rlUtilization compares GPU time utilization with the target for reinforcement
// learning.
func (c *evaluator) rlUtilization() []reading {
	busy, window := c.total.Busy(), c.total.Window()
	f, limit, ok := measured(c.rules[RuleRLUtilization], c.total.Idle(), window)
	if !ok || !c.learns() {
		return nil
	}
	idle := map[string]int64{}
	for _, p := range c.Phases {
		if p.Depth() <= 0 {
			name := cmp.Or(p.Path, outsidePhases)
			idle[name] = summary.Plus(idle[name], p.Total.Idle())
		}
	}
	names := slices.SortedFunc(maps.Keys(idle), func(a, b string) int { return cmp.Or(cmp.Compare(idle[b], idle[a]), strings.Compare(a, b)) })
	for _, name := range names[:min(3, len(names))] {
		f.Evidence = append(f.Evidence, fmt.Sprintf("%s: %s of the idle time (%s)", name, unit.Share(idle[name], c.total.Idle()), fraction(idle[name], c.total.Idle())))
	}
	f.Title = fmt.Sprintf("GPU time utilization: %s (%s); target for RL over %s", unit.Share(busy, window), c.perGPU(busy, window), unit.Percent(1-limit))
	f.Next = phaseAdvice(names[0])
	return []reading{{Finding: f, reached: true, explains: map[string]int64{RuleGPUIdle: f.NumeratorNS}, below: append([]string{f.Title}, f.Evidence...)}}
}

// doneOnce reports whether a program runs a phase only once.
func doneOnce(name string) bool {
	return slices.Contains([]string{"setup", "warm-up", "compile", "graph-capture"}, name)
}

// warmUpPhases reports the share of the phases that a program runs only once, and the
// bottleneck of the rest. If they are nearly all that was recorded, recording later comes
// before all other fixes.
func (c *evaluator) warmUpPhases() []reading {
	once := c.onceOnly()
	all, rest := once.all, once.without(c.total)
	if all.Window() == 0 {
		return nil
	}
	f, limit, ok := measured(c.rules[RuleWarmUpPhases], all.Window(), c.total.Window())
	if !ok {
		return nil
	}
	names := once.names()
	for _, name := range names {
		f.Evidence = append(f.Evidence, fmt.Sprintf("%s: %s (%s)", name, unit.Share(once.phases[name].Window(), c.total.Window()), fraction(once.phases[name].Window(), c.total.Window())))
	}
	f.Where = c.longestRuns(names...)
	f.Title = upper(strings.Join(names, " and ")) + ": " + c.ofWindow(all.Window())
	if f.Level > Info {
		f.Title += over(limit)
	}
	if window := rest.Window(); window > 0 && rest.Busy() > 0 {
		bound, share := c.bound(func(p part) float64 { return float64(p.time(rest)) / float64(window) })
		f.Evidence = append(f.Evidence, fmt.Sprintf("without them the run is %s (%s of the other %s)", bound.is(), percent(share), unit.Duration(window)))
	}
	f.Next = []Step{advise("record-without", "phases", strings.Join(names, " and "))}
	r := reading{Finding: f, reached: true}
	if c.left == "" {
		r.first = f.Next
	}
	return []reading{r}
}
