// Package judge turns a summary into findings and one verdict. It cannot see a
// trace, so every verdict can be reproduced from a saved summary alone.
//
// Findings are a tree of time. The four parts of the window (idle, exposed
// communication, exposed copies, compute) are its first roots and sum to the window.
// Below a part are its causes: the time that each of them explains, at most that of the
// part, and together at most that of the part. What two causes explain counts for the
// one with the higher precedence. Findings on memory, steps, phases, ranks, counters,
// totals and profiles have roots of their own, with their own denominators.
//
// Each rule is a row of [rules]: where its findings hang, and a function that measures
// them and sees no other finding. [evaluator.assemble] builds the tree, lowers the
// levels of causes with a small share of the window, and decides which nodes are
// findings: a cause with at least half of a part replaces the finding of the part, and
// the evidence of the others is added to it. The verdict follows from the parts. The
// order of the rules has no influence.
//
// Rules are data: [Rules] lists what each measures, its limits and who uses
// them, and [ParseThresholds] replaces the limits. Figures are pooled over
// GPUs: the time of all GPUs over the windows of all GPUs, so a GPU with a long
// window weighs more. Titles show the mean per GPU; evidence names the worst GPU.
//
// Totals that other tools have printed are judged if there is nothing else. They
// have no timeline, so the verdict names what is largest in them and no bottleneck.
package judge

import (
	"fmt"
	"slices"

	"assay/summary"
	"assay/unit"
)

// A part is a share of the window that can limit a run. The parts and compute time
// sum to the window.
type part struct {
	rule  string
	bound Bound  // Verdict.Bound if this part decides
	what  string // its display name
	time  func(summary.Activity) int64
}

// parts returns the parts in order of precedence: while a GPU waits for the CPU, the
// other shares describe the wait, not the work.
func parts() []part {
	return []part{
		{RuleGPUIdle, BoundHost, "GPU idle", summary.Activity.Idle},
		{RuleExposedComm, BoundCommunication, "exposed communication", summary.Activity.ExposedComm},
		{RuleExposedCopies, BoundCopies, "exposed copies", summary.Activity.ExposedCopy},
	}
}

// computing returns the part of the window that is not a loss.
func computing() part {
	return part{RuleComputeBound, BoundCompute, "compute", summary.Activity.Compute}
}

// partOf returns the part of the window that a rule is about.
func partOf(rule string) part {
	all := append(parts(), computing())
	return all[slices.IndexFunc(all, func(p part) bool { return p.rule == rule })]
}

// An evaluator applies the rules to one summary.
type evaluator struct {
	*summary.Summary
	rows   []row
	rules  map[string]Rule
	order  map[string]int   // of rules, by precedence
	total  summary.Activity // of all devices
	judged summary.Activity // total without a long warm-up: the verdict is about this
	left   string           // what judged leaves out; "" if nothing
	calls  []blocking       // the calls that block the CPU, in the order of their rules

	states []StepState // of the steps
	groups []stepGroup // of the steps, the group with the most time first

	tables    *tableEvaluator // nil before its first use, as the next two
	functions *[]functions
	counters  *counterSet
}

// Judge applies the rules to s, with the limits of th. Equal summaries give equal
// results.
func Judge(s *summary.Summary, th Thresholds) Result {
	r := evaluate(s, th).withReason()
	r.Stacks = Stacks(s)
	finalize(s, r.Findings, r.Stacks)
	return r
}

// evaluate returns the verdict and the findings, before confidence and fixes are
// added.
func evaluate(s *summary.Summary, th Thresholds) Result { return evaluateBy(s, th, rules()) }

// evaluateBy is evaluate with some rules, in any order.
func evaluateBy(s *summary.Summary, th Thresholds, rows []row) Result {
	c := evaluator{Summary: s, rows: rows, rules: map[string]Rule{}, order: map[string]int{}}
	for i, r := range th.Rules() {
		c.rules[r.ID], c.order[r.ID] = r, i
	}
	for _, d := range s.Devices {
		c.total = c.total.Plus(d.Activity)
	}
	c.judged = c.total
	before := c.findings(func(r row) bool { return r.id == RuleCaptureQuality })
	switch {
	case c.ofMemory():
		return c.rooted(c.memoryResult(before))
	case len(c.Counters) > 0:
		return c.rooted(c.withCounters(before))
	}
	return c.rooted(c.timeline(before, nil))
}

