package logs

import (
	"fmt"
	"slices"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/judge/tree"
	"assay/summary"
)

// health has the rules on the numbers of one log that say whether a run is sound.
type health struct{ *Evaluator }

// lowMFU reports the model FLOPs utilization that a trainer logged. A median of 0 is ignored: the
// trainer does not know the peak of the GPU.
func (e *Evaluator) lowMFU(in *input) (finding.Finding, bool) {
	limits := e.Limits[rule.LowMFU]
	var worst *summary.Series
	for _, r := range in.metric("gpu.mfu", "") {
		if r.N >= limits.MinEvents && *r.Median > 0 && *r.Median <= 1 && (worst == nil || *r.Median < *worst.Median) {
			worst = r
		}
	}
	if worst == nil || *worst.Median >= limits.MinBusy {
		return finding.Finding{}, false
	}
	var peak []string
	if p := in.metric("gpu.peak_flops", ""); len(p) > 0 && p[0].N > 0 && *p[0].Min == *p[0].Max {
		peak = []string{fmt.Sprintf("the trainer uses a peak of %s per GPU; of a GPU with another peak this MFU is wrong",
			unit.Value(*p[0].Max, p[0].Unit))}
	}
	return findingOf(e.Evaluate(tree.Measured{Rule: rule.LowMFU, Value: *worst.Median, Lists: map[string][]string{"peak": peak},
		Words: map[string]string{"values": label.Plural(worst.N, "value"), "largest": percent(*worst.Max)}}))
}

// memoryPressure judges the used share of the memory of GPUs in logs and monitors. A server fills the memory with
// its KV cache on purpose, so that is for information.
func (e *Evaluator) memoryPressure() (finding.Finding, bool) {
	var worst *summary.Series
	for i := range e.logged.Series {
		r := &e.logged.Series[i]
		if r.Metric == "memory.usage" && r.Pooled == 0 && r.N > 0 && *r.Max <= 1 && (worst == nil || *r.Max > *worst.Max) {
			worst = r
		}
	}
	if worst == nil {
		return finding.Finding{}, false
	}
	f, ok := findingOf(e.Evaluate(tree.Measured{Rule: rule.MemoryPressure, Value: *worst.Max,
		Where: []finding.Place{{Input: worst.Input, Rank: e.logged.Inputs[worst.Input].Rank}},
		Words: map[string]string{"median": percent(*worst.Median),
			"logged": label.Clip(label.Clean(worst.Name), 44) + onPlace(worst)}}))
	if ok && !slices.ContainsFunc(e.inputs, func(in input) bool { return in.index == worst.Input }) {
		f.Level = min(f.Level, finding.Warn) // of a monitor, which does not show whether a program fills the memory on purpose
	}
	if ok && (health{e}).onlyServes() {
		f.Level = finding.Info
		f.Evidence = append(f.Evidence, "a server fills the memory with its KV cache on purpose")
	}
	return f, ok
}

// onlyServes reports whether the logs are those of servers.
func (e health) onlyServes() bool {
	for i := range e.inputs {
		if in := &e.inputs[i]; len(in.replicas()) == 0 || len(in.kinds) > 0 {
			return false
		}
	}
	return len(e.inputs) > 0
}

// impossibleMFU reports a utilization of over 100%.
func (e health) impossibleMFU(in *input) (finding.Finding, bool) {
	var worst *summary.Series
	for _, r := range in.metric("gpu.mfu", "") {
		if *r.Max > 1 && (worst == nil || *r.Max > *worst.Max) {
			worst = r
		}
	}
	if worst == nil {
		return finding.Finding{}, false
	}
	return findingOf(e.Evaluate(tree.Measured{Rule: rule.ImpossibleMFU, Value: *worst.Max,
		Words: map[string]string{"values": label.Clip(label.Clean(worst.Name), 44) + " is"}}))
}

func onPlace(r *summary.Series) string {
	if p := placeOf(r); p != "" {
		return " of " + label.Clip(label.Clean(p), 40)
	}
	return ""
}

// notFinite reports losses and gradients that are NaN or infinite. In mixed precision a few
// infinite gradients are normal, because the trainer skips these steps.
func (e *Evaluator) notFinite(in *input) (best finding.Finding, found bool) {
	limits := e.Limits[rule.NotFinite]
	for _, name := range []string{"train.loss", "train.actor_loss", "train.critic_loss", "train.grad_norm"} {
		for _, r := range in.rows {
			all := r.N + r.NaN + r.Infinite
			if r.Metric != name || r.Pooled > 0 || all < limits.MinEvents || r.NaN+r.Infinite == 0 {
				continue
			}
			bad := r.NaN + r.Infinite
			f, limit, ok := e.measured(rule.NotFinite, float64(bad)/float64(all))
			if !ok || found && best.Value >= f.Value {
				continue
			}
			f.Title = fmt.Sprintf("%s is not finite in %s of %s values (%s)", label.Clip(label.Clean(r.Name), 30),
				unit.Count(bad), unit.Count(all), unit.Share(bad, all)) + rule.Over(limit)
			f.Evidence = []string{fmt.Sprintf("%s NaN, %s infinite", unit.Count(r.NaN), unit.Count(r.Infinite))}
			f.Next = []finding.Step{finding.Advise("stop-and-find-the-first")}
			best, found = f, true
		}
	}
	return best, found
}
