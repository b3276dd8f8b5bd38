package judge

import (
	"cmp"
	"slices"

	"assay/judge/capture"
	"assay/judge/compiled"
	"assay/judge/counters"
	"assay/judge/finding"
	"assay/judge/health"
	"assay/judge/logs"
	"assay/judge/memory"
	"assay/judge/monitors"
	"assay/judge/profile"
	"assay/judge/ranks"
	"assay/judge/rule"
	"assay/judge/tables"
	"assay/judge/timeline"
	"assay/judge/tree"
	"assay/summary"
	"assay/summary/view"
	"assay/summary/view/hang"
)

// A Result is what Judge returns.
type Result struct {
	Verdict finding.Verdict `json:"verdict"`
	// First the one that decides the verdict, then worst first, and within a level by estimated
	// savings.
	Findings []finding.Finding `json:"findings"`

	// Tree orders the findings by the time that they explain: the parts of the window, each with
	// its causes, then the findings that have other denominators.
	Tree []finding.Node `json:"tree,omitempty"`

	// States says for each step of the summary, in their order, whether it counts as steady; Groups
	// adds steps up by kind, and Phases has what limits each phase. They are absent if there is no
	// timeline.
	States []timeline.StepState    `json:"step_states,omitempty"`
	Groups []timeline.StepGroup    `json:"step_groups,omitempty"`
	Phases []timeline.PhaseVerdict `json:"phase_verdicts,omitempty"`

	// Sides says for each row of the summary's counters, in their order, what limits its kernel;
	// Peaks has the limits that separate the sides.
	Sides []counters.Side `json:"sides,omitempty"`
	Peaks counters.Peaks  `json:"-"`

	// Stages has the verdict on each stage of a server, ordered by name. It is absent unless the
	// inputs cover several stages.
	Stages []StageVerdict `json:"stage_verdicts,omitempty"`

	// Runs has the verdict on each run, in the order of their first inputs. It is absent unless the
	// inputs are of runs that differ.
	Runs []RunVerdict `json:"run_verdicts,omitempty"`

	// Stacks is the software that was recognized in the summary.
	Stacks []rule.Stack `json:"stacks,omitempty"`

	Part timeline.Part `json:"-"` // see [Result.Judged]
}

// Judge applies the rules to s, with the limits of th. Equal summaries give equal results.
func Judge(s *summary.Summary, th rule.Thresholds) Result {
	r := evaluate(s, th).withReason()
	r.Stacks = rule.Stacks(s)
	finalize(s, r.Findings, r.Stacks)
	if d := r.Verdict.Doubt; d != nil && d.Code == rule.ProfilerCost {
		for i := range r.Findings {
			if r.Findings[i].Rule == r.Verdict.Rule {
				r.Findings[i].Confidence = finding.Hint
			}
		}
	}
	model(s, &r)
	r.Stages = stageVerdicts(s.Timelines(), th)
	if r.Verdict.Rule == rule.RunsDiffer {
		r.Runs = runVerdicts(s, th)
	}
	return r
}

// A RunVerdict is the verdict on one run, judged as if only its inputs were given.
type RunVerdict struct {
	Inputs  []int           `json:"inputs"` // indices of the inputs, ascending
	Verdict finding.Verdict `json:"verdict"`
}

// mostRuns is the number of runs that get a verdict of their own.
const mostRuns = 32

// runVerdicts judges each of several runs. Issues that only concern them together are left out.
func runVerdicts(s *summary.Summary, th rule.Thresholds) (out []RunVerdict) {
	list, _ := view.Programs(s)
	for _, run := range list[:min(len(list), mostRuns)] {
		one := s.Pick(run.Inputs)
		one.Issues = slices.DeleteFunc(one.Issues, func(is summary.Issue) bool { return is.Code == "rank-repeated" })
		out = append(out, RunVerdict{run.Inputs, evaluate(one, th).withReason().Verdict})
	}
	return out
}

// A StageVerdict is the verdict on one stage of a server, judged as if only its captures were
// given.
type StageVerdict struct {
	Stage   string          `json:"stage"` // for example "EXTEND"
	Verdict finding.Verdict `json:"verdict"`
}

// stageVerdicts judges the stages of a server separately, because different resources limit prefill
// and decode.
func stageVerdicts(s *summary.Summary, th rule.Thresholds) (out []StageVerdict) {
	for _, st := range view.Stages(s) {
		out = append(out, StageVerdict{st.Name, evaluate(s.Pick(st.Inputs), th).withReason().Verdict})
	}
	return out
}

// evaluators has the evaluator of each subject; all of them share one context.
type evaluators struct {
	*tree.Context
	timeline *timeline.Evaluator
	memory   *memory.Evaluator
	counters *counters.Evaluator
	profiles *profile.Evaluator
	tables   *tables.Evaluator
	logs     *logs.Evaluator
	compiled *compiled.Evaluator
}

