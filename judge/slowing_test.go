package judge

import (
	"testing"

	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
)

// TestSlowingSteadily: kernels that are slower in each third count from 5% on, others from 10% on. The
// last two thirds would take 600 ms at the speed of the first.
func TestSlowingSteadily(t *testing.T) {
	const expected = 600 * ms
	for _, tc := range []struct {
		name   string
		ns     int64 // of the last two thirds
		steady int64
		want   bool
	}{
		{"7% more in each third", 642 * ms, 642 * ms, true},
		{"7% more, a tenth of it unsteady", 642 * ms, 600 * ms, true},
		{"7% more, a third of it unsteady", 642 * ms, 428 * ms, false},
		{"12% more, none of it steady", 672 * ms, 0, true},
		{"4% more in each third", 624 * ms, 624 * ms, false},
	} {
		s := one(0, 0, 0)
		s.Devices[0].Drift = &summary.Drift{Kernels: 9, NS: tc.ns, ExpectedNS: expected, SlowerNS: tc.ns, SteadyNS: tc.steady}
		f := findingOf(Judge(s, rule.DefaultThresholds()).Findings, rule.SlowingKernels)
		if got := f != nil && f.Level > finding.Info; got != tc.want {
			t.Errorf("%s: %+v, want a finding: %v", tc.name, f, tc.want)
		}
	}
}
