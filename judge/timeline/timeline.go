package timeline

import (
	"fmt"
	"slices"

	"assay/internal/unit"
	"assay/judge/advice"
	"assay/judge/finding"
	"assay/judge/monitors"
	"assay/judge/ranks"
	"assay/judge/rule"
	"assay/judge/tree"
	"assay/summary"
)

// A part is a share of the window that can limit a run. The parts and compute time sum to the
// window.
type part struct {
	rule  string
	bound finding.Bound // the verdict if this part decides
	what  string        // display name
	time  func(summary.Activity) int64
}

// parts returns the parts in the order of precedence. Idle time comes first: while a GPU waits for
// the CPU, the other shares describe the wait, not the work.
func parts() []part {
	return []part{
		{rule.GPUIdle, finding.BoundHost, "GPU idle", summary.Activity.Idle},
		{rule.ExposedComm, finding.BoundCommunication, "exposed communication", summary.Activity.ExposedComm},
		{rule.ExposedCopies, finding.BoundCopies, "exposed copies", summary.Activity.ExposedCopy},
	}
}

// computing returns the part of the window that is not a loss.
func computing() part {
	return part{rule.ComputeBound, finding.BoundCompute, "compute", summary.Activity.Compute}
}

// partOf returns the part of the window that a rule is about.
func partOf(id string) part {
	all := append(parts(), computing())
	return all[slices.IndexFunc(all, func(p part) bool { return p.rule == id })]
}

// boundOf returns the bottleneck of a run in which this part decides.
func (p part) boundOf(c *Evaluator) finding.Bound {
	if p.rule == rule.GPUIdle && mostlyNeighbors(c) {
		return finding.BoundGPUs
	}
	if p.rule == rule.GPUIdle && mostlyCPUCollectives(c) {
		return finding.BoundCommunication
	}
	if p.rule == rule.GPUIdle && mostlyQueuedGaps(c) {
		return finding.BoundCompute
	}
	return p.bound
}

// An Evaluator applies the rules to a timeline.
type Evaluator struct {
	*tree.Context
	calls []blocking // calls that block the CPU, in the order of their rules

	decode *decoding // nil until it is measured

	recorded  summary.Activity // Total with the warm-up
	leftSteps bool             // Judged leaves out warm-up steps, and not phases

	logged      int64 // the median time in ns of the steps that a log of the same run has, or 0
	costDecides bool  // the profiler's least cost is enough to explain the idle time

	states []StepState // of each step of the summary
	groups []stepGroup // the group with the most time first
}

// New returns an evaluator for a context; logged is the median time in ns of logged steps, or 0.
func New(c *tree.Context, logged int64) *Evaluator { return &Evaluator{Context: c, logged: logged} }

// A Result is the result for a timeline.
type Result struct {
	finding.Result

	// States says for each step of the summary, in their order, whether it counts; Groups adds
	// steps up by kind, and Phases has what limits each phase.
	States []StepState
	Groups []StepGroup
	Phases []PhaseVerdict
	Part   Part // of the windows that the verdict is about
}

// Judge judges a timeline. The findings in before come first; others are findings of other
// subjects.
func (c *Evaluator) Judge(before, others []finding.Finding) Result {
	stops := c.Findings(func(r tree.Row) bool { return r.Abstains && r.Part == tree.BasisCapture })
	if c.Total.Window() == 0 {
		ofSlices := c.Findings(tree.BasedOn(tree.BasisSlices))
		if len(ofSlices) > 0 { // slices of many workers show which one is slow without any GPU
			stops[0].Level = finding.Info
			return Result{Result: finding.Result{Verdict: finding.DecidedBy(finding.BoundStraggler, ofSlices[0]),
				Findings: slices.Concat(before, ofSlices, stops[:1])}}
		}
		list := append(before, stops[0])
		return Result{Result: finding.Result{Verdict: finding.DecidedBy(finding.BoundUnknown, stops[0]), Findings: list}}
	}
	leaveOutUnrecorded(c)
	c.states, c.groups = sortSteps(c)
	c.recorded = c.Total
	whole := c.Summary
	if c.Judged, c.Left, c.leftSteps = withoutWarmUp(c, c.states, c.groups); c.leftSteps {
		leaveOutWarmUp(c)
	}
	c.calls = blockings(c)
	t := c.Assemble()
	if len(stops) > 0 {
		return c.abstain(whole, stops[0], before, others, t)
	}
	v := verdict(c, t)
	for _, n := range c.MeasureAbout(v) {
		switch {
		case !n.Abstains:
			t.Own = append(t.Own, n)
		case n.Partial:
			before = append(before, n.Finding)
		default:
			return c.abstain(whole, n.Finding, before, others, t)
		}
	}
	v.Doubt = doubt(c, v)
	list := append(others, t.Findings(func(*tree.Node) bool { return true })...)
	t.LeadWith(list, v)
	v = withoutProfiler(c, v, list)
	list = append(list, c.OfMemory()...)
	finding.SortFindings(list, c.Order)
	t.LeadWithPart(list, v)
	finding.DecidedFirst(list, v)
	slowingFirst(list, v)
	return Result{Result: finding.Result{Verdict: v, Findings: append(before, list...), Tree: t.Nodes()},
		States: c.states, Groups: plain(c.groups), Phases: phaseVerdicts(c), Part: judgedPart(c, whole, v.Rule != rule.WarmUpPhases && v.Rule != rule.WarmUpSteps)}
}

