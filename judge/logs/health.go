package logs

import (
	"fmt"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/judge/tree"
	"assay/summary"
)

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
	return findingOf(e.Evaluate(tree.Measured{Rule: rule.LowMFU, Value: *worst.Median,
		Words: map[string]string{"values": label.Plural(worst.N, "value"), "largest": percent(*worst.Max)}}))
}

// memoryPressure judges the used share of the memory of GPUs.
func (e *Evaluator) memoryPressure(in *input) (finding.Finding, bool) {
	var worst *summary.Series
	for _, r := range in.metric("memory.usage", "") {
		if *r.Max <= 1 && (worst == nil || *r.Max > *worst.Max) {
			worst = r
		}
	}
	if worst == nil {
		return finding.Finding{}, false
	}
	return findingOf(e.Evaluate(tree.Measured{Rule: rule.MemoryPressure, Value: *worst.Max,
		Words: map[string]string{"median": percent(*worst.Median),
			"logged": label.Clip(label.Clean(worst.Name), 44) + onPlace(worst)}}))
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
