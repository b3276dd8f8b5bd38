package partial

import (
	"math"
	"slices"
	"strings"
	"testing"

	"assay/summary"
)

// TestReplaysOfSteps: a step has the operators of the graph that it replays, and steps that
// replay one graph share its times by their own kernels.
func TestReplaysOfSteps(t *testing.T) {
	for _, op := range []string{"", "## Call CompiledFxGraph ##"} {
		c, r := new(graphTrace), new(graphTrace)
		c.capture(captured32, layer(32))
		slow := layer(0)
		slow[0].ns += 6000 // the same kernel takes longer in the second step
		r.eager()
		r.replay(decoded32, op, layer(0), 0)
		r.replay(strings.ReplaceAll(decoded32, "999", "1031"), op, slow, 0)
		s := joined(t, c, r)
		var steps []summary.EfficiencyStep
		for _, step := range s.Efficiency.Steps {
			if step.Input == 1 {
				steps = append(steps, step)
			}
		}
		if len(steps) != 2 {
			t.Fatalf("operator %q: %d steps, want 2", op, len(steps))
		}
		flops := int64(3 * 2 * 32 * 64 * 128)
		for i, ns := range []int64{14_000, 20_000} {
			step := steps[i]
			if step.GPUNS != ns+1000 || step.MatrixNS != ns || step.FLOPsKnownNS != ns || step.BytesKnownNS != ns || int64(step.MatrixFLOPs) != flops || int64(step.ModelFLOPs) != flops || step.GraphNS != 1000 || step.Replays != nil {
				t.Errorf("operator %q, step %d: %+v", op, i, step.EfficiencySums)
			}
			if want := float64(flops) / 1307.4e3 / float64(step.WallNS); step.MFU == nil || math.Abs(*step.MFU/want-1) > 1e-6 || *step.HFU != *step.MFU {
				t.Errorf("operator %q, step %d: MFU is %v, want %v", op, i, step.MFU, want)
			}
		}
		checkParts(t, s)
	}
}

// TestReplaysOverPeak: operators that a capture names are compared with the peaks and the cache
// of the GPU as others are, and the issue counts them.
func TestReplaysOverPeak(t *testing.T) {
	for _, c := range []struct {
		name, dims string
		ns         int64
		over       string
		issues     int64
	}{
		{"below", "[[32,4096],[4096,4096]]", 10_000, "", 0},
		// 34 MB in 5 µs are more than the 5.3 TB/s of the memory; the cache has 256 MB.
		{"in the cache", "[[32,4096],[4096,4096]]", 5_000, summary.OverCached, 0},
		// 1.25 GB in 100 µs: twice the cache leaves 0.74 GB, and the memory delivers 0.53 GB.
		{"beyond the cache", "[[32,4096],[4096,151936]]", 100_000, summary.OverMemory, 1},
		// 137 GFLOP in 20 µs; MFU of the GPU and of the step are over 100%, too.
		{"beyond the matrix units", "[[4096,4096],[4096,4096]]", 20_000, summary.OverCompute, 3},
	} {
		nodes := []node{{kernel: "gemm", op: "aten::mm", dims: c.dims, ns: c.ns}}
		capture, r := new(graphTrace), new(graphTrace)
		capture.capture(captured32, nodes)
		r.replay(decoded32, "", nodes, 0)
		s := joined(t, capture, r)
		at := slices.IndexFunc(s.Efficiency.Rows, func(r summary.EfficiencyRow) bool { return r.From == summary.FromCapture })
		if at < 0 || s.Efficiency.Rows[at].Over != c.over || (s.Efficiency.Rows[at].RooflineNS == nil) != summary.IsOver(c.over) {
			t.Errorf("%s: rows are %+v, want %q", c.name, s.Efficiency.Rows, c.over)
		}
		said := int64(0)
		for _, is := range s.Issues {
			if is.Code == "over-peak" {
				said = is.Count
			}
		}
		if said != c.issues {
			t.Errorf("%s: over-peak is said %d times, want %d", c.name, said, c.issues)
		}
		checkParts(t, s)
	}
}
