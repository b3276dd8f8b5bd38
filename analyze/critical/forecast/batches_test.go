package forecast_test

import (
	"strings"
	"testing"

	"assay/analyze/critical"
	"assay/analyze/critical/graph"
)

// Two steps of 200 µs each take a batch from other processes, launch a kernel of 50 µs and wait for it. With a kernel of
// 10 µs the second batch is taken 40 µs earlier. If the call for it returned at once, nothing tells whether it would
// have been there; if the host waited for it, it would not.
func TestBatchesThatWereThere(t *testing.T) {
	for name, c := range map[string]struct {
		first, second float64 // how long the calls take
		change        string
		want          bool
	}{
		"the second was there":   {50, 6, "--scale kernel~conv=0.2", true},
		"within a call with one": {50, 12, "--scale kernel~conv=0.2", true},
		"both were there":        {6, 6, "--scale kernel~conv=0.2", false},
		"none was there":         {50, 30, "--scale kernel~conv=0.2", false},
		"a slower kernel":        {50, 6, "--scale kernel~conv=3", false},
		"hardly faster":          {50, 6, "--scale kernel~conv=0.9", false},
		"a faster loader":        {50, 6, "--scale kernel~conv=0.2 --scale class:dataloader=0.5", false},
	} {
		var p tape
		for i, call := range []float64{c.first, c.second} {
			at := 200 * float64(i)
			p.step(at, 200)
			p.host("python_function", "torch/utils/data: _MultiProcessingDataLoaderIter.__next__", at+10, call)
			p.launch(at+70, 4, 2*i+1)
			p.work("conv_wgrad", 7, at+80, 50, 2*i+1)
			p.call("cudaDeviceSynchronize", at+90, 45, 2*i+2)
		}
		g := p.graph(t, 0)
		f, _, err := g.Forecast(g.Paths(), changesOf(strings.Fields(c.change)))
		if err != nil || len(f) != 2 {
			t.Fatal(err, len(f))
		}
		for i, want := range []bool{false, c.want} {
			why := strings.Join(f[i].Verdict.Reasons, "; ")
			if got := strings.Contains(why, "was there before it was asked for"); got != want || got && f[i].Verdict.Level != critical.Abstain {
				t.Errorf("%s, step %d: %v %q", name, i, f[i].Verdict.Level, why)
			}
		}
	}
}

// Rank 8 has 1.5 times the work of rank 2, and each of its kernels either just that or a third more or less.
func TestRanksThatDifferByChance(t *testing.T) {
	for name, c := range map[string]struct {
		factors [3]float64
		want    bool
	}{"always alike": {[3]float64{1.5, 1.5, 1.5}, false}, "a little": {[3]float64{1.5, 1.56, 1.44}, false}, "by chance": {[3]float64{1.5, 2, 1}, true}} {
		var p [2]tape
		for r := range p {
			p[r].step(0, 500)
			at := 20.0
			for i := range 3 {
				dur := 60.0
				if r == 1 {
					dur *= c.factors[i]
				}
				p[r].launch(4+5*float64(i), 4, i+1)
				p[r].work("swiglu", 7, at, dur, i+1)
				at += dur + 1
			}
			p[r].launch(20, 4, 4)
			p[r].work("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 7, at, 320-at, 4)
			p[r].call("cudaDeviceSynchronize", 30, 293, 5)
		}
		g, apart := joined([]*graph.Graph{p[0].rank(t, 2), p[1].rank(t, 8)})
		if g == nil {
			t.Fatal(apart)
		}
		f, _, err := g.Forecast(g.Paths(), changesOf([]string{"--like", "2"}))
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range f {
			if got := strings.Contains(strings.Join(x.Verdict.Reasons, "; "), "ranks that differ by chance"); got != c.want {
				t.Errorf("%s: %+v", name, x.Verdict)
			}
		}
	}
}