// newEvaluators returns the evaluators for a summary and registers all their rules with the
// context.
func newEvaluators(s *summary.Summary, th rule.Thresholds) *evaluators {
	c := tree.NewContext(s.Timelines(), th)
	b := &evaluators{c, timeline.New(c, timeline.LoggedStep(s)), memory.New(c), counters.New(c), profile.New(c), tables.New(c), logs.New(c, s),
		compiled.New(c)}
	c.Rows = slices.Concat(capture.Rules(c), b.timeline.Rules(), ranks.New(c).Rules(), b.memory.Rules(),
		b.counters.Rules(), b.tables.Rules(), b.profiles.Rules(), b.logs.Rules(), b.compiled.Rules(),
		(&monitors.Evaluator{Context: c, Alone: !b.logs.Any()}).Rules(), (&health.Evaluator{Context: c}).Rules())
	return b
}

// evaluate returns the verdict and the findings, before confidence and fixes are added.
func evaluate(s *summary.Summary, th rule.Thresholds) Result { return newEvaluators(s, th).result() }

// result chooses the subject that decides the verdict. A profiler measures more than a log, so logs
// decide only if there are no captures.
func (b *evaluators) result() Result {
	before := b.Findings(func(r tree.Row) bool { return r.ID == rule.CaptureQuality })
	var out Result
	switch {
	case b.logs.Any() && b.withoutCaptures():
		out = plainResult(b.logs.Judge(before))
	case b.OnlyMachines():
		out = Result{Findings: slices.Concat(before, b.logs.Findings()), Verdict: finding.Verdict{Bound: finding.BoundUnknown,
			Sentence: machinesOnly, Abstained: &finding.Abstention{Code: "values-only", Reason: machinesOnly}}}
		fault := slices.ContainsFunc(out.Findings, func(f finding.Finding) bool { return f.Level > finding.Info && f.Rule != rule.CaptureQuality })
		checked, wiring := health.Checked(b.Summary), health.Wiring(b.Summary)
		switch {
		case fault:
		case checked != "":
			out.Verdict = finding.Verdict{Bound: finding.BoundMachinesHealthy, Sentence: "Checked: " + checked}
		case wiring != "":
			out.Verdict = finding.Verdict{Bound: finding.BoundMachinesHealthy, Sentence: "Checked: " + wiring}
		}
	case (len(b.Series)+len(b.Benchmarks)+len(b.Groups) > 0 || b.logs.OnlyStarts()) && b.withoutCaptures():
		sentence, decides := logs.Headline(b.logs)
		sentence = cmp.Or(sentence, valuesOnly)
		if len(b.Series)+len(b.Benchmarks) == 0 && len(b.Groups) > 0 {
			sentence, decides = groupsOnly, ""
		}
		out = Result{Findings: slices.Concat(before, b.logs.Findings()),
			Verdict: finding.Verdict{Bound: finding.BoundUnknown, Sentence: sentence, Rule: decides,
				Abstained: &finding.Abstention{Code: "values-only", Reason: sentence}}}
		if len(hang.In(b.Summary)) > 0 {
			out.Verdict = finding.Verdict{Bound: finding.BoundHang, Sentence: callsPending}
			if i := slices.IndexFunc(out.Findings, func(f finding.Finding) bool { return f.Rule == rule.Hang }); i >= 0 {
				out.Verdict = finding.DecidedBy(finding.BoundHang, out.Findings[i])
			}
		}
	case len(b.Compilations) > 0 && b.withoutCaptures():
		out = Result{Findings: slices.Concat(before, b.compiled.Findings()), Verdict: finding.Verdict{Bound: finding.BoundUnknown,
			Sentence: compiledOnly, Abstained: &finding.Abstention{Code: "values-only", Reason: compiledOnly}}}
	case b.memory.Alone():
		out = plainResult(b.memory.Judge(before))
	case len(b.Counters) > 0:
		out = b.withCounters(before)
	default:
		out = b.overTime(before, nil)
	}
	if !b.withoutCaptures() {
		out.Findings = append(out.Findings, b.logFindings(out.Findings)...)
		out.insert(b.compiled.Findings())
		out.Verdict.Sentence += b.logs.JobSentence(out.Findings)
	}
	if b.withoutCaptures() || b.memory.Alone() {
		out.ended()
	}
	if b.withoutCaptures() && len(b.Benchmarks) == 0 { // the result of a benchmark is its answer
		out.ledByFinding()
	}
	out.Tree = b.Rooted(out.Findings, out.Tree)
	return out
}

