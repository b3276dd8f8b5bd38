// Package judge turns a summary into findings and one verdict. It cannot see a
// trace, so every verdict can be reproduced from a saved summary alone.
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
	"cmp"
	"fmt"
	"slices"
	"strings"

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

// computePart returns the part of the window that is not a loss.
func computePart() part {
	return part{RuleComputeBound, BoundCompute, "compute", summary.Activity.Compute}
}

// An evaluator applies the rules to one summary.
type evaluator struct {
	*summary.Summary
	rules  map[string]Rule
	total  summary.Activity // of all devices
	judged summary.Activity // total without a long warm-up: the verdict is about this
	left   string           // what judged leaves out; "" if nothing
	calls  []blocking       // the calls that block the CPU
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
func evaluate(s *summary.Summary, th Thresholds) Result {
	c := evaluator{Summary: s, rules: map[string]Rule{}}
	order := map[string]int{}
	for i, r := range th.Rules() {
		c.rules[r.ID], order[r.ID] = r, i
	}
	for _, d := range s.Devices {
		c.total = c.total.Plus(d.Activity)
	}
	c.judged = c.total
	found := []Finding{}
	if f, ok := c.captureQuality(); ok {
		found = append(found, f)
	}
	if c.ofMemory() {
		return c.memoryResult(found)
	}
	if len(c.Counters) > 0 {
		return c.withCounters(found, order)
	}
	return c.timeline(found, nil, order)
}

// withCounters judges kernels by their counters, and the timeline if there is one.
func (c *evaluator) withCounters(found []Finding, order map[string]int) Result {
	v, counters := c.judgeCounters(order)
	r := Result{Verdict: v, Findings: append(append(found, counters...), c.memory()...)}
	if c.total.Window() > 0 {
		r = c.timeline(found, counters, order)
	}
	r.Sides, r.Peaks = c.sides(), c.peaks()
	return r
}

// timeline judges what ran when. The findings in found come first in any case;
// others has those of other rules.
func (c *evaluator) timeline(found, others []Finding, order map[string]int) Result {
	if c.total.Window() == 0 && len(c.Tables) > 0 && len(c.Spans) == 0 {
		r, ok := c.judgeProfiles(found, order)
		if !ok {
			r = c.judgeTables(found)
		}
		r.Findings = append(r.Findings, c.memory()...)
		return r
	}
	if c.total.Window() == 0 {
		f := c.noGPUTime()
		return Result{Verdict: decidedBy(BoundUnknown, f), Findings: append(found, f)}
	}
	states, groups := c.sortSteps()
	c.judged, c.left = c.withoutWarmUp(states, groups)
	c.calls = c.blockings()
	judged := slices.Clone(others)
	for _, p := range parts() {
		if f, ok := c.judgePart(p); ok {
			judged = append(judged, f)
		}
	}
	judged = c.blockingCalls(judged)
	judged = c.judgeLongGaps(judged)
	judged = c.judgeUtilization(judged)
	judged = c.judgeRanks(judged)
	for _, ask := range []func() (Finding, bool){c.opaqueGraphs, c.dominantKernel, c.memoryBandwidth} {
		if f, ok := ask(); ok {
			judged = append(judged, f)
		}
	}
	if f, ok := c.computeBound(findingOf(judged, RuleMemoryBandwidth) != nil); ok {
		judged = append(judged, f)
	}
	judged = c.judgeTinyKernels(judged)
	if f, ok := c.clocks(); ok { // the other findings are shares of the same windows
		return c.withheld(f, found, nil, order)
	}
	if f, ok := c.tooLittleWork(); ok {
		return c.withheld(f, found, judged, order)
	}
	window := c.verdict(judged)
	lost, withheld, ok := c.missingRecords(window)
	switch {
	case withheld:
		return c.withheld(lost, found, judged, order)
	case ok:
		found = append(found, lost)
	}
	judged = c.judgePhases(groups, judged)
	window = c.verdict(judged)
	c.recordLater(judged, window)
	judged = append(judged, c.judgeSteps(states, groups, window)...)
	judged = append(judged, c.memory()...)
	sortFindings(judged, order)
	decidedFirst(judged, window)
	return Result{Verdict: window, Findings: append(found, judged...), States: states, Groups: plain(groups), Phases: c.phaseVerdicts()}
}

// decidedBy returns the verdict of a finding: its bound and its title.
func decidedBy(bound Bound, f Finding) Verdict {
	return Verdict{Bound: bound, Sentence: f.Title, Rule: f.Rule}
}

// verdict returns the bottleneck of the run: the first part over its critical limit,
// else the largest over its warn limit, else compute if it is the largest part
// of the window, else none.
func (c *evaluator) verdict(findings []Finding) Verdict {
	found := map[string]Finding{}
	for _, f := range findings {
		found[cmp.Or(f.InPlaceOf, f.Rule)] = f
	}
	var worst Verdict
	share := 0.0
	for _, p := range parts() {
		f, ok := found[p.rule]
		bound := p.bound
		if f.Rule == RuleOpaqueGraphs {
			bound = BoundUnknown // the GPU ran graphs during this time
		}
		of := float64(p.time(c.judged)) / float64(c.judged.Window())
		switch {
		case !ok:
		case f.Level == Critical:
			return decidedBy(bound, f)
		case of > share:
			worst, share = decidedBy(bound, f), of
		}
	}
	if share > 0 {
		return worst
	}
	moves, ofMemory := found[RuleMemoryBandwidth]
	if f, ok := found[RuleComputeBound]; ok {
		if ofMemory && moves.Level > Info {
			return decidedBy(BoundMemory, moves)
		}
		return decidedBy(BoundCompute, f)
	}
	v := c.nothingOver()
	if v.Bound == BoundCompute && ofMemory && moves.Level > Info {
		v = Verdict{Bound: BoundMemory, Sentence: v.Sentence + ". " + moves.Title, Rule: moves.Rule}
	}
	return v
}

// nothingOver returns the verdict if no part exceeds its warn limit.
func (c *evaluator) nothingOver() Verdict {
	window, compute := c.judged.Window(), c.judged.Compute()
	figures := []string{c.figure(computePart(), c.judged)}
	largest := true
	for _, p := range parts() {
		ns := p.time(c.judged)
		figures = append(figures, fmt.Sprintf("%s %s", p.what, unit.Share(ns, window)))
		largest = largest && compute >= ns
	}
	if largest {
		return Verdict{Bound: BoundCompute, Sentence: figures[0] + "; all other parts are below their limits: " + strings.Join(figures[1:], ", ")}
	}
	return Verdict{Bound: BoundMixed, Sentence: "No dominant bottleneck. " + strings.Join(figures, ", ")}
}

// judgePart compares one part of the window with its limits.
func (c *evaluator) judgePart(p part) (Finding, bool) {
	if p.rule == RuleGPUIdle {
		f, ok := c.judgeIdle(p)
		f.Evidence = append(f.Evidence, c.worstStep(p)...)
		f.Where = append(f.Where, c.worstPlaces(p)...)
		return f, ok
	}
	num, den := p.time(c.judged), c.judged.Window()
	f, limit, ok := measured(c.rules[p.rule], num, den)
	if !ok {
		return Finding{}, false
	}
	f.Title = c.figure(p, c.judged) + over(limit)
	f.gain(num, den, c.judgedWhole())
	evidence := c.worstDevice(p)
	switch p.rule {
	case RuleExposedComm:
		ranks := c.peers()
		f = c.straggling(f, ranks, limit)
		evidence = slices.Concat(evidence, c.overlap(), c.largestKernel("comm"), ranks.evidence())
		f.Where = append(f.Where, c.kernelPlace("comm")...)
		f.Next = []Step{ranks.advice()}
		if f.Rule == RuleExposedComm { // faster communication does not help a straggler
			f.Next = append(f.Next, commAdvice()...)
		}
	case RuleExposedCopies:
		kinds := c.copyKinds()
		evidence = append(copyEvidence(kinds), evidence...)
		f.Where = c.copyPlaces()
		f.Next = copyAdvice(kinds)
	}
	f.Evidence = slices.Concat(f.Evidence, evidence, c.worstStep(p))
	f.Where = append(f.Where, c.worstPlaces(p)...)
	return f, true
}

// computeBound reports the good case. If most of the kernel time moves data, it says
// only that the GPU is busy, because the verdict is another one then.
func (c *evaluator) computeBound(moving bool) (Finding, bool) {
	p := computePart()
	rule := c.rules[p.rule]
	f, limit, ok := measured(rule, p.time(c.judged), c.judged.Window())
	if !ok {
		return Finding{}, false
	}
	kind := BoundCompute.is()
	if moving {
		kind = "busy"
	}
	f.Title = fmt.Sprintf("%s; %s from %s", c.figure(p, c.judged), kind, unit.Percent(limit))
	categories := c.categories()
	f.Evidence = append(categories, c.largestKernel("compute")...)
	f.Where = c.kernelPlace("compute")
	f.Next = []Step{advise("gains-are-in-kernels"), advise("busy-is-not-efficient")}
	return f, true
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
