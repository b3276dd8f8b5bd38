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