// insert adds findings before the first that is only information, but for the one that decides the verdict.
func (r *Result) insert(list []finding.Finding) {
	for _, f := range list {
		at := min(1, len(r.Findings))
		for at < len(r.Findings) && r.Findings[at].Level >= f.Level {
			at++
		}
		r.Findings = slices.Insert(r.Findings, at, f)
	}
}

// withoutCaptures reports whether no input was recorded by a profiler. Pages that DeepSpeed prints of one step into the
// log of a run are part of the log.
func (b *evaluators) withoutCaptures() bool {
	page := func(t summary.Table) bool { return t.Tool == "deepspeed" && len(b.Series) > 0 }
	recorded := slices.ContainsFunc(b.Tables, func(t summary.Table) bool { return !page(t) })
	return !recorded && len(b.Devices)+len(b.Counters)+len(b.Spans)+len(b.Snapshots)+len(b.MemoryTimelines) == 0
}

// logFindings returns the findings of logs that are added to those of captures. A rule that already
// has a finding from captures is left out, because a profiler measures more than a log.
func (b *evaluators) logFindings(have []finding.Finding) []finding.Finding {
	return slices.DeleteFunc(b.logs.Findings(), func(f finding.Finding) bool {
		return slices.ContainsFunc(have, func(h finding.Finding) bool { return h.Rule == f.Rule })
	})
}

// Sentences of verdicts on inputs without captures.
const (
	valuesOnly   = "The inputs have logged values and no GPU events; the values are below."
	compiledOnly = "The inputs say what torch.compile did and have no GPU events; give the trace of the same run, too."
	groupsOnly   = "The inputs have groups of ranks and no times, so no bottleneck is known; their calls are below."
	machinesOnly = "The inputs name the parts of machines and no values that can be judged: give nvidia-smi -q, nvidia-smi nvlink -s, dmesg or ibstat of the hosts."
	callsPending = "Some collectives or sends did not complete: they are below, with the ranks that did not arrive."
)

// plainResult returns a result that has a verdict, findings and a tree, and no details of steps or
// counters.
func plainResult(r finding.Result) Result {
	return Result{Verdict: r.Verdict, Findings: r.Findings, Tree: r.Tree}
}

// withCounters judges kernels by their hardware counters, and the timeline if there is one.
func (b *evaluators) withCounters(before []finding.Finding) Result {
	v, counters := b.counters.Judge()
	r := Result{Verdict: v, Findings: slices.Concat(before, counters, b.OfMemory())}
	if b.Total.Window() > 0 {
		r = b.overTime(before, counters)
	}
	r.Sides, r.Peaks = b.counters.Sides(), b.counters.Peaks()
	return r
}

// overTime judges the timeline; without one, it judges profiles, or else tables of totals. The
// findings in before come first; others are findings of other subjects.
func (b *evaluators) overTime(before, others []finding.Finding) Result {
	if b.Total.Window() == 0 && len(b.Tables) > 0 && len(b.Spans) == 0 {
		r, ok := b.profiles.Judge(before)
		if !ok {
			r = b.tables.Judge(before)
		}
		r.Findings = append(r.Findings, b.OfMemory()...)
		return plainResult(r)
	}
	t := b.timeline.Judge(before, others)
	r := plainResult(t.Result)
	r.States, r.Groups, r.Phases, r.Part = t.States, t.Groups, t.Phases, t.Part
	return r
}

// SteadySteps reports for each step of the summary whether it is neither warm-up nor partial.
func (r Result) SteadySteps() []bool {
	out := make([]bool, len(r.States))
	for i, state := range r.States {
		out[i] = state == timeline.StepSteady || state == timeline.StepSlow
	}
	return out
}

// withReason adds a reason to a verdict that names no bound.
func (r Result) withReason() Result {
	v := &r.Verdict
	if v.Bound == finding.BoundUnknown && v.Abstained == nil {
		v.Abstained = &finding.Abstention{Code: cmp.Or(v.Rule, rule.SumsOnly), Reason: v.Sentence}
	}
	return r
}

// Judged returns the part of the windows of s that the verdict is about.
func (r Result) Judged(s *summary.Summary) timeline.Part {
	if r.Part.GPUs == nil || len(r.Part.GPUs) != len(s.Devices) {
		return timeline.WholeWindows(s)
	}
	return r.Part
}

// Unusable returns why the numbers of the GPUs cannot be used, or nil if they can: most device
// records are missing or damaged, the clock is not plausible, or the traces are of several runs.
func (r Result) Unusable() *finding.Abstention {
	if a := r.Verdict.Abstained; a != nil && slices.Contains([]string{rule.RecordsMissing, rule.Clocks, rule.RanksApart, rule.RunsDiffer}, a.Code) {
		return a
	}
	return nil
}
