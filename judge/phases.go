package judge

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"assay/summary"
	"assay/unit"
)

// A PhaseVerdict is what bounds one phase, over all devices.
type PhaseVerdict struct {
	Path  string  `json:"path"`
	Bound string  `json:"bound"` // as of a Verdict; "" where too little ran to tell
	Share float64 `json:"share"` // of the phase's time, that decided
}

// A phaseSum is one phase over all devices.
type phaseSum struct {
	path     string
	total    summary.Activity
	runs     int64
	launched int64
	median   int64 // of one run, of the device where it is longest
	longest  summary.Phase
}

// phaseSums adds phases up over devices, those with the most time first.
func (c *court) phaseSums() []phaseSum {
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

// phaseVerdicts asks of each phase what is asked of a window. Of one in which the
// devices ran next to nothing there is nothing to say but that.
func (c *court) phaseVerdicts() (out []PhaseVerdict) {
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

// The phases of reinforcement learning that are judged by their share.
func shareRules() []struct{ rule, phase, what string } {
	return []struct{ rule, phase, what string }{
		{RuleWeightSyncShare, "weight-sync", "weight sync"},
		{RuleGenerationShare, "generation", "generation"},
		{RuleTrainingShare, "training", "training"},
		{RuleWaitShare, "wait", "waiting"},
		{RuleSleepShare, "sleep-wake", "sleeping and waking up"},
	}
}

// learns reports whether the capture is of reinforcement learning: it has two of
// the three phases that no other program has together.
func (c *court) learns() bool {
	n := 0
	for _, name := range []string{"generation", "training", "weight-sync"} {
		if slices.ContainsFunc(c.Phases, func(p summary.Phase) bool { return p.Name() == name }) {
			n++
		}
	}
	return n >= 2
}

// judgePhases holds the shares of phases to their limits.
func (c *court) judgePhases(groups []stepGroup, judged []Finding) []Finding {
	if len(c.Phases) == 0 {
		return judged
	}
	if f, ok := c.warmUpPhases(); ok {
		judged = append(judged, f)
	}
	judged = c.dataShare(groups, judged)
	if !c.learns() {
		return judged
	}
	if f, ok := c.weightSyncTime(); ok {
		judged = append(judged, f)
	}
	for _, r := range shareRules() {
		if f, ok := c.phaseShare(r.rule, r.phase, r.what, groups); ok {
			judged = append(judged, f)
		}
	}
	return c.rlUtilization(judged)
}

// A shareOfStep is the share that a phase has of steps, or of the windows.
type shareOfStep struct {
	value    float64
	num, den int64 // added up
	n        int64 // steps, or runs where there are none
	of       string
}

// shareOf returns the share of all phases of a name. Steps with phases in them
// are what it is of; where there are none, the windows.
func (c *court) shareOf(name string, groups []stepGroup) (s shareOfStep) {
	steps := c.stepsWithPhases(groups)
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

// stepsWithPhases returns the steps that count, if phases lie within them.
func (c *court) stepsWithPhases(groups []stepGroup) (out []int) {
	for _, g := range groups {
		for _, i := range g.steps {
			if len(c.Steps[i].Phases) > 0 {
				out = append(out, i)
			}
		}
	}
	return out
}

// phaseShare holds the share of one phase to its limits.
func (c *court) phaseShare(id, name, what string, groups []stepGroup) (Finding, bool) {
	rule := c.rules[id]
	s := c.shareOf(name, groups)
	if s.num == 0 || s.n < rule.MinEvents {
		return Finding{}, false
	}
	level, limit, ok := rule.level(s.value)
	if !ok {
		return Finding{}, false
	}
	f := Finding{Rule: id, Level: level, Value: s.value, NumeratorNS: s.num, DenominatorNS: s.den, Warn: rule.Warn, Critical: rule.Critical}
	f.Level, limit = rule.tempered(level, limit, s.n)
	f.Title = fmt.Sprintf("%s is %s of %s, %s", what, percent(s.value), s.of, reaches(f, limit))
	if s.of == "the median step" {
		f.Evidence = append(f.Evidence, fmt.Sprintf("%s in all, %s", fraction(s.num, s.den), plural(s.n, "step window")))
	}
	f.Evidence = append(f.Evidence, c.phaseEvidence(name)...)
	f.Where = c.longestRuns(name)
	f.Next = phaseAdvice(name)
	return f, true
}

// dataShare holds the loading of data to its limits. What devices do not wait for
// costs nothing, and what is most of their idle time is told there.
func (c *court) dataShare(groups []stepGroup, judged []Finding) []Finding {
	f, ok := c.phaseShare(RuleDataShare, "data", "loading data", groups)
	if !ok || float64(c.idleIn("data")) < c.rules[RuleDataShare].Warn*float64(c.total.Window()) {
		return judged
	}
	if at := findingOf(judged, RuleDataLoading); at != nil {
		at.Evidence = append(at.Evidence, f.Title)
		return judged
	}
	return append(judged, f)
}

// idleIn returns the idle time of the devices in all phases of a name.
func (c *court) idleIn(name string) (ns int64) {
	for _, p := range c.Phases {
		if p.Name() == name {
			ns = summary.Plus(ns, p.Total.Idle())
		}
	}
	return ns
}

// longestRuns says where the longest runs of the phases of some names are.
func (c *court) longestRuns(names ...string) (out []Place) {
	for _, p := range c.Phases {
		if p.MaxNS > 0 && slices.Contains(names, p.Name()) {
			at := placeOf(p.Input, p.Rank, p.Device).at(p.MaxStartNS, p.MaxNS)
			at.Phase = p.Path
			out = append(out, at)
		}
	}
	return longest(out)
}

// phaseEvidence says what the devices did in a phase, and which run was longest.
func (c *court) phaseEvidence(name string) (out []string) {
	for _, s := range c.phaseSums() {
		if (summary.Phase{Path: s.path}).Name() != name {
			continue
		}
		a := s.total
		if a.Window() > 0 {
			out = append(out, fmt.Sprintf("in %s the devices computed for %s of the time, had exposed communication for %s, exposed copies for %s and were idle for %s (of %s)", s.path,
				unit.Share(a.Compute(), a.Window()), unit.Share(a.ExposedComm(), a.Window()), unit.Share(a.ExposedCopy(), a.Window()), unit.Share(a.Idle(), a.Window()), unit.Duration(a.Window())))
		}
		if p := s.longest; p.MaxNS > 0 && s.runs > 1 {
			out = append(out, fmt.Sprintf("a run of it takes %s in the median, the longest took %s and began at %s of the trace", unit.Duration(s.median), unit.Duration(p.MaxNS), unit.Timestamp(p.MaxStartNS)))
		}
	}
	return out
}

// weightSyncTime holds the median weight sync to what is aimed at.
func (c *court) weightSyncTime() (Finding, bool) {
	rule := c.rules[RuleWeightSyncTime]
	median, runs := int64(0), int64(0)
	for _, p := range c.Phases {
		if p.Name() == "weight-sync" {
			median, runs = max(median, p.MedianNS), max(runs, p.Count)
		}
	}
	if runs == 0 {
		return Finding{}, false
	}
	level, _, ok := rule.level(float64(median) / float64(rule.Under))
	if !ok {
		return Finding{}, false
	}
	f := Finding{Rule: rule.ID, Level: level, Value: float64(median) / float64(rule.Under), NumeratorNS: median, DenominatorNS: rule.Under, Warn: rule.Warn}
	f.Title = fmt.Sprintf("a weight sync takes %s in the median of %s, over the %s that are aimed at where training and inference share devices", unit.Duration(median), plural(runs, "run"), unit.Duration(rule.Under))
	f.Evidence = c.phaseEvidence("weight-sync")
	f.Where = c.longestRuns("weight-sync")
	f.Next = phaseAdvice("weight-sync")
	return f, true
}

// rlUtilization tells of the utilization that is aimed at. Where idle time is over
// its limit, it is told there.
func (c *court) rlUtilization(judged []Finding) []Finding {
	busy, window := c.total.Busy(), c.total.Window()
	f, limit, ok := measured(c.rules[RuleRLUtilization], c.total.Idle(), window)
	if !ok {
		return judged
	}
	idle := map[string]int64{}
	for _, p := range c.Phases {
		if p.Depth() <= 0 {
			name := cmp.Or(p.Path, outsidePhases)
			idle[name] = summary.Plus(idle[name], p.Total.Idle())
		}
	}
	names := slices.SortedFunc(maps.Keys(idle), func(a, b string) int { return cmp.Or(cmp.Compare(idle[b], idle[a]), strings.Compare(a, b)) })
	var lines []string
	for _, name := range names[:min(3, len(names))] {
		lines = append(lines, fmt.Sprintf("%s has %s of the idle time (%s)", name, unit.Share(idle[name], c.total.Idle()), fraction(idle[name], c.total.Idle())))
	}
	text := fmt.Sprintf("the devices are in use for %s of the time (%s), and a run of reinforcement learning aims at over %s", unit.Share(busy, window), fraction(busy, window), unit.Percent(1-limit))
	if at := findingOf(judged, RuleGPUIdle); at != nil {
		at.Evidence = append(at.Evidence, text)
		at.Evidence = append(at.Evidence, lines...)
		return judged
	}
	f.Title, f.Evidence, f.Next = text, lines, phaseAdvice(names[0])
	return append(judged, f)
}

// doneOnce reports whether a phase is what a program does only once.
func doneOnce(name string) bool {
	return slices.Contains([]string{"setup", "warm-up", "compile", "graph-capture"}, name)
}

// warmUpPhases says what share of the windows is of phases that a program has only
// once, and what bounds the rest.
func (c *court) warmUpPhases() (Finding, bool) {
	once := c.onceOnly()
	all, rest := once.all, once.without(c.total)
	if all.Window() == 0 {
		return Finding{}, false
	}
	f, limit, ok := measured(c.rules[RuleWarmUpPhases], all.Window(), c.total.Window())
	if !ok {
		return Finding{}, false
	}
	names := once.names()
	for _, name := range names {
		f.Evidence = append(f.Evidence, fmt.Sprintf("%s: %s (%s)", name, unit.Share(once.phases[name].Window(), c.total.Window()), fraction(once.phases[name].Window(), c.total.Window())))
	}
	f.Where = c.longestRuns(names...)
	verb := "take"
	if len(names) == 1 {
		verb = "takes"
	}
	f.Title = fmt.Sprintf("%s, which a program does once, %s %s of %s (%s)", strings.Join(names, " and "), verb, unit.Share(all.Window(), c.total.Window()), c.windowName(), fraction(all.Window(), c.total.Window()))
	if f.Level > Info {
		f.Title += ", " + reaches(f, limit)
	}
	if window := rest.Window(); window > 0 && rest.Busy() > 0 {
		bound, share := c.bound(func(p part) float64 { return float64(p.time(rest)) / float64(window) })
		f.Title += fmt.Sprintf("; without that it is %s", boundWords(bound))
		f.Evidence = append(f.Evidence, fmt.Sprintf("of the other %s the share that decides is %s", unit.Duration(window), percent(share)))
	}
	f.Next = []Step{advise("record-without", "phases", strings.Join(names, " and "))}
	return f, true
}