// findings returns the findings of the rules that accept returns true for, on bases of
// their own.
func (c *evaluator) findings(accept func(row) bool) (out []Finding) {
	for _, n := range c.measure(accept) {
		out = append(out, n.Finding)
	}
	return out
}

// withCounters judges kernels by their counters, and the timeline if there is one.
func (c *evaluator) withCounters(before []Finding) Result {
	v, counters := c.judgeCounters()
	r := Result{Verdict: v, Findings: slices.Concat(before, counters, c.memory())}
	if c.total.Window() > 0 {
		r = c.timeline(before, counters)
	}
	r.Sides, r.Peaks = c.sides(), c.peaks()
	return r
}

// timeline judges what ran when. The findings in before come first in any case; others
// has those of other rules.
func (c *evaluator) timeline(before, others []Finding) Result {
	if c.total.Window() == 0 && len(c.Tables) > 0 && len(c.Spans) == 0 {
		r, ok := c.judgeProfiles(before)
		if !ok {
			r = c.judgeTables(before)
		}
		r.Findings = append(r.Findings, c.memory()...)
		return r
	}
	stops := c.findings(func(r row) bool { return r.abstains && r.part == basisCapture })
	if c.total.Window() == 0 {
		return Result{Verdict: decidedBy(BoundUnknown, stops[0]), Findings: append(before, stops[0])}
	}
	c.states, c.groups = c.sortSteps()
	c.judged, c.left = c.withoutWarmUp(c.states, c.groups)
	c.calls = c.blockings()
	t := c.assemble()
	if len(stops) > 0 {
		return c.abstain(stops[0], before, others, t)
	}
	v := c.verdict(t)
	for _, n := range c.measureAbout(v) {
		switch {
		case !n.abstains:
			t.own = append(t.own, n)
		case n.partial:
			before = append(before, n.Finding)
		default:
			return c.abstain(n.Finding, before, others, t)
		}
	}
	list := append(others, t.findings(func(*node) bool { return true })...)
	t.leadWith(list, v)
	list = append(list, c.memory()...)
	sortFindings(list, c.order)
	decidedFirst(list, v)
	return Result{Verdict: v, Findings: append(before, list...), Tree: t.nodes(),
		States: c.states, Groups: plain(c.groups), Phases: c.phaseVerdicts()}
}

// abstain returns the result whose verdict is withheld for the reason in f. Of a clock
// that is not plausible nothing is reported, because all findings are shares of the same
// windows.
func (c *evaluator) abstain(f Finding, before, others []Finding, t tree) Result {
	if f.Rule == RuleClocks {
		return c.withheld(f, before, nil, c.order)
	}
	ofWindow := func(n *node) bool { return n.part != basisSteps && n.part != basisPhases }
	r := c.withheld(f, before, append(others, t.findings(ofWindow)...), c.order)
	r.Tree = t.nodes()
	forInformation(r.Tree)
	return r
}

// commPart compares exposed communication with its limits.
func (c *evaluator) commPart() []reading {
	p := partOf(RuleExposedComm)
	r := c.lossOfWindow(p)
	ranks := c.peers()
	r.Evidence = slices.Concat(c.worstDevice(p), c.overlap(), c.largestKernel("comm"), ranks.evidence(), c.worstStep(p))
	r.scope = append(c.kernelPlace("comm"), r.scope...)
	r.Next = append([]Step{ranks.advice()}, commAdvice()...)
	return []reading{r}
}

// copiesPart compares exposed copies with their limits.
func (c *evaluator) copiesPart() []reading {
	p := partOf(RuleExposedCopies)
	r := c.lossOfWindow(p)
	kinds := c.copyKinds()
	r.Evidence = slices.Concat(copyEvidence(kinds), c.worstDevice(p), c.worstStep(p))
	r.Where = c.copyPlaces()
	r.Next = copyAdvice(kinds)
	return []reading{r}
}

// lossOfWindow returns the reading of a part of the window that is a loss, without its
// evidence and fixes.
func (c *evaluator) lossOfWindow(p part) reading {
	num, den := p.time(c.judged), c.judged.Window()
	f, limit, reached := measured(c.rules[p.rule], num, den)
	f.Title = c.figure(p, c.judged)
	if reached {
		f.Title += over(limit)
	}
	f.gain(num, den, c.judgedWhole())
	return reading{Finding: f, reached: reached, scope: c.worstPlaces(p)}
}

