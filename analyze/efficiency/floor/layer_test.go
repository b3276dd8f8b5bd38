package floor

import (
	"testing"

	"assay/analyze/efficiency/transformer"
	"assay/summary"
)

// layerRow is the row of all layers of the model of a pass, with times far above their floors.
func layerRow(step, pass string) summary.Layer {
	return summary.Layer{Step: step, Pass: pass, Count: 4, MedianNS: 900_000, HeadNS: 100_000,
		TypicalParts: summary.LayerParts{Attention: 500_000, MLP: 500_000, Norm: 10_000, Communication: 50_000}}
}

// floors returns the floors of a row by part: bytes, FLOPs, ns and what limits.
func floors(l *summary.Layer) map[string]summary.PartFloor {
	out := map[string]summary.PartFloor{}
	for _, f := range l.Floor {
		out[f.Part] = f
	}
	return out
}

// Elements of the matrices of one layer of the model, and of the head.
const attention, mlp, output = 4 * 1024 * 1024, 2 * 1024 * 4096, 1024 * 1000

// TestDecodeLayer: 2 bytes for each weight at 100 GB/s, and the cache of 302 tokens: 2 × 1,024 numbers each.
func TestDecodeLayer(t *testing.T) {
	s := run()
	s.Layers = []summary.Layer{layerRow("s", "forward")}
	Fill(s, settings(t))
	got := floors(&s.Layers[0])
	for part, want := range map[string]summary.PartFloor{
		"attention": {KernelNS: 500_000, Bytes: 2*attention + 302*2*1024*2, FLOPs: 2*2*attention + 4*1024*300, Bound: "memory"},
		"mlp":       {KernelNS: 500_000, Bytes: 2 * mlp, FLOPs: 2 * 2 * mlp, Bound: "memory"},
		"head":      {KernelNS: 100_000, Bytes: 2 * output, FLOPs: 2 * 2 * output, Bound: "memory"},
	} {
		want.Part, want.From, want.NS = part, summary.FloorOfModel, (want.Bytes+99)/100
		if got[part] != want {
			t.Errorf("%s: %+v, want %+v", part, got[part], want)
		}
	}
	if len(got) != 3 {
		t.Errorf("%+v", got)
	}
}

// TestTrainedLayer: 256 tokens of two sequences at 10 TFLOP/s, each of which sees half of the tokens of its sequence. The backward pass does
// twice the work; two micro-batches take 128 tokens each.
func TestTrainedLayer(t *testing.T) {
	s, set := run(), settings(t)
	s.Efficiency.Decode, s.Steps = nil, nil
	set.Tokens, set.Sequences, set.Parallel.Tensor = 256, 2, 1
	twice := layerRow("micro", "forward")
	s.Layers = []summary.Layer{layerRow("s", "forward"), layerRow("s", "backward"), layerRow("s", "recompute"), twice, twice}
	Fill(s, set)
	flops := func(tokens int64) int64 { return 2*tokens*attention + 4*1024*(tokens/2)*(tokens/2) }
	for i, want := range []int64{flops(256), 2 * flops(256), flops(256), 2*128*attention + 4*1024*64*128} {
		got := floors(&s.Layers[i])["attention"]
		if got.FLOPs != want || got.NS != (want+9_999)/10_000 || got.Bound != "compute" {
			t.Errorf("layer %d: %+v, want %d FLOPs", i, got, want)
		}
	}
	if got := floors(&s.Layers[0]); got["head"].FLOPs != 2*256*output || got["mlp"].FLOPs != 2*256*mlp {
		t.Errorf("%+v", got)
	}
}

// TestNoLayerFloor: no floor of another model, of steps that do not state their tokens, and of parts that take less.
func TestNoLayerFloor(t *testing.T) {
	for name, change := range map[string]func(*summary.Summary, *Settings){
		"five layers":    func(s *summary.Summary, _ *Settings) { s.Layers[0].Count = 5 },
		"another step":   func(s *summary.Summary, _ *Settings) { s.Layers[0].Step = "t" },
		"other requests": func(s *summary.Summary, _ *Settings) { s.Efficiency.Decode[0].WallNS = 900_000 }, // less than its floor
		"no peak":        func(s *summary.Summary, _ *Settings) { s.Efficiency.Devices[0].PeakTFLOPS = nil },
		"too fast": func(s *summary.Summary, _ *Settings) {
			s.Layers[0].TypicalParts, s.Layers[0].HeadNS = summary.LayerParts{Attention: 80_000, MLP: 160_000}, 20_000
		},
		"recorded shapes are more exact": func(s *summary.Summary, _ *Settings) {
			for _, part := range []string{"attention", "mlp", "head"} {
				s.Layers[0].Floor = append(s.Layers[0].Floor, summary.PartFloor{Part: part, From: summary.FloorOfOperators})
			}
		},
	} {
		s, set := run(), settings(t)
		s.Layers = []summary.Layer{layerRow("s", "forward")}
		change(s, &set)
		Fill(s, set)
		for _, f := range s.Layers[0].Floor {
			if f.From == summary.FloorOfModel {
				t.Errorf("%s: %+v", name, f)
			}
		}
	}
}

// TestDivided: two GPUs divide each layer, and send 2 bytes of 1,024 numbers for two tokens, twice, at 1 GB/s.
func TestDivided(t *testing.T) {
	s, set := run(), settings(t)
	link := 1.
	s.Efficiency.Devices[0].LinkGBPS = &link
	set.Parallel = transformer.Parallel{Tensor: 2}
	s.Layers = []summary.Layer{layerRow("s", "forward")}
	Fill(s, set)
	got := floors(&s.Layers[0])
	want := summary.PartFloor{Part: "communication", KernelNS: 50_000, Bytes: 2 * 2 * 2 * 1024, NS: 8192, Bound: "link", From: summary.FloorOfModel}
	if got["communication"] != want || got["mlp"].Bytes != mlp {
		t.Errorf("%+v, want %+v", got, want)
	}
}
