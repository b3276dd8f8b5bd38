package forecast_test

import (
	"strings"
	"testing"

	"assay/analyze/critical"
)

// The second kernel of stream 7 starts at 220, though its stream is free at 37. On stream 8 a kernel runs from 23 until
// then, or not so long, or a copy does.
func TestStreamsCompete(t *testing.T) {
	for _, test := range []struct {
		name string
		dur  float64
		want bool
	}{{"spmm_kernel", 200, true}, {"spmm_kernel", 37, false}, {"Memcpy DtoD (Device -> Device)", 200, false}} {
		var p tape
		p.step(0, 280)
		for i := range 3 {
			p.launch(10+6*float64(i), 4, i+1)
		}
		p.work("scan", 7, 17, 20, 1)
		p.work(test.name, 8, 23, test.dur, 2)
		p.work("scan", 7, 220, 40, 3)
		p.call("cudaDeviceSynchronize", 30, 240, 9)
		v := p.graph(t, 0).Paths()[0].Verdict
		if got := strings.Contains(v.Reasons[0], "streams compete for the GPU"); v.Level != critical.Abstain || got != test.want {
			t.Errorf("%+v: %v %q", test, v.Level, v.Reasons)
		}
	}
}
