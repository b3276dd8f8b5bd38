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
	rules map[string]Rule
	total summary.Activity // of all devices
}

// Judge holds s to the thresholds. Equal summaries give equal results.
func Judge(s *summary.Summary, th Thresholds) Result {
	r := judgeAll(s, th)
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
	judged := slices.Clone(others)
	for _, p := range parts() {
		if f, ok := c.judgePart(p); ok {
			judged = append(judged, f)
		}
	}
	judged = c.held(judged)
	judged = c.judgeLongGaps(judged)
	judged = c.judgeUtilization(judged)
	if f, ok := c.dominantKernel(); ok {
		judged = append(judged, f)
	}
	if f, ok := c.computeBound(); ok {
		judged = append(judged, f)
	}
	if f, ok := c.tooLittleWork(); ok {
		sortFindings(judged, order)
		// The shares stay, for who wants them, but nothing follows from them.
		for i := range judged {
			judged[i].Level = Info
		}
		return Result{Verdict: decidedBy("unknown", f), Findings: slices.Concat(found, []Finding{f}, c.memory(), judged)}
	}
	states, groups := c.sortSteps()
	judged = c.judgePhases(groups, judged)
	window := c.verdict(judged)
	judged = append(judged, c.judgeSteps(states, groups, window)...)
	judged = append(judged, c.memory()...)
	sortFindings(judged, order)
	return Result{Verdict: window, Findings: append(found, judged...), States: states, Groups: plain(groups), Phases: c.phaseVerdicts()}
}

// decidedBy returns the verdict that f leads to.
func decidedBy(bound string, f Finding) Verdict { return Verdict{bound, f.Title, f.Rule} }

// verdict picks what bounds the run: the first part over its critical limit,
// else the largest over its warn limit, else compute if it is the largest part
// of the window, else nothing.
func (c *court) verdict(findings []Finding) Verdict {
	found := map[string]Finding{}
	for _, f := range findings {
		found[f.Rule] = f
	}
	var worst Verdict
	share := 0.0
	for _, p := range parts() {
		f, ok := found[p.rule]
		switch {
		case !ok:
		case f.Level == Critical:
			return decidedBy(p.bound, f)
		case f.Value > share:
			worst, share = decidedBy(p.bound, f), f.Value
		}
	}
	if share > 0 {
		return worst
	}
	if f, ok := found[RuleComputeBound]; ok {
		return decidedBy("compute", f)
	}
	return c.nothingOver()
}

// nothingOver is the verdict where every part is under its warn limit.
func (c *court) nothingOver() Verdict {
	window, compute := c.total.Window(), c.total.Compute()
	figures := []string{c.figure(computePart(), c.total)}
	largest := true
	for _, p := range parts() {
		ns := p.time(c.total)
		figures = append(figures, fmt.Sprintf("%s %s", p.what, unit.Share(ns, window)))
		largest = largest && compute >= ns
	}
	if largest {
		return Verdict{Bound: "compute", Sentence: figures[0] + ", and nothing else is over its warn limit: " + strings.Join(figures[1:], ", ")}
	}
	return Verdict{Bound: "mixed", Sentence: "nothing stands out: " + strings.Join(figures, ", ")}
}

// judgePart holds one part of the window to its limits.
func (c *court) judgePart(p part) (Finding, bool) {
	rule := c.rules[p.rule]
	num, den := p.time(c.total), c.total.Window()
	f, limit, ok := measured(rule, num, den)
	if !ok {
		return Finding{}, false
	}
	f.Title = c.figure(p, c.total) + ", " + reaches(f, limit)
	f.Evidence = c.worstDevice(p)
	f.gain(num, den, c.windowName())
	switch p.rule {
	case RuleGPUIdle:
		idle := c.idle()
		f.gain(num-c.profilersOwn(), den, c.windowName())
		f.Where = c.largestGaps()
		f.Evidence = append(f.Evidence, idle.evidence()...)
		f.Evidence = append(f.Evidence, c.medianKernel()...)
		f.Next = append(idle.advice(), c.stepAdvice()...)
	case RuleExposedComm:
		f.Evidence = append(f.Evidence, c.overlap()...)
		f.Evidence = append(f.Evidence, c.largestKernel("comm")...)
		f.Where = c.kernelPlace("comm")
		ranks := c.peers()
		f.Evidence = append(f.Evidence, ranks.evidence()...)
		f.Next = append([]string{ranks.advice()}, commAdvice()...)
	case RuleExposedCopies:
		kinds := c.copyKinds()
		f.Evidence = append(copyEvidence(kinds), f.Evidence...)
		f.Where = c.copyPlaces()
		f.Next = copyAdvice(kinds)
	}
	f.Evidence = append(f.Evidence, c.worstStep(p)...)
	f.Where = append(f.Where, c.worstPlaces(p)...)
	return f, true
}

// computeBound reports the good case.
func (c *court) computeBound() (Finding, bool) {
	p := computePart()
	rule := c.rules[p.rule]
	f, limit, ok := measured(rule, p.time(c.total), c.total.Window())
	if !ok {
		return Finding{}, false
	}
	f.Title = fmt.Sprintf("%s, at least the %s of a compute-bound run", c.figure(p, c.total), unit.Percent(limit))
	categories := c.categories()
	if len(categories) > 0 {
		f.Title += "; " + categories[0]
	}
	f.Evidence = append(categories, c.largestKernel("compute")...)
	f.Where = c.kernelPlace("compute")
	f.Next = computeAdvice()
	return f, true
}

// wholeGraph is the category of graphs that were recorded as one event each, in
// which no kernel can be told from another.
const wholeGraph = "whole-graph"

// dominantKernel asks whether the kernels of one name are most of the work.
func (c *court) dominantKernel() (Finding, bool) {
	top, all := c.topKernel("")
	if all == 0 || top.Category == wholeGraph {
		return Finding{}, false
	}
	f, limit, ok := measured(c.rules[RuleDominantKernel], top.TotalNS, all)
	if !ok {
		return Finding{}, false
	}
	f.Title = fmt.Sprintf("kernel %q is %s of all kernel work (%s of %s, sums of durations), %s",
		short(top.Name), unit.Share(top.TotalNS, all), unit.Duration(top.TotalNS), unit.Duration(all), reaches(f, limit))
	f.Evidence = []string{fmt.Sprintf("%q, class %s, category %s: %s runs, %s on average, %s at most",
		top.Name, top.Class, top.Category, unit.Count(top.Count), unit.Duration(top.TotalNS/max(1, top.Count)), unit.Duration(top.MaxNS))}
	f.Evidence = append(f.Evidence, c.launchers(top)...)
	f.Where = c.kernelPlaces(top.Name)
	if class, known := summary.ClassOf(top.Class); known {
		rest := summary.Class(0)
		for _, other := range summary.Singles() {
			if other != class {
				rest |= other
			}
		}
		f.gain(min(top.TotalNS, c.total.Without(class, rest)), c.total.Window(), c.windowName())
	}
	if top.Class == "comm" {
		f.ToBeSure = []string{"the traces of all ranks, for it runs for as long as it waits for its peers"}
	}
	f.Next = kernelAdvice(top, c.peers())
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
	return fmt.Sprintf("%s is %s of %s (%s)", p.what, unit.Share(p.time(a), a.Window()), c.windowName(), fraction(p.time(a), a.Window()))
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
	return unit.Duration(num) + " of " + unit.Duration(den)
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
