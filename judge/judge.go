// Package judge turns a summary into findings and one verdict. It cannot see a
// trace, so every verdict can be reproduced from a saved summary alone.
//
// Rules are data: [Rules] lists what each measures, its limits and who uses
// them, and [ParseThresholds] replaces the limits. Figures are pooled over
// devices: the cells of all devices over the windows of all devices, so a
// device with a long window weighs more. Evidence names the worst device.
//
// Tables of sums that other tools have made are judged where there is nothing
// else: they have no window, so the verdict says what stands out in them and
// not what bounds the run.
package judge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/summary"
	"assay/unit"
)

// A part is one of the shares of the window that bound a run. With compute
// time the parts sum to the window.
type part struct {
	rule  string
	bound string // Verdict.Bound if this part decides
	what  string
	time  func(summary.Activity) int64
}

// parts are in order of precedence: while a device waits for its host, the
// other shares describe the wait, not the work.
func parts() []part {
	return []part{
		{RuleGPUIdle, "host", "GPU idle time", summary.Activity.Idle},
		{RuleExposedComm, "communication", "exposed communication", summary.Activity.ExposedComm},
		{RuleExposedCopies, "copies", "exposed copy and memset time", summary.Activity.ExposedCopy},
	}
}

func computePart() part {
	return part{RuleComputeBound, "compute", "compute", summary.Activity.Compute}
}

// A court is one summary under judgment.
type court struct {
	*summary.Summary
	rules  map[string]Rule
	total  summary.Activity // of all devices
	judged summary.Activity // the part of total that says what bounds the run: without a long warm-up
	left   string           // what judged is without, "" where it is all
	calls  []holding        // that hold the host back
}

// Judge holds s to the thresholds. Equal summaries give equal results.
func Judge(s *summary.Summary, th Thresholds) Result {
	r := judgeAll(s, th).withReason()
	r.Stacks = Stacks(s)
	settle(s, r.Findings, r.Stacks)
	return r
}

// judgeAll returns the verdict and the findings, not yet settled.
func judgeAll(s *summary.Summary, th Thresholds) Result {
	c := court{Summary: s, rules: map[string]Rule{}}
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

// withCounters judges kernels by their counters, beside a timeline if there is
// one.
func (c *court) withCounters(found []Finding, order map[string]int) Result {
	v, counters := c.judgeCounters(order)
	r := Result{Verdict: v, Findings: append(append(found, counters...), c.memory()...)}
	if c.total.Window() > 0 {
		r = c.timeline(found, counters, order)
	}
	r.Sides, r.Peaks = c.sides(), c.peaks()
	return r
}

// timeline judges what ran when. Found has the findings that come first in any
// case, others those on something else.
func (c *court) timeline(found, others []Finding, order map[string]int) Result {
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
		return Result{Verdict: decidedBy("unknown", f), Findings: append(found, f)}
	}
	states, groups := c.sortSteps()
	c.judged, c.left = c.withoutWarmUp(states, groups)
	c.calls = c.holdings()
	judged := slices.Clone(others)
	for _, p := range parts() {
		if f, ok := c.judgePart(p); ok {
			judged = append(judged, f)
		}
	}
	judged = c.held(judged)
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
	if f, ok := c.clocks(); ok { // shares of such windows are not shown either
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

// decidedBy returns the verdict that f leads to.
func decidedBy(bound string, f Finding) Verdict {
	return Verdict{Bound: bound, Sentence: f.Title, Rule: f.Rule}
}

// verdict picks what bounds the run: the first part over its critical limit,
// else the largest over its warn limit, else compute if it is the largest part
// of the window, else nothing.
func (c *court) verdict(findings []Finding) Verdict {
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
			bound = "unknown" // the graphs ran meanwhile
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
			return decidedBy("memory", moves)
		}
		return decidedBy("compute", f)
	}
	v := c.nothingOver()
	if v.Bound == "compute" && ofMemory && moves.Level > Info {
		v = Verdict{Bound: "memory", Sentence: v.Sentence + "; " + moves.Title, Rule: moves.Rule}
	}
	return v
}