// abstain returns the result if f withholds the verdict. If the clocks are not plausible, the work is
// not that of the profiled code, or the runs differ, nothing else is reported, because all findings are
// shares of the same windows.
func (c *Evaluator) abstain(whole *summary.Summary, f finding.Finding, before, others []finding.Finding, t tree.Tree) Result {
	if f.Rule == rule.Clocks || f.Rule == rule.QueuedBefore || f.Rule == rule.RunsDiffer {
		return Result{Result: withheld(c, f, before, nil, c.Order)}
	}
	ofWindow := func(n *tree.Node) bool { return n.Part != tree.BasisSteps && n.Part != tree.BasisPhases }
	r := withheld(c, f, before, append(others, t.Findings(ofWindow)...), c.Order)
	r.Tree = t.Nodes()
	finding.ForInformation(r.Tree)
	return Result{Result: r, Part: judgedPart(c, whole, false)}
}

// commPart compares exposed communication with its limits.
func (c *Evaluator) commPart() []tree.Reading {
	p := partOf(rule.ExposedComm)
	r := lossOfWindow(c, p)
	r.Evidence = slices.Concat(worstDevice(c, p), overlap(c), largestKernel(c, "comm"), ranks.New(c.Context).Evidence(),
		worstStep(c, p))
	if r.Cause = ranks.New(c.Context).Transfer(); r.Cause != "" {
		r.Evidence = append(r.Evidence, r.Cause)
	}
	r.Scope = append(kernelPlace(c, "comm"), r.Scope...)
	r.Next = append([]finding.Step{ranks.New(c.Context).Advice()}, advice.CommAdvice(c.Summary)...)
	return []tree.Reading{r}
}

// copiesPart compares exposed copies with their limits.
func (c *Evaluator) copiesPart() []tree.Reading {
	p := partOf(rule.ExposedCopies)
	r := lossOfWindow(c, p)
	kinds := advice.CopyKinds(c.Copies)
	r.Evidence = slices.Concat(advice.CopyEvidence(kinds), worstDevice(c, p), worstStep(c, p))
	r.Where = copyPlaces(c)
	r.Next = advice.CopyAdvice(kinds, int64(len(c.Steps)))
	return []tree.Reading{r}
}

// lossOfWindow returns the reading of a part of the window that is a loss, without evidence and
// fixes.
func lossOfWindow(c *Evaluator, p part) tree.Reading {
	num, den := p.time(c.Judged), c.Judged.Window()
	f, limit, reached := rule.Measured(c.Limits[p.rule], num, den)
	f.Title = figure(c, p, c.Judged)
	if reached {
		f.Title += rule.Over(limit)
	}
	c.GainOfJudged(&f, num)
	return tree.Reading{Finding: f, Reached: reached, Scope: worstPlaces(c, p)}
}

// computePart reports that compute is most of the window. If most of the kernel time moves data, it
// says only that the GPU is busy, because the verdict is memory-bound then.
func (c *Evaluator) computePart() []tree.Reading {
	p := partOf(rule.ComputeBound)
	f, limit, reached := rule.Measured(c.Limits[p.rule], p.time(c.Judged), c.Judged.Window())
	kind := finding.BoundCompute.Is()
	switch {
	case movesData(c):
		kind = "busy"
	case decodingOf(c).decodes:
		kind = finding.BoundGPU.Is()
	}
	f.Title = fmt.Sprintf("%s; %s if ≥ %s", figure(c, p, c.Judged), kind, unit.Percent(limit))
	if kind == finding.BoundGPU.Is() {
		f.Title += ". " + decodingOf(c).limit()
	}
	f.Evidence = append(categories(c), largestKernel(c, "compute")...)
	f.Where = kernelPlace(c, "compute")
	if top, _ := topKernel(c, summary.ClassCompute.String()); advice.IsFastProduct(top) {
		f.Cause = monitors.PowerLimit(c.Context)
	}
	f.Next = []finding.Step{finding.Advise("allow-tf32"), finding.Advise("gains-are-in-kernels"), finding.Advise("checkpoint-less"),
		finding.Advise("busy-is-not-efficient")}
	if d := decodingOf(c); d.decodes && !movesData(c) {
		f.Evidence = append(d.evidence(c), f.Evidence...)
		f.Next = []finding.Step{finding.Advise("profile-one-kernel"), finding.Advise("batch-more-requests")}
	}
	return []tree.Reading{{Finding: f, Reached: reached}}
}

// figure returns the title of a part of the window, without its limit: "GPU idle: 71.9% of the
// window (84.2 ms of 117.1 ms)". With several GPUs the durations are means.
func figure(c *Evaluator, p part, a summary.Activity) string {
	return fmt.Sprintf("%s: %s of %s (%s)", finding.Upper(p.what), unit.Share(p.time(a), a.Window()), c.JudgedName(),
		c.PerGPU(p.time(a), a.Window()))
}
