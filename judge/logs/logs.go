package logs

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/judge/tree"
	"assay/summary"
	"assay/summary/view"
	"assay/summary/view/comparability"
	"assay/summary/view/goodput"
)

// bounds has the bound of the verdict for each rule that can decide it.
var bounds = map[string]finding.Bound{
	rule.GenerationShare: finding.BoundGeneration, rule.TrainingShare: finding.BoundTraining,
	rule.WeightSyncShare: finding.BoundWeightSync,
	rule.DataShare:       finding.BoundData, rule.WaitShare: finding.BoundRollouts, rule.RolloutsWait: finding.BoundTrainer, rule.SleepShare: finding.BoundOverhead,
	rule.EvaluationShare: finding.BoundOverhead, rule.LogProbsShare: finding.BoundLogProbs,
	rule.LoggedCommunication: finding.BoundCommunication,
	rule.KVCacheFull:         finding.BoundKVCache, rule.RequestsQueued: finding.BoundQueue,
	rule.PrefillStalls: finding.BoundPrefill,
	rule.TransferWaits: finding.BoundTransfer, rule.EagerDecode: finding.BoundHost,
	rule.GapsBetweenBatches: finding.BoundHost,
	rule.UnderLoaded:        finding.BoundUnderLoaded,
	rule.JobTimeLost:        finding.BoundJobTime, rule.Restarts: finding.BoundJobTime,
}

// An Evaluator applies the rules on logs to a summary.
type Evaluator struct {
	*tree.Context
	logged *summary.Summary // the summary with the steps and phases of logs, which Context lacks
	inputs []input          // logs of trainers and servers
	roles  *view.Servers
	jobs   []*goodput.Job // the longest first
	jobsOf map[int][]*goodput.Job
}

// An input is one log. Maps are by kind of phase, times are in ns.
type input struct {
	index  int
	stepNS int64 // time of the steps with which phases are compared; 0 if unknown
	kinds  map[string]int64
	names  map[string]string // longest timer of each kind
	runs   map[string]int64
	median map[string]int64
	phases []summary.Phase // phases within steps
	steps  []stepSeries
	rows   []*summary.Series

	largest   map[string]int64 // own time of the largest phase of each kind
	overlapNS int64            // by which the phases of a step together are longer than it

	outside   []summary.Phase // phases with runs outside steps: each was longer than its step
	outsideOf map[string]int64
	outsideNS int64

	compared bool   // phases record which part of them is within steps
	compares int64  // number of steps with which phases are compared
	producer string // program that logged these steps and phases
}

// New returns an evaluator for a context. Logged is the summary with the steps and phases of logs,
// which the context lacks.
func New(c *tree.Context, logged *summary.Summary) *Evaluator {
	e := &Evaluator{Context: c, logged: logged, roles: view.ServersOf(logged)}
	e.jobs = goodput.Of(logged)
	e.jobsOf = jobsByInput(e.jobs)
	for i := range logged.Inputs {
		in := input{index: i}
		for k := range logged.Series {
			if logged.Series[k].Input == i {
				in.rows = append(in.rows, &logged.Series[k])
			}
		}
		if !slices.ContainsFunc(in.rows, fromProgram) {
			continue // a monitor
		}
		if logged.Issue(summary.StepsTooLong) == nil { // else the times of steps and phases are in an unknown unit
			in.measurePhases(logged)
			in.steps = stepsOf(logged, i)
		}
		e.inputs = append(e.inputs, in)
	}
	return e
}

// fromProgram reports whether a row comes from a trainer or an inference server. Rows of monitors
// have no rules here.
func fromProgram(r *summary.Series) bool {
	return slices.ContainsFunc([]string{"step.", "run.", "train.", "requests.", "kv_cache.", "gpu.mfu",
		"throughput.tokens", "throughput.samples", "throughput.output"},
		func(prefix string) bool { return strings.HasPrefix(r.Metric, prefix) })
}

