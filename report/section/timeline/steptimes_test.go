package timeline

import (
	"testing"

	judged "assay/judge/timeline"
)

// TestStepTimes: one step has one time; of several there are a median and a spread, also if they are equal.
func TestStepTimes(t *testing.T) {
	const ms = 1_000_000
	for _, tc := range []struct {
		g             judged.StepGroup
		spread, least bool
		want          string
	}{
		{judged.StepGroup{Steps: 1, MedianNS: 37 * ms, MinNS: 37 * ms, MaxNS: 37 * ms}, true, true, "37 ms"},
		{judged.StepGroup{Steps: 1, MedianNS: 5 * ms, MinNS: 5 * ms, MaxNS: 5 * ms}, false, false, "5 ms"},
		{judged.StepGroup{Steps: 2, MedianNS: 5 * ms, MinNS: 5 * ms, MaxNS: 5 * ms}, true, true, "median 5 ms, MAD 0 ns, min 5 ms, max 5 ms"},
		{judged.StepGroup{Steps: 3, MedianNS: 7 * ms, SpreadNS: ms, MinNS: 6 * ms, MaxNS: 9 * ms}, true, false, "median 7 ms, MAD 1 ms, max 9 ms"},
		{judged.StepGroup{Steps: 3, MedianNS: 7 * ms, SpreadNS: ms, MinNS: 6 * ms, MaxNS: 9 * ms}, false, false, "median 7 ms, max 9 ms"},
	} {
		if got := stepTimes(tc.g, tc.spread, tc.least); got != tc.want {
			t.Errorf("%d steps: %q, want %q", tc.g.Steps, got, tc.want)
		}
	}
}