// computePart reports the good case. If most of the kernel time moves data, it says only
// that the GPU is busy, because the run then has another verdict.
func (c *evaluator) computePart() []reading {
	p := partOf(RuleComputeBound)
	f, limit, reached := measured(c.rules[p.rule], p.time(c.judged), c.judged.Window())
	kind := BoundCompute.is()
	if c.movesData() {
		kind = "busy"
	}
	f.Title = fmt.Sprintf("%s; %s if ≥ %s", c.figure(p, c.judged), kind, unit.Percent(limit))
	f.Evidence = append(c.categories(), c.largestKernel("compute")...)
	f.Where = c.kernelPlace("compute")
	f.Next = []Step{advise("gains-are-in-kernels"), advise("busy-is-not-efficient")}
	return []reading{{Finding: f, reached: reached}}
}

// measured returns the numbers of a finding, the limit that num/den reaches, and
// whether it reaches any.
func measured(r Rule, num, den int64) (f Finding, limit float64, ok bool) {
	value := float64(num) / float64(den)
	level, limit, ok := r.level(value)
	return Finding{
		Rule: r.ID, Level: level,
		Value: value, NumeratorNS: num, DenominatorNS: den,
		Warn: r.Warn, Critical: r.Critical,
	}, limit, ok
}

// over returns the end of a title that names the limit: "; limit 10%".
func over(limit float64) string { return "; limit " + unit.Percent(limit) }

// figure returns the title of a part of the window, without its limit: "GPU idle:
// 71.9% of the window (84.2 ms of 117.1 ms)". With several GPUs the durations are
// means.
func (c *evaluator) figure(p part, a summary.Activity) string {
	return fmt.Sprintf("%s: %s of %s (%s)", upper(p.what), unit.Share(p.time(a), a.Window()), c.judgedName(), c.perGPU(p.time(a), a.Window()))
}

// ofWindow returns a share of the windows for a title: "19.2% of the window (10.13
// ms of 52.74 ms)". With several GPUs the share is their mean.
func (c *evaluator) ofWindow(ns int64) string {
	share, window := unit.Share(ns, c.total.Window()), c.total.Window()
	if n := len(c.Devices); n > 1 {
		return fmt.Sprintf("%s of GPU time (mean of %d GPUs)", share, n)
	}
	return fmt.Sprintf("%s of the window (%s)", share, fraction(ns, window))
}

// perGPU returns two sums over the GPUs as durations, with several GPUs as means:
// "8.960 ms of 52.70 ms, mean of 8 GPUs".
func (c *evaluator) perGPU(num, den int64) string {
	n := int64(len(c.Devices))
	if n < 2 {
		return fraction(num, den)
	}
	return fmt.Sprintf("%s, mean of %d GPUs", fraction(num/n, den/n), n)
}

// judgedName returns the name of the denominator for shares of the judged part of the
// windows.
func (c *evaluator) judgedName() string { return c.windowName() + c.leftOut() }

// windowName returns the name of the denominator for shares of the windows.
func (c *evaluator) windowName() string {
	if len(c.Devices) > 1 {
		return "GPU time"
	}
	return "the window"
}

// judgedWhole returns the name of the judged part of the windows as a sum.
func (c *evaluator) judgedWhole() string { return c.windowWhole() + c.leftOut() }

// windowWhole returns the name of the windows as a sum.
func (c *evaluator) windowWhole() string {
	if n := len(c.Devices); n > 1 {
		return fmt.Sprintf("the GPU time of %d GPUs", n)
	}
	return "the window"
}

// leftOut names what the judged part of the windows leaves out.
func (c *evaluator) leftOut() string {
	if c.judged == c.total {
		return ""
	}
	return " without " + c.left
}

// fraction returns two durations in one unit, as "84.2 ms of 210.5 ms".
func fraction(num, den int64) string {
	return unit.DurationOf(num, den)
}

// upper returns a text that begins with a capital letter, if it is ASCII.
func upper(s string) string {
	if s != "" && s[0] >= 'a' && s[0] <= 'z' {
		return string(s[0]-'a'+'A') + s[1:]
	}
	return s
}

// short cuts the longest names of kernels, which templates make, for titles. The
// report shortens names further and needs them whole for that.
func short(name string) string {
	const most = 400
	if r := []rune(name); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return name
}
