package logs

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/judge/advice"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
)

// A band compares a phase with the share of step time that guides name as typical.
type band struct {
	rule    string
	kinds   []string
	what    string
	typical string // "" if the guides name none
	rl      bool   // judged only for reinforcement learning
}

func bandRules() []band {
	return []band{
		{rule.GenerationShare, []string{"generation"}, "Generation", "40–60%", true},
		{rule.TrainingShare, []string{"training"}, "Training", "20–30%", true},
		{rule.WeightSyncShare, []string{"weight-sync"}, "Weight sync", "5–15%", true},
		{rule.DataShare, []string{"data"}, "Data", "2–5%", false},
		{rule.WaitShare, []string{"wait"}, "Trainer waits for rollouts", "", true},
		{rule.SleepShare, []string{"sleep-wake"}, "Engine sleep/wake", "", true},
		{rule.LogProbsShare, []string{"log-probs", "reward", "advantage"}, "Log-probs and rewards", "", true},
		{rule.EvaluationShare, []string{"evaluation", "checkpoint"}, "Evaluation and checkpoints", "", false},
	}
}

// isBand reports whether a rule compares a phase with its typical share.
func isBand(id string) bool {
	return id == rule.RolloutsWait || slices.ContainsFunc(bandRules(), func(b band) bool { return b.rule == id }) || id == rule.LoggedCommunication
}

// kindOf returns the kind of a phase: the innermost part of its path that is a kind, or else its
// outermost name. Nested phases do not count twice, because their own times are added up.
func kindOf(path string) string {
	parts := strings.Split(path, "/")
	for _, p := range slices.Backward(parts) {
		if slices.ContainsFunc(bandRules(), func(b band) bool { return slices.Contains(b.kinds, p) }) {
			return p
		}
		if communicates(p) {
			return "communication"
		}
	}
	return parts[0]
}