// Rules returns the rules on logs.
func (e *Evaluator) Rules() (out []tree.Row) {
	alone := func(id string, measure func() (finding.Finding, bool)) {
		out = append(out, tree.Row{ID: id, Part: tree.BasisLogs, Measure: tree.Single(measure)})
	}
	add := func(id string, measure func(*input) (finding.Finding, bool)) {
		alone(id, func() (finding.Finding, bool) { return e.worst(measure) })
	}
	server := func(id string, measure func(*input) (finding.Finding, bool)) {
		alone(id, func() (finding.Finding, bool) { return e.rollouts(measure) })
	}
	either := func(id string, measure func(*input) (finding.Finding, bool), other func() (finding.Finding, bool)) {
		alone(id, func() (finding.Finding, bool) {
			if f, ok := e.worst(measure); ok {
				return f, ok
			}
			return other()
		})
	}
	alone(rule.Hang, func() (finding.Finding, bool) { return pendingCalls(e.logged) })
	for _, k := range bandRules() {
		add(k.rule, func(in *input) (finding.Finding, bool) { return e.share(in, k) })
	}
	add(rule.RolloutsWait, e.rolloutsWait)
	either(rule.WeightSyncTime, e.weightSyncTime, benchmarks{e}.weightSync)
	add(rule.LoggedCommunication, e.communication)
	alone(rule.JobTimeLost, e.jobTimeLost)
	alone(rule.RolesInTurn, roleSteps{e}.rolesInTurn)
	alone(rule.RolloutTail, roleSteps{e}.rolloutTail)
	add(rule.OutsidePhases, e.outsidePhases)
	add(rule.WarmUpSteps, e.warmUp)
	add(rule.SlowSteps, e.slowSteps)
	add(rule.PeriodicStalls, e.periodicStalls)
	add(rule.UnevenSteps, e.unevenSteps)
	add(rule.StalledSteps, e.stalled)
	add(rule.SlowerOverTime, e.slower)
	alone(rule.Restarts, e.restarts)
	add(rule.LowMFU, e.lowMFU)
	add(rule.ImpossibleMFU, health{e}.impossibleMFU)
	alone(rule.MemoryPressure, e.memoryPressure)
	add(rule.NotFinite, e.notFinite)
	ofServers := servers{e}
	server(rule.RequestsQueued, ofServers.requestsQueued)
	server(rule.KVCacheFull, ofServers.kvCacheFull)
	server(rule.PrefillStalls, ofServers.prefillStalls)
	server(rule.TransferWaits, ofServers.transferWaits)
	server(rule.EagerDecode, ofServers.eagerDecode)
	server(rule.GapsBetweenBatches, ofServers.gapsBetweenBatches)
	server(rule.LowCacheHits, ofServers.lowCacheHits)
	alone(rule.UnderLoaded, ofServers.allUnderLoaded)
	either(rule.UnevenReplicas, ofServers.unevenReplicas, ofServers.unevenLogs)
	alone(rule.SlowFirstToken, benchmarks{e}.firstToken)
	alone(rule.SlowNextToken, benchmarks{e}.nextToken)
	alone(rule.WithoutGPUDirect, benchmarks{e}.withoutGPUDirect)
	alone(rule.ThroughputSaturated, benchmarks{e}.saturated)
	alone(rule.PoorScaling, benchmarks{e}.poorScaling)
	add(rule.LowGPUUse, monitors{e}.lowUse)
	add(rule.LowGPUUseInPhase, monitors{e}.lowUseInPhase)
	add(rule.SettingNotAdvised, configuration{e}.configured)
	return out
}

// worst returns the finding of the input with the highest level and, within that level, the largest
// value.
func (e *Evaluator) worst(measure func(*input) (finding.Finding, bool)) (best finding.Finding, found bool) {
	for i := range e.inputs {
		in := &e.inputs[i]
		f, ok := measure(in)
		if !ok || found && cmp.Or(cmp.Compare(f.Level, best.Level), cmp.Compare(f.Value, best.Value)) <= 0 {
			continue
		}
		best, found = e.placed(f, in), true
	}
	return best, found
}

// rollouts is worst for a rule on servers. A server that judges or scores samples works for the trainer only a part of the
// step, so in a job with rollouts its finding is for information and has its role; the one of a rollout comes first.
func (e *Evaluator) rollouts(measure func(*input) (finding.Finding, bool)) (finding.Finding, bool) {
	return e.worst(func(in *input) (finding.Finding, bool) {
		f, ok := measure(in)
		if role := e.roles.Other(in.index); ok && role != "" {
			f.Level = finding.Info
			f.Title = finding.Upper(role) + " server: " + f.Title
		}
		return f, ok
	})
}

