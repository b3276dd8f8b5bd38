package judge

import (
	"testing"

	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
	"assay/summary/view"
)

// TestBalance: the step takes 100 ms, and the verdict's resource has a share of 80%. Twice as fast, it gives
// 20 ms or more, or else something else is busy at the same time.
func TestBalance(t *testing.T) {
	onCPU, onGPU := summary.PathClasses{HostOp: 30 * ms, Python: 45 * ms, Compute: 25 * ms}, summary.PathClasses{HostOp: 15 * ms, Compute: 85 * ms}
	for _, tc := range []struct {
		name       string
		bound      finding.Bound
		rule       string
		path       summary.PathClasses
		after      map[string]int64
		want, both bool
		otherPath  bool
	}{
		{"compute that overlaps the CPU", finding.BoundCompute, rule.ComputeBound, onCPU, map[string]int64{fasterGPU: 97, fasterCPU: 98}, true, true, true},
		{"the CPU alone gives much", finding.BoundCompute, rule.ComputeBound, onCPU, map[string]int64{fasterGPU: 97, fasterCPU: 70}, true, false, true},
		{"nothing known of the CPU", finding.BoundCompute, rule.ComputeBound, onCPU, map[string]int64{fasterGPU: 97}, true, false, true},
		{"compute on the path, a second chain", finding.BoundCompute, rule.ComputeBound, onGPU, map[string]int64{fasterGPU: 90, fasterCPU: 98}, true, false, false},
		{"compute that gives what it should", finding.BoundCompute, rule.ComputeBound, onGPU, map[string]int64{fasterGPU: 62, fasterCPU: 98}, false, false, false},
		{"exactly a quarter of the share", finding.BoundCompute, rule.ComputeBound, onGPU, map[string]int64{fasterGPU: 80}, false, false, false},
		{"withheld", finding.BoundCompute, rule.ComputeBound, onCPU, map[string]int64{fasterGPU: -1, fasterCPU: 98}, false, false, false},
		{"host-bound, the path on the GPU", finding.BoundHost, rule.GPUIdle, onGPU, map[string]int64{fasterGPU: 96, fasterCPU: 99}, true, true, true},
		{"host-bound, the CPU gives much", finding.BoundHost, rule.GPUIdle, onCPU, map[string]int64{fasterGPU: 99, fasterCPU: 60}, false, false, false},
		{"stragglers are not of this", finding.BoundCommunication, rule.StragglingRank, onCPU, map[string]int64{fasterGPU: 97, fasterCPU: 98}, false, false, false},
	} {
		s := followed(idleRun(), tc.after)
		s.CriticalPaths[0].Classes = tc.path
		r := Result{Verdict: finding.Verdict{Bound: tc.bound, Rule: tc.rule}, Findings: []finding.Finding{{Rule: tc.rule, Value: 0.8}}}
		b := r.BalanceOf(view.FollowedOf(s))
		if (b != nil) != tc.want {
			t.Errorf("%s: %+v, want one %t", tc.name, b, tc.want)
		} else if b != nil && (b.Neither != tc.both || b.OtherPath != tc.otherPath) {
			t.Errorf("%s: neither %t, on the other %t; want %t, %t", tc.name, b.Neither, b.OtherPath, tc.both, tc.otherPath)
		}
	}
}