// communicates reports whether a timer of a trainer measures communication of ranks, by the names
// of Megatron-LM.
func communicates(name string) bool {
	for _, word := range []string{"all-reduce", "allreduce", "all-gather", "reduce-scatter", "-send", "-recv"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

// measurePhases adds up the own times of the phases of an input by kind, in the steps whose time is
// known.
func (in *input) measurePhases(s *summary.Summary) {
	in.kinds, in.names, in.runs, in.median = map[string]int64{}, map[string]string{}, map[string]int64{},
		map[string]int64{}
	in.largest, in.outsideOf = map[string]int64{}, map[string]int64{}
	in.measureSteps(s)
	for _, p := range s.Phases {
		if p.Source != summary.SourceLog || p.Input != in.index || in.compared && p.Producer != in.producer {
			continue
		}
		kind := kindOf(p.Path)
		if p.OutsideNS > 0 && slices.Contains(betweenSteps, kind) {
			in.outside = append(in.outside, p)
			in.outsideOf[kind] += p.OutsideNS
			in.outsideNS += p.OutsideNS
		}
		own := ownInSteps(p)
		if own <= 0 && p.OutsideNS > 0 {
			continue
		}
		if largest := in.kinds[kind] == 0 || own > in.kinds[kind]/2; largest {
			in.names[kind], in.median[kind] = cmp.Or(p.Example, p.Path), p.MedianNS
		}
		in.kinds[kind] += own
		in.largest[kind] = max(in.largest[kind], own)
		in.runs[kind] = max(in.runs[kind], p.Count)
		in.phases = append(in.phases, p)
	}
	var sum int64
	for ns := range maps.Values(in.kinds) {
		sum += ns
	}
	if in.stepNS > 0 && sum-in.stepNS >= in.stepNS/50 { // less is rounding
		in.overlapNS = sum - in.stepNS
	}
}

// betweenSteps are the kinds of phases that programs run between two steps. Any other timer that is longer than
// its step does not measure a part of it.
var betweenSteps = []string{"evaluation", "checkpoint"}

// timeOf returns the ns of steps that phases of some kinds take at least: timers may overlap, and which of them do
// so is unknown, so all of the overlap may be among these.
func (in *input) timeOf(kinds []string) int64 {
	var sum, largest int64
	for _, kind := range kinds {
		sum, largest = sum+in.kinds[kind], max(largest, in.largest[kind])
	}
	return min(in.stepNS, max(largest, sum-in.overlapNS))
}

// measureSteps adds up the time of the steps with which phases are compared: those that have both a
// time and phases.
func (in *input) measureSteps(s *summary.Summary) {
	for _, p := range s.Phases {
		if p.Source == summary.SourceLog && p.Input == in.index && p.InSteps != nil {
			if !in.compared || p.InSteps.StepNS > in.stepNS { // if two programs share a log, the one with more step time
				in.stepNS, in.compares, in.producer = p.InSteps.StepNS, p.InSteps.Steps, p.Producer
			}
			in.compared = true
		}
	}
	if in.compared {
		return
	}
	for _, r := range in.rows { // a log without phases, or a summary of an older version
		if r.Metric == "step.time" && r.Pooled == 0 && r.Sum != nil {
			in.stepNS = max(in.stepNS, int64(min(*r.Sum, math.MaxInt64/4)))
		}
	}
}

// ownInSteps returns the own time of a phase, in ns, within the steps with which it is compared.
func ownInSteps(p summary.Phase) int64 {
	if p.InSteps != nil {
		return p.InSteps.OwnNS
	}
	return max(0, p.HostOwnNS-p.OutsideNS)
}

// stepCount returns the number of steps with known times; if there are phases, the number of steps
// with which they are compared.
func (in *input) stepCount() (n int64) {
	if in.compared {
		return in.compares
	}
	for _, r := range in.rows {
		if r.Metric == "step.time" && r.Pooled == 0 {
			n = max(n, r.N)
		}
	}
	return n
}

// learns reports whether a log comes from reinforcement learning: it times generation, or waiting for what other
// processes generate, and training or weight sync.
func (in *input) learns() bool {
	return in.kinds["generation"]+in.kinds["wait"] > 0 && in.kinds["training"]+in.kinds["weight-sync"] > 0
}

// shareOfSteps prints ns as a share of the time of all steps for a title.
func (in *input) shareOfSteps(ns int64) string {
	return fmt.Sprintf("%s of step time (%s)", unit.Share(ns, in.stepNS), unit.DurationOf(ns, in.stepNS))
}

// share compares the time of a phase with its band.
func (e *Evaluator) share(in *input, b band) (finding.Finding, bool) {
	limits := e.Limits[b.rule]
	if b.rule == rule.TrainingShare && in.kinds["generation"] == 0 {
		return finding.Finding{}, false // its typical share is that of steps that generate too
	}
	ns, more := in.timeOf(b.kinds), int64(0)
	if b.rule == rule.WaitShare {
		ns = in.waits()
	}
	for _, kind := range b.kinds {
		more += in.outsideOf[kind]
	}
	if in.stepNS <= 0 || ns+more <= 0 || b.rl && !in.learns() || in.stepCount() < max(2, limits.MinEvents) {
		return finding.Finding{}, false
	}
	whole, of := in.stepNS, "step time"
	if more > 0 {
		ns, whole, of = ns+more, whole+more, "the time of steps and of "+strings.ToLower(b.what)
	}
	f, limit, ok := rule.Measured(limits, ns, whole)
	if !ok {
		return f, false
	}
	f.Title = fmt.Sprintf("%s: %s of %s (%s)", b.what, unit.Share(ns, whole), of, unit.DurationOf(ns, whole))
	switch {
	case b.typical != "":
		f.Title += "; typical " + b.typical
	default:
		f.Title += rule.Over(limit)
	}
	f.Evidence = e.phaseEvidence(in, b)
	f.Next = in.bandAdvice(b.rule)
	if limits.Info == 0 && b.rule != rule.GenerationShare {
		f.Gain(ns, whole, of)
	}
	return f, true
}

// bandAdvice returns the fixes for a phase.
func (in *input) bandAdvice(id string) []finding.Step {
	switch id {
	case rule.GenerationShare:
		return advice.PhaseAdvice("generation")
	case rule.TrainingShare:
		return []finding.Step{finding.Advise("trace-a-training-step"), finding.Advise("raise-micro-batches")}
	case rule.WeightSyncShare:
		return []finding.Step{finding.Advise("colocate-for-weight-sync"), finding.Advise("send-weights-in-buckets")}
	case rule.DataShare:
		return advice.PhaseAdvice("data")
	case rule.WaitShare:
		return append(advice.PhaseAdvice("wait"), finding.Advise("loosen-both-sides"), finding.Advise("generate-on-other-gpus"))
	case rule.SleepShare:
		return []finding.Step{finding.Advise("keep-state-on-the-gpu").For("phase=sleep-wake")}
	case rule.LogProbsShare:
		return in.scoringAdvice()
	}
	return []finding.Step{finding.Advise("evaluate-less-often"), finding.Advise("checkpoint-asynchronously")}
}

// scoringAdvice returns the fixes for the slow ones of log-probs and rewards: the larger one, and another of half of it or
// more.
func (in *input) scoringAdvice() (out []finding.Step) {
	most := max(in.kinds["log-probs"], in.kinds["reward"], in.kinds["advantage"])
	if 2*in.kinds["log-probs"] >= most {
		out = []finding.Step{finding.Advise("raise-log-prob-micro-batches").For("phase=log-probs"), finding.Advise("drop-the-reference").For(in.ofReference()...)}
	}
	if 2*in.kinds["reward"] >= most {
		out = append(out, finding.Advise("score-while-others-generate").For("phase=reward"), finding.Advise("verl-reward").For("phase=reward"))
	}
	return out
}

// ofReference returns the fact that a reference model computes log-probs, if a timer says so.
func (in *input) ofReference() []string {
	for _, p := range in.phases {
		if kindOf(p.Path) == "log-probs" && strings.Contains(strings.ToLower(p.Path+" "+p.Example), "ref") {
			return []string{"reference"}
		}
	}
	return nil
}

// phaseEvidence describes the timers of a phase and the shares of all phases.
func (e *Evaluator) phaseEvidence(in *input, b band) (out []string) {
	for _, kind := range b.kinds {
		if in.kinds[kind] > in.stepNS/200 {
			out = append(out, fmt.Sprintf("%s: %s in %s, largest timer %q", kind, unit.Duration(in.kinds[kind]),
				label.Plural(in.runs[kind], "run"), label.Clip(label.Clean(in.names[kind]), 44)))
		}
	}
	for _, p := range in.outside {
		if slices.Contains(b.kinds, kindOf(p.Path)) {
			out = append(out, fmt.Sprintf("outside steps: %s, %s in %s",
				label.Clip(label.Clean(cmp.Or(p.Example, p.Path)), 44), unit.Duration(p.OutsideNS), label.Plural(p.Count, "run")))
		}
	}
	out = append(out, "phases of steps: "+in.stackText())
	if b.rule == rule.WaitShare {
		out = append(out, in.sides()...)
	}
	if b.rule == rule.GenerationShare {
		if r := in.metric("train.response_length", ""); len(r) > 0 && r[0].First != nil && r[0].Last != nil &&
			*r[0].First > 0 {
			out = append(out, fmt.Sprintf("mean response: %.0f tokens at first, %.0f at last, median %.0f", *r[0].First,
				*r[0].Last, *r[0].Median))
		}
	}
	return out
}

// stackText returns the shares of the phases, the largest first, and of the time outside them.
func (in *input) stackText() string {
	var parts []string
	var sum int64
	for _, kind := range finding.ByWork(in.kinds) {
		sum += in.kinds[kind]
		if len(parts) < 6 && in.kinds[kind] >= in.stepNS/200 {
			parts = append(parts, label.Clip(label.Clean(kind), 40)+" "+unit.Share(in.kinds[kind], in.stepNS))
		}
	}
	if rest := in.stepNS - sum; rest >= in.stepNS/200 {
		parts = append(parts, "outside phases "+unit.Share(rest, in.stepNS))
	} else if in.overlapNS > 0 {
		parts = append(parts, "phases overlap by "+unit.Share(in.overlapNS, in.stepNS))
	}
	return strings.Join(parts, ", ")
}

// rest returns the ns of steps outside phases, or 0 if phases overlap or the log has none.
func (in *input) rest() int64 {
	var sum int64
	for ns := range maps.Values(in.kinds) {
		sum += ns
	}
	if sum <= 0 {
		return 0
	}
	return max(0, in.stepNS-sum)
}

// outsidePhases judges the time of steps that no timer covers.
func (e *Evaluator) outsidePhases(in *input) (finding.Finding, bool) {
	limits := e.Limits[rule.OutsidePhases]
	ns := in.rest()
	if in.stepNS <= 0 || ns <= 0 || in.stepCount() < limits.MinEvents || !in.learns() {
		return finding.Finding{}, false
	}
	f, limit, ok := rule.Measured(limits, ns, in.stepNS)
	if !ok {
		return f, false
	}
	f.Title = "Outside phases: " + in.shareOfSteps(ns) + rule.Over(limit)
	f.Evidence = []string{"all phases: " + in.stackText()}
	f.Next = []finding.Step{finding.Advise("time-the-rest")}
	return f, true
}

// communication judges the timers of communication that a trainer logged.
func (e *Evaluator) communication(in *input) (finding.Finding, bool) {
	limits := e.Limits[rule.LoggedCommunication]
	ns := in.timeOf([]string{"communication"})
	if in.stepNS <= 0 || ns <= 0 || in.stepCount() < limits.MinEvents {
		return finding.Finding{}, false
	}
	f, limit, ok := rule.Measured(limits, ns, in.stepNS)
	if !ok {
		return f, false
	}
	f.Title = "Communication timers: " + in.shareOfSteps(ns) + rule.Over(limit)
	rows := slices.DeleteFunc(slices.Clone(in.phases),
		func(p summary.Phase) bool { return kindOf(p.Path) != "communication" })
	slices.SortStableFunc(rows, func(a, b summary.Phase) int { return cmp.Compare(ownInSteps(b), ownInSteps(a)) })
	for _, p := range rows[:min(3, len(rows))] {
		f.Evidence = append(f.Evidence, fmt.Sprintf("%s: %s (%s)", label.Clip(label.Clean(cmp.Or(p.Example, p.Path)), 44),
			unit.Share(ownInSteps(p), in.stepNS), unit.DurationOf(ownInSteps(p), in.stepNS)))
	}
	f.Evidence = append(f.Evidence, "phases of steps: "+in.stackText())
	f.Next = communicationAdvice(rows)
	f.Gain(ns, in.stepNS, "step time")
	return f, true
}

// communicationAdvice returns the fixes for timers of communication, the largest timer first.
func communicationAdvice(rows []summary.Phase) (out []finding.Step) {
	for _, p := range rows {
		next := finding.Advise("trace-all-ranks")
		switch name := p.Path; {
		case strings.Contains(name, "recv"), strings.Contains(name, "-send"):
			next = finding.Advise("shrink-the-logged-bubble").For("timer=pipeline")
		case strings.Contains(name, "embedding"):
			next = finding.Advise("balance-the-embedding-stages")
		case strings.Contains(name, "grad"), strings.Contains(name, "params"):
			next = finding.Advise("overlap-grad-reduce")
		}
		out = finding.JoinSteps(out, []finding.Step{next})
	}
	return finding.JoinSteps(out, []finding.Step{finding.Advise("trace-all-ranks")})
}

// weightSyncTime compares the median weight sync with its target.
func (e *Evaluator) weightSyncTime(in *input) (finding.Finding, bool) {
	limits := e.Limits[rule.WeightSyncTime]
	median := in.median["weight-sync"]
	if median <= 0 || in.runs["weight-sync"] < 2 || !in.learns() {
		return finding.Finding{}, false
	}
	f, ok := rule.OverTarget(limits, median)
	if !ok {
		return f, false
	}
	f.Title = fmt.Sprintf("Weight sync: median %s (%s); target %s", unit.Duration(median),
		label.Plural(in.runs["weight-sync"], "run"), unit.Duration(limits.Under))
	f.Evidence = []string{syncTimes}
	f.Next = []finding.Step{finding.Advise("colocate-for-weight-sync"), finding.Advise("send-weights-in-buckets")}
	return f, true
}

// bandsText returns the sentence of the verdict if all phases of reinforcement learning are within
// their limits, or near them.
func (e *Evaluator) bandsText(in *input, near bool) string {
	if !in.learns() || in.stepNS <= 0 || in.stepCount() < 2 {
		return ""
	}
	if near {
		return "No phase is far over its limit: " + in.stackText()
	}
	return "No phase is over its limit: " + in.stackText()
}