// placed adds the input to a finding as its place.
func (e *Evaluator) placed(f finding.Finding, in *input) finding.Finding {
	if len(e.inputs) > 1 {
		f.Evidence = append([]string{"log: " + label.Clean(e.logged.Inputs[in.index].Path)}, f.Evidence...)
	}
	f.Where = append(f.Where, finding.Place{Input: in.index, Rank: e.logged.Inputs[in.index].Rank})
	return f
}

// Any reports whether the summary has logs of trainers or servers.
func (e *Evaluator) Any() bool { return len(e.inputs) > 0 }

// Findings returns the findings of all rules on logs.
func (e *Evaluator) Findings() []finding.Finding {
	return e.Context.Findings(tree.BasedOn(tree.BasisLogs))
}

// Judge returns the result for a summary that has logs and no GPU events.
func (e *Evaluator) Judge(before []finding.Finding) finding.Result {
	list := e.Findings()
	v := e.nothingOver(list)
	best := -1
	for i, f := range list {
		if bounds[f.Rule] != "" && e.material(f) && !e.aside(f) && (best < 0 || e.decides(f, list[best])) {
			best = i
		}
	}
	if best >= 0 {
		v = finding.DecidedBy(bounds[list[best].Rule], list[best])
	}
	if wrong := comparability.Doubtful(e.logged); len(wrong) > 0 && v.Bound != finding.BoundUnknown {
		why, _, _ := strings.Cut(wrong[0].Help, ". ")
		v.Doubt = &finding.Doubt{Code: wrong[0].Code, Reason: "Values are uncertain: " + strings.TrimSuffix(why, ".")}
	}
	finding.SortFindings(list, e.Order)
	finding.DecidedFirst(list, v)
	return finding.Result{Verdict: v, Findings: slices.Concat(before, list)}
}

// decides reports whether a decides the verdict rather than b: by level, then of two phases by what their time over
// the limit is worth, else by the order of the rules. If a phase of a lower level has far more time over its limit,
// it decides.
func (e *Evaluator) decides(a, b finding.Finding) bool {
	if lost := mostlyLost(e.Context, a); lost != mostlyLost(e.Context, b) {
		return lost
	}
	level := cmp.Compare(a.Level, b.Level)
	if isBand(a.Rule) && isBand(b.Rule) {
		over, overB := a.Value-e.limitOf(a), b.Value-e.limitOf(b)
		switch {
		case level > 0:
			return overB <= farMore*over
		case level < 0:
			return over > farMore*overB
		}
		return over > overB
	}
	if level != 0 {
		return level > 0
	}
	return e.Order[a.Rule] < e.Order[b.Rule]
}

// aside reports whether a finding is about a server that judges or scores, which does not decide what limits the rollouts.
func (e *Evaluator) aside(f finding.Finding) bool {
	return len(f.Where) > 0 && e.roles.Other(f.Where[0].Input) != ""
}

// farMore is how much more time over its limit a phase must have than one whose level is higher.
const farMore = 2

// limitOf returns the limit of a finding: that of a warning, if its rule has one.
func (e *Evaluator) limitOf(f finding.Finding) float64 { return cmp.Or(f.Warn, e.Limits[f.Rule].Info) }

// overTypical is how far over the upper end of its typical share a phase must be to decide the verdict, if another
// phase takes more of the step: runs differ by more than a point.
const overTypical = 1.1

// material reports whether a finding may decide the verdict. One that is under the limit of its warning does only if
// no other phase is larger, and the lost time of a job only if it is most of it.
func (e *Evaluator) material(f finding.Finding) bool {
	if bounds[f.Rule] == finding.BoundJobTime {
		return mostlyLost(e.Context, f)
	}
	i := slices.IndexFunc(bandRules(), func(b band) bool { return b.rule == f.Rule })
	if i < 0 {
		return true
	}
	if limit := e.limitOf(f); f.Value >= overTypical*limit || bandRules()[i].typical == "" && f.Value >= limit {
		return true
	}
	for k := range e.inputs {
		in := &e.inputs[k]
		if in.index != f.Where[0].Input || in.stepNS <= 0 {
			continue
		}
		for _, b := range bandRules() {
			if float64(in.timeOf(b.kinds))/float64(in.stepNS) > f.Value {
				return false
			}
		}
	}
	return true
}

