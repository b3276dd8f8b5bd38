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
// Each subject has a package with its rules: timeline, ranks, tables (totals that other tools
// printed), profile, counters, memory and logs, and capture for what was recorded. This package
// chooses the subject that decides the verdict. Package finding has what rules return, rule the
// limits and remedies, tree the order of findings below each other, and advice the evidence and
// fixes that several subjects use. Package doctor says what a capture can answer.
//
// Totals that other tools have printed are judged if there is nothing else. They
// have no timeline, so the verdict names what is largest in them and no bottleneck.
package judge

import (
	"cmp"
	"slices"

	"assay/judge/capture"
	"assay/judge/counters"
	"assay/judge/finding"
	"assay/judge/logs"
	"assay/judge/memory"
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
	Verdict  finding.Verdict   `json:"verdict"`
	Findings []finding.Finding `json:"findings"` // the one that decides the verdict, then worst first, and within a level by gain

	// Tree has the findings by the time that they explain: the parts of the window, each
	// with its causes, and then the findings on other bases.
	Tree []finding.Node `json:"tree,omitempty"`

	// States says of each step of the summary, in their order, whether it counts;
	// Groups adds steps up by kind, and Phases has what bounds each phase. They are
	// absent where nothing is judged.
	States []timeline.StepState    `json:"step_states,omitempty"`
	Groups []timeline.StepGroup    `json:"step_groups,omitempty"`
	Phases []timeline.PhaseVerdict `json:"phase_verdicts,omitempty"`

	// Sides says of each row of the summary's counters, in their order, what holds
	// it back, by the shares in Peaks.
	Sides []counters.Side `json:"sides,omitempty"`
	Peaks counters.Peaks  `json:"-"`

	// Stages has the verdict on each stage of a server, in the order of their names. It is
	// absent if the inputs are not of several stages.
	Stages []StageVerdict `json:"stage_verdicts,omitempty"`

	// Stacks is the software that the summary shows.
	Stacks []rule.Stack `json:"stacks,omitempty"`
}

// Judge applies the rules to s, with the limits of th. Equal summaries give equal
// results.
func Judge(s *summary.Summary, th rule.Thresholds) Result {
	r := evaluate(s, th).withReason()
	r.Stacks = rule.Stacks(s)
	finalize(s.Timelines(), r.Findings, r.Stacks)
	r.Stages = stageVerdicts(s.Timelines(), th)
	return r
}

// A StageVerdict is the verdict on one stage of a server, as if its captures were alone.
type StageVerdict struct {
	Stage   string          `json:"stage"` // "EXTEND"
	Verdict finding.Verdict `json:"verdict"`
}

// stageVerdicts judges each stage of a server apart: prefill and decode are limited by
// different things.
func stageVerdicts(s *summary.Summary, th rule.Thresholds) (out []StageVerdict) {
	for _, st := range view.Stages(s) {
		out = append(out, StageVerdict{st.Name, evaluate(s.Pick(st.Inputs), th).withReason().Verdict})
	}
	return out
}

// A bench has an evaluator for each subject, which see the same context.
type bench struct {
	*tree.Context
	timeline *timeline.Evaluator
	memory   *memory.Evaluator
	counters *counters.Evaluator
	profiles *profile.Evaluator
	tables   *tables.Evaluator
	logs     *logs.Evaluator
}

// newBench returns the evaluators of a summary, with their rules.
func newBench(s *summary.Summary, th rule.Thresholds) *bench {
	c := tree.NewContext(s.Timelines(), th)
	b := &bench{c, timeline.New(c), memory.New(c), counters.New(c), profile.New(c), tables.New(c), logs.New(c, s)}
	c.Rows = slices.Concat(capture.Rules(c), b.timeline.Rules(), ranks.New(c).Rules(), b.memory.Rules(), b.counters.Rules(), b.tables.Rules(), b.profiles.Rules(), b.logs.Rules())
	return b
}

// evaluate returns the verdict and the findings, before confidence and fixes are
// added.
func evaluate(s *summary.Summary, th rule.Thresholds) Result { return newBench(s, th).result() }

