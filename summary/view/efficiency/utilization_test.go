package efficiency_test

import (
	"testing"

	"assay/summary"
	"assay/summary/view/efficiency"
)

// TestUtilization: the upper limit has all unknown time at the peak, but not communication. A
// type without a peak leaves MFU open, and FLOPs of the user are exact.
func TestUtilization(t *testing.T) {
	tenth, half := 0.1, 0.5
	sums := summary.EfficiencySums{GPUNS: 80, CommNS: 20, FLOPsKnownNS: 45, MatrixNS: 30, MatrixFLOPs: 1, WallNS: 100, MFU: &tenth, HFU: &tenth}
	device := summary.EfficiencyDevice{PeakTFLOPS: map[string]float64{"bf16": 1}, EfficiencySums: sums}
	s := &summary.Summary{Efficiency: summary.Efficiency{Devices: []summary.EfficiencyDevice{device}}}
	check := func(what string, want efficiency.Range, of func(*summary.Summary, []*summary.EfficiencySums) (efficiency.Range, bool)) {
		t.Helper()
		if got, ok := of(s, efficiency.Devices(s)); !ok || got != want {
			t.Errorf("%s: %+v, %v, want %+v", what, got, ok, want)
		}
	}
	check("15 of 80 ns are unknown", efficiency.Range{Least: 0.1, Most: 0.25, Unknown: 15. / 80}, efficiency.MFU)
	d := &s.Efficiency.Devices[0]
	d.CommNS = 35
	check("all the rest is communication", efficiency.Range{Least: 0.1, Most: 0.1}, efficiency.MFU)
	one := int64(1)
	s.Efficiency.Rows = []summary.EfficiencyRow{{Unit: "matrix", Dtype: "fp4", FLOPs: &one}}
	check("a type has no peak", efficiency.Range{Least: 0.1, Most: 0.4, Unknown: 30. / 80, Unrated: true}, efficiency.MFU)
	s.Efficiency.Rows = nil
	s.Idle = []summary.Idle{{Owner: summary.OwnerNotRecorded, NS: 5}, {Owner: summary.OwnerHost, NS: 3}, {Device: 1, Owner: summary.OwnerNotRecorded, NS: 7}}
	check("5 ns of work are not recorded", efficiency.Range{Least: 0.1, Most: 0.15, Unknown: 5. / 85, UnrecordedNS: 5}, efficiency.MFU)
	d.CommNS, d.MFU, d.MFUFrom = 20, &half, summary.MFUOfUser
	check("FLOPs of the user", efficiency.Range{Least: 0.5, Most: 0.5}, efficiency.MFU)
	s.Idle = nil
	check("HFU is not below them", efficiency.Range{Least: 0.5, Most: 0.65, Unknown: 15. / 80}, efficiency.HFU)
}