// nothingOver returns the verdict if no rule decides it. Findings on phases that are near their limits may be in the
// list.
func (e *Evaluator) nothingOver(list []finding.Finding) finding.Verdict {
	near := slices.ContainsFunc(list, func(f finding.Finding) bool { return bounds[f.Rule] != "" && isBand(f.Rule) })
	var known []string
	for i := range e.inputs {
		in := &e.inputs[i]
		if e.roles.Other(in.index) != "" {
			continue
		}
		if text := cmp.Or(e.bandsText(in, near), servers{e}.serverText(in)); text != "" {
			known = append(known, text)
		}
	}
	if len(known) > 0 {
		return finding.Verdict{Bound: finding.BoundMixed, Sentence: known[0]}
	}
	text := "The log has no times of steps and no queue of requests, so no bottleneck is known"
	scaling := scalingText(e.logged)
	for i := range e.inputs {
		if s := cmp.Or(scaling, e.unknownText(&e.inputs[i])); s != "" {
			text = s
			break
		}
	}
	return finding.Verdict{Bound: finding.BoundUnknown, Sentence: text,
		Abstained: &finding.Abstention{Code: "values-only", Reason: text}}
}

// unknownText says why the bottleneck of a log is unknown and what the log shows. It returns "" if
// the log has neither steps nor requests.
func (e *Evaluator) unknownText(in *input) string {
	if is := e.logged.Issue(summary.StepsTooLong); is != nil {
		why, _, _ := strings.Cut(is.Help, ". ")
		return why + " (" + summary.StepsTooLong + ")"
	}
	if n := in.stepCount(); len(in.kinds) > 0 && n > 0 && n < e.Limits[rule.LoggedCommunication].MinEvents {
		return fmt.Sprintf("The log has %s; a bottleneck needs at least %d; phases: %s", label.Plural(n, "step"),
			e.Limits[rule.LoggedCommunication].MinEvents, in.stackText())
	}
	if list := in.replicas(); len(list) > 0 {
		return fmt.Sprintf("The server logged its requests in %s; a bottleneck needs at least %d lines",
			label.Plural(list[0].lines(), "line"), e.Limits[rule.RequestsQueued].MinEvents)
	}
	steps := e.stepsText(in)
	switch {
	case steps != "" && len(in.kinds) > 0 && in.stepNS > 0:
		return steps + "; no phase is over a limit: " + in.stackText()
	case steps != "":
		return steps + "; the log has no phases of a step, so no bottleneck is known"
	}
	return ""
}

// measured compares a share of counts or of weights with the limits of a rule.
func (e *Evaluator) measured(id string, share float64) (f finding.Finding, limit float64, ok bool) {
	r := e.Limits[id]
	level, limit, ok := r.Level(share)
	return finding.Finding{Rule: id, Level: level, Value: share, Warn: r.Warn, Critical: r.Critical}, limit, ok
}

// findingOf drops the tree parts of a reading, because rules on logs explain no part of another
// finding.
func findingOf(r tree.Reading, ok bool) (finding.Finding, bool) { return r.Finding, ok }

// percent prints a share with one decimal.
func percent(share float64) string { return fmt.Sprintf("%.1f%%", 100*share) }

// metric returns the rows of a metric, one for each rank or replica, with the label phase if it is
// not "".
func (in *input) metric(name, phase string) (out []*summary.Series) {
	for _, r := range in.rows {
		if r.Metric == name && r.Pooled == 0 && r.N > 0 && (phase == "" || r.Labels["phase"] == phase) {
			out = append(out, r)
		}
	}
	return out
}

// placeOf returns the labels of a row that name its rank or replica, which are all but the phase.
func placeOf(r *summary.Series) string {
	var parts []string
	for _, p := range strings.Fields(r.LabelText()) {
		if !strings.HasPrefix(p, "phase=") {
			parts = append(parts, p)
		}
	}
	return strings.Join(parts, " ")
}
