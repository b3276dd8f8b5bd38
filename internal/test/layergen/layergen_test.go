package layergen

import (
	"encoding/json"
	"testing"

	"assay/internal/test"
)

// TestTruth checks that the truth is what the trace says: kernels between the start and the end of a layer have the sum
// of its parts, layers do not overlap, and every kernel of a replay has the correlation of its launch.
func TestTruth(t *testing.T) {
	for _, graphs := range []bool{false, true} {
		c := Generate(Config{Seed: test.Seed(t), Programs: []Program{Mixture(2, 5, true, true)}, Steps: 3, Graphs: graphs, Jitter: 10, MemsetOf: 3, SplitEvery: 4})
		var trace struct {
			TraceEvents []struct {
				Cat, Name string
				Ts, Dur   float64
			}
		}
		if err := json.Unmarshal(c.JSON, &trace); err != nil {
			t.Fatal(err)
		}
		launches := map[string]int{}
		for _, e := range trace.TraceEvents {
			launches[e.Name]++
		}
		if got := launches["cudaGraphLaunch"]; graphs && got != 3 || !graphs && got != 0 || graphs == (launches["cudaLaunchKernel"] > 0) {
			t.Errorf("graphs %v: launches %v", graphs, launches)
		}
		if len(c.Runs) != 3 {
			t.Fatalf("%d runs, want one for each of 3 steps", len(c.Runs))
		}
		for _, r := range c.Runs {
			kinds, of := r.Kinds()
			if len(r.Layers) != 7 || len(kinds) != 2 || len(of["decoder"]) != 2 || len(of["moe-layer"]) != 5 {
				t.Errorf("%s: %d layers of %v", r.Step, len(r.Layers), kinds)
			}
			before := int64(0)
			for _, l := range r.Layers {
				sum, parts := 0.0, int64(0)
				for _, e := range trace.TraceEvents {
					if e.Cat == "kernel" && e.Ts*1000 >= float64(l.StartNS)-0.5 && e.Ts*1000 < float64(l.EndNS)-0.5 {
						sum += e.Dur * 1000
					}
				}
				for _, ns := range l.Parts {
					parts += ns
				}
				if int64(sum+0.5) != parts || l.StartNS < before || l.EndNS <= l.StartNS {
					t.Errorf("%s, layer %d from %d to %d ns: parts of %d ns, kernels of %.0f ns", r.Step, l.Index, l.StartNS, l.EndNS, parts, sum)
				}
				before = l.EndNS
			}
		}
	}
}

// TestKnown computes one layer by hand: 9 kernels of vLLM's dense layer with 1 µs between them.
func TestKnown(t *testing.T) {
	c := Generate(Config{Programs: []Program{Llama(3)}, Steps: 1, Graphs: true})
	l := c.Runs[0].Layers[1]
	// norms 4.5 each; attention 14, 3, 2.5, 17, 9; MLP 42, 4, 25; 9 gaps
	if got := l.EndNS - l.StartNS; got != 125_500+9_000 || l.Parts["norm"] != 9_000 || l.Parts["attention"] != 45_500 || l.Parts["mlp"] != 71_000 {
		t.Errorf("got %d ns, %v", got, l.Parts)
	}
	if c.Runs[0].Layers[2].StartNS != l.EndNS+1000 {
		t.Error("the next layer does not begin 1 µs later")
	}
}