// nothingOver is the verdict where every part is under its warn limit.
func (c *court) nothingOver() Verdict {
	window, compute := c.judged.Window(), c.judged.Compute()
	figures := []string{c.figure(computePart(), c.judged)}
	largest := true
	for _, p := range parts() {
		ns := p.time(c.judged)
		figures = append(figures, fmt.Sprintf("%s %s", p.what, unit.Share(ns, window)))
		largest = largest && compute >= ns
	}
	if largest {
		return Verdict{Bound: "compute", Sentence: figures[0] + ", and no other part of it is over its warn limit: " + strings.Join(figures[1:], ", ")}
	}
	return Verdict{Bound: "mixed", Sentence: "nothing stands out: " + strings.Join(figures, ", ")}
}

// judgePart holds one part of the window to its limits.
func (c *court) judgePart(p part) (Finding, bool) {
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
	f.Title = c.figure(p, c.judged) + ", " + reaches(f, limit)
	f.gain(num, den, c.judgedName())
	evidence := c.worstDevice(p)
	switch p.rule {
	case RuleExposedComm:
		ranks := c.peers()
		f = c.straggling(f, ranks, limit)
		evidence = slices.Concat(evidence, c.overlap(), c.largestKernel("comm"), ranks.evidence())
		f.Where = append(f.Where, c.kernelPlace("comm")...)
		f.Next = []Step{ranks.advice()}
		if f.Rule == RuleExposedComm { // a rank that is late is not helped by another way to send
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

// computeBound reports the good case. Where most of the work moves data it says only
// that the device is busy: that it calculates would be another verdict.
func (c *court) computeBound(moving bool) (Finding, bool) {
	p := computePart()
	rule := c.rules[p.rule]
	f, limit, ok := measured(rule, p.time(c.judged), c.judged.Window())
	if !ok {
		return Finding{}, false
	}
	kind := "compute-bound"
	if moving {
		kind = "busy"
	}
	f.Title = fmt.Sprintf("%s, at least the %s of a %s run", c.figure(p, c.judged), unit.Percent(limit), kind)
	categories := c.categories()
	if len(categories) > 0 {
		f.Title += "; " + categories[0]
	}
	f.Evidence = append(categories, c.largestKernel("compute")...)
	f.Where = c.kernelPlace("compute")
	f.Next = []Step{advise("gains-are-in-kernels"), advise("busy-is-not-efficient")}
	return f, true
}

// measured returns the numbers of a finding, the limit that num/den reaches,
// and whether it reaches any.
func measured(r Rule, num, den int64) (f Finding, limit float64, ok bool) {
	value := float64(num) / float64(den)
	level, limit, ok := r.level(value)
	return Finding{
		Rule: r.ID, Level: level,
		Value: value, NumeratorNS: num, DenominatorNS: den,
		Warn: r.Warn, Critical: r.Critical,
	}, limit, ok
}

// reaches says which limit f is at or over.
func reaches(f Finding, limit float64) string {
	word := "over"
	if f.Value == limit {
		word = "at"
	}
	return fmt.Sprintf("%s the %s limit of %s", word, f.Level, unit.Percent(limit))
}

// figure prints a part of the pooled window with numerator and denominator.
func (c *court) figure(p part, a summary.Activity) string {
	return fmt.Sprintf("%s is %s of %s (%s)", p.what, unit.Share(p.time(a), a.Window()), c.judgedName(), fraction(p.time(a), a.Window()))
}

// judgedName says what shares of the judged part of the windows are of.
func (c *court) judgedName() string {
	if c.judged != c.total {
		return c.windowName() + " without " + c.left
	}
	return c.windowName()
}

// windowName says what shares of the pooled window are of.
func (c *court) windowName() string {
	if n := len(c.Devices); n > 1 {
		return fmt.Sprintf("the windows of %d devices", n)
	}
	return "the window"
}

// fraction prints two durations as "84.2 ms of 210.5 ms".
func fraction(num, den int64) string {
	return unit.DurationOf(num, den)
}

// short cuts the longest names that templates give to kernels, for titles. The
// report makes names short, and needs them whole to find what is in them.
func short(name string) string {
	const most = 400
	if r := []rune(name); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return name
}
