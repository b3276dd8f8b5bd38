package judge

import (
	"assay/judge/finding"
	"assay/judge/rule"
)

// ends has the bounds of rules about how a run ended. Nothing that limited it before matters more.
var ends = map[string]finding.Bound{rule.SpinningGPUs: finding.BoundHang, rule.MemoryExhausted: finding.BoundOutOfMemory}

// ended sets the verdict if a finding says how the run ended.
func (r *Result) ended() {
	for _, f := range r.Findings {
		if bound, ok := ends[f.Rule]; ok && f.Level == finding.Critical {
			r.Verdict = finding.DecidedBy(bound, f)
			finding.DecidedFirst(r.Findings, r.Verdict)
			return
		}
	}
}

// ledByFinding makes the worst finding on logs the sentence of a verdict that names no bottleneck and rests on no
// finding: what needs action comes before values.
func (r *Result) ledByFinding() {
	v := &r.Verdict
	if v.Bound != finding.BoundUnknown || v.Rule != "" || v.Abstained == nil || v.Abstained.Code != "values-only" {
		return
	}
	var worst *finding.Finding
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Level > finding.Info && f.Rule != rule.CaptureQuality && f.Rule != rule.SettingNotAdvised && (worst == nil || f.Level > worst.Level) {
			worst = f
		}
	}
	if worst != nil {
		v.Sentence, v.Rule = worst.Title, worst.Rule
		finding.DecidedFirst(r.Findings, *v)
	}
}
