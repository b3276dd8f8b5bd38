package judge

import (
	"testing"

	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
	"assay/summary/view"
)

// TestProposals: what measurements suggest comes first if a finding says how to make it: TF32 as the best case, a chain
// of operators in one kernel instead of one of its kernels with half the bytes.
func TestProposals(t *testing.T) {
	const kernel, chain, tf32 = "--scale kernel~^axpy$=0.5", "--fuse chain~aten::sub,aten::exp=0.4", "--scale kernel~^(?:sgemm)$=0.2"
	remedies := map[string]string{chain: "compile-the-rest", tf32: "allow-tf32"}
	for _, change := range []string{chain, tf32} {
		for _, said := range []bool{true, false} {
			s := followed(idleRun(), map[string]int64{kernel: 75, change: 60})
			for i := range s.Forecasts {
				if f := &s.Forecasts[i]; f.Change == chain {
					f.By = summary.ByFusion
				} else if f.Change == tf32 {
					f.By, f.Bound = summary.ByTF32, true
				}
			}
			s.Kernels = []summary.Kernel{{Name: "axpy", Class: summary.ClassCompute.String(), TotalNS: 90 * ms}}
			least := int64(80 * ms)
			s.Efficiency.Rows = []summary.EfficiencyRow{{Kernel: "axpy", GPUNS: 90 * ms, RooflineNS: &least, Bound: summary.BoundMemory}}
			r := Result{Verdict: finding.Verdict{Rule: rule.MemoryBandwidth}}
			r.Findings = []finding.Finding{{Rule: rule.MemoryBandwidth, Where: []finding.Place{{Kernel: "axpy"}}, Next: []finding.Step{finding.Advise("move-less")}}}
			if said {
				r.Findings[0].Next = append(r.Findings[0].Next, finding.Advise(remedies[change]))
			}
			list := r.Options(view.FollowedOf(s))
			first, fuses := First(list), 0
			for _, o := range list {
				if o.Fuses {
					fuses++
				}
			}
			if want := map[bool]string{true: change, false: kernel}[said]; first == nil || first.Change != want || first.AtMost != (said && change == tf32) {
				t.Errorf("%s, %t: first %+v", change, said, first)
			}
			if want := 1; said && change == chain && fuses != 0 || !(said && change == chain) && fuses != want {
				t.Errorf("%s, %t: %d kernels with half the bytes", change, said, fuses)
			}
		}
	}
}

// TestLessWork: of kernels near their roofline, half the work is named; of others a finding is about the speed.
func TestLessWork(t *testing.T) {
	for roofline, want := range map[int64]string{80: "--scale kernel~^spmm$=0.5", 30: ""} {
		s := followed(idleRun(), map[string]int64{"--scale kernel~^spmm$=0.5": 60, "--scale class:compute=0.5": 55})
		s.Kernels = []summary.Kernel{{Name: "spmm", Class: summary.ClassCompute.String(), TotalNS: 90 * ms}}
		least := roofline * ms
		s.Efficiency.Rows = []summary.EfficiencyRow{{Kernel: "spmm", GPUNS: 90 * ms, RooflineNS: &least, Bound: summary.BoundCompute}}
		got := ""
		if f := (Result{}).LessWork(view.FollowedOf(s)); f != nil {
			got = f.Change
		}
		if got != want {
			t.Errorf("roofline %d of 90 ms: %q, want %q", roofline, got, want)
		}
	}
}