// result chooses the subject that decides the verdict.
func (b *bench) result() Result {
	before := b.Findings(func(r tree.Row) bool { return r.ID == rule.CaptureQuality })
	var out Result
	switch {
	case b.logs.Any() && b.withoutCaptures():
		out = plainResult(b.logs.Judge(before))
	case len(b.Series)+len(b.Benchmarks)+len(b.Groups) > 0 && b.withoutCaptures():
		sentence := cmp.Or(logs.Headline(b.Summary), valuesOnly)
		if len(b.Series)+len(b.Benchmarks) == 0 {
			sentence = groupsOnly
		}
		out = Result{Findings: slices.Concat(before, b.logs.Findings()), Verdict: finding.Verdict{Bound: finding.BoundUnknown, Sentence: sentence, Abstained: &finding.Abstention{Code: "values-only", Reason: sentence}}}
		if len(hang.In(b.Summary)) > 0 {
			out.Verdict = finding.Verdict{Bound: finding.BoundHang, Sentence: callsPending}
			if i := slices.IndexFunc(out.Findings, func(f finding.Finding) bool { return f.Rule == rule.Hang }); i >= 0 {
				out.Verdict = finding.DecidedBy(finding.BoundHang, out.Findings[i])
			}
		}
	case b.memory.Alone():
		out = plainResult(b.memory.Judge(before))
	case len(b.Counters) > 0:
		out = b.withCounters(before)
	default:
		out = b.overTime(before, nil)
	}
	if !b.withoutCaptures() {
		out.Findings = append(out.Findings, b.ofLogs(out.Findings)...)
	}
	out.Tree = b.Rooted(out.Findings, out.Tree)
	return out
}

// withoutCaptures reports whether nothing was recorded by a profiler.
func (b *bench) withoutCaptures() bool {
	return len(b.Devices)+len(b.Counters)+len(b.Tables)+len(b.Spans)+len(b.Snapshots)+len(b.MemoryTimelines) == 0
}

// ofLogs returns the findings of logs beside captures. Of rules that the captures have
// findings of, these count, because a profiler measures more than a log.
func (b *bench) ofLogs(have []finding.Finding) []finding.Finding {
	return slices.DeleteFunc(b.logs.Findings(), func(f finding.Finding) bool {
		return slices.ContainsFunc(have, func(h finding.Finding) bool { return h.Rule == f.Rule })
	})
}

// The sentences of the verdict of logs.
const (
	valuesOnly   = "The inputs have logged values and no GPU events; the values are below."
	groupsOnly   = "The inputs have groups of ranks and no times, so no bottleneck is known; their calls are below."
	callsPending = "Some collectives or sends did not complete: they are below, with the ranks that did not arrive."
)

// plainResult returns the result of a subject that has nothing but that.
func plainResult(r finding.Result) Result {
	return Result{Verdict: r.Verdict, Findings: r.Findings, Tree: r.Tree}
}

// withCounters judges kernels by their counters, and the timeline if there is one.
func (b *bench) withCounters(before []finding.Finding) Result {
	v, counters := b.counters.Judge()
	r := Result{Verdict: v, Findings: slices.Concat(before, counters, b.OfMemory())}
	if b.Total.Window() > 0 {
		r = b.overTime(before, counters)
	}
	r.Sides, r.Peaks = b.counters.Sides(), b.counters.Peaks()
	return r
}

// overTime judges what ran when, or else profiles and tables of totals. The findings in
// before come first in any case; others has those of other rules.
func (b *bench) overTime(before, others []finding.Finding) Result {
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
	r.States, r.Groups, r.Phases = t.States, t.Groups, t.Phases
	return r
}

// SteadySteps reports of each step of the summary whether it is neither warm-up nor partial.
func (r Result) SteadySteps() []bool {
	out := make([]bool, len(r.States))
	for i, state := range r.States {
		out[i] = state == timeline.StepSteady || state == timeline.StepSlow
	}
	return out
}

// withReason returns the result with the reason of a verdict that names no bound.
func (r Result) withReason() Result {
	v := &r.Verdict
	if v.Bound == finding.BoundUnknown && v.Abstained == nil {
		v.Abstained = &finding.Abstention{Code: cmp.Or(v.Rule, rule.SumsOnly), Reason: v.Sentence}
	}
	return r
}

// Unusable returns why the numbers of the GPUs cannot be used, or nil: most
// device records are missing or damaged, or the clock is not plausible.
func (r Result) Unusable() *finding.Abstention {
	if a := r.Verdict.Abstained; a != nil && (a.Code == rule.RecordsMissing || a.Code == rule.Clocks) {
		return a
	}
	return nil
}
