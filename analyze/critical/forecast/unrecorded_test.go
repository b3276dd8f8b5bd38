package forecast_test

import (
	"fmt"
	"strings"
	"testing"

	"assay/analyze/critical"
	"assay/analyze/critical/forecast"
)

// lateLaunches launches kernels at equal times.
func lateLaunches(t *testing.T, n int, every, dur float64) *forecast.Model {
	var p tape
	p.step(0, float64(n)*every+20)
	for i := range n {
		p.launch(every*float64(i)+10, 4, i+1)
		p.work("gemm_fwd", 5, every*float64(i)+16, dur, i+1)
	}
	return p.graph(t, 0)
}

// TestUnrecordedWaits: 24 launches, each 200 µs after the one before. Kernels start 6 µs after their launch begins. If
// every one ends 5 µs before the next launch, after 189 µs, the host waits for it, although no call of the trace does.
func TestUnrecordedWaits(t *testing.T) {
	varied := func(i int) float64 { return float64(20 + 37*i%169) } // ends anywhere in the pause
	if g := lateLaunches(t, 24, 50, 39); g.Paths()[0].Verdict.Level != critical.Abstain {
		t.Error("kernels of 39 µs, each launched 5 µs after the one before")
	}
	if g := lateLaunches(t, 24, 30, 21); g.Paths()[0].Verdict.Level == critical.Abstain {
		t.Error("operators of 30 µs may take as long as their kernels")
	}
	for name, test := range map[string]struct {
		kernel func(i int) float64 // µs
		call   string              // that runs until 2 µs after each kernel
		level  critical.Level
	}{
		"after each kernel":       {func(int) float64 { return 189 }, "", critical.Abstain},
		"polls":                   {func(int) float64 { return 189 }, "cudaEventQuery", critical.Abstain},
		"waits are recorded":      {func(int) float64 { return 189 }, "cudaStreamSynchronize", critical.Warn},
		"three of them":           {func(i int) float64 { return 100 + 89*float64((i%8)/7) }, "", critical.Warn},
		"the host is busy":        {varied, "", critical.Warn},
		"as long as the kernels":  {func(i int) float64 { return 189 + 10*float64(i%2) }, "", critical.Warn},
		"the GPU is done earlier": {func(int) float64 { return 150 }, "", critical.Warn},
	} {
		var p tape
		p.step(0, 24*200+20)
		for i := range 24 {
			at, dur := 200*float64(i)+10, test.kernel(i)
			p.launch(at, 4, i+1)
			p.work("gemm_fwd", 5, at+6, dur, i+1)
			if test.call != "" {
				p.call(test.call, at+20, dur-12, i+101)
			}
		}
		g := p.graph(t, 0)
		path := g.Paths()[0]
		told := strings.Contains(strings.Join(path.Verdict.Reasons, ";"), "does not record these waits")
		if path.Verdict.Level != test.level || told != (test.level == critical.Abstain) {
			t.Errorf("%s: %v %q", name, path.Verdict.Level, path.Verdict.Reasons)
		}
		if want := fmt.Sprint(23 * (189 + 6 - 4)); told && fmt.Sprint(us(path.Unrecorded)) != want { // from the end of a launch to that of its kernel
			t.Errorf("%s: %g µs, want %s", name, us(path.Unrecorded), want)
		}
	}
}
