package metric

import (
	"testing"

	"assay/summary"
)

// TestDecode: two steps of 10 and 30 ms use 60% and 20% of the bandwidth, so that the memory needs
// 12 of 40 ms. One step without a bandwidth makes all of them unknown.
func TestDecode(t *testing.T) {
	step := func(number, ms int64, share float64) summary.EfficiencyDecode {
		return summary.EfficiencyDecode{Name: "decode", Number: number, WallNS: ms * 1_000_000, Share: &share}
	}
	of := func(list ...summary.EfficiencyDecode) *summary.Summary {
		s := &summary.Summary{Schema: summary.Schema, Inputs: []summary.Input{{Path: "a"}}, Devices: []summary.Device{{WindowNS: 1}}}
		s.Efficiency = summary.Efficiency{Devices: []summary.EfficiencyDevice{{}}, Decode: list}
		return s
	}
	unknown := summary.EfficiencyDecode{Name: "decode", Number: 3, WallNS: 1, Unknown: summary.DecodeLengths}
	for _, c := range []struct {
		gate string
		of   *summary.Summary
		want string
	}{
		{"efficiency.decode", of(step(1, 10, 0.6), step(2, 30, 0.2)), "30.0% (12 ms of 40 ms)"},
		{"efficiency.decode{steps=1}", of(step(1, 10, 0.6), step(2, 30, 0.2), unknown), "60.0% (6 ms of 10 ms)"},
		{"efficiency.decode", of(step(1, 10, 0.6), unknown), `the bandwidth of decode step "decode" is unknown: no lengths`},
		{"efficiency.decode", of(), "no decode step: assay knows them by the annotations of vLLM, SGLang and ATOM"},
		{"efficiency.decode", &summary.Summary{Schema: summary.Schema}, errNoEfficiency.Error()},
	} {
		if got := measureText(t, c.of, c.gate); got != c.want {
			t.Errorf("%s is %s, want %s", c.gate, got, c.want)
		}
	}
}
