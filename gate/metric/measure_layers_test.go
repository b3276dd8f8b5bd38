package metric

import (
	"strings"
	"testing"

	"assay/summary"
)

// layeredRun has a decode step of 2 dense layers of 10 µs and 4 with experts of 30 µs, 20 of them in experts, on each
// of two ranks; rank 1 takes twice the time. The parts of the dense layers are attention 4 and MLP 5.
func layeredRun() *summary.Summary {
	s := &summary.Summary{Schema: summary.Schema, Inputs: []summary.Input{{Path: "a"}, {Path: "b", Rank: 1}}}
	for r := range int64(2) {
		us := 1000 * (r + 1)
		s.Devices = append(s.Devices, summary.Device{Input: int(r), Rank: int(r), WindowNS: 1_000_000})
		s.Steps = append(s.Steps, summary.Step{Input: int(r), Rank: int(r), Name: "step", Kind: "decode", WallNS: 200 * us})
		row := summary.Layer{Input: int(r), Rank: int(r), Step: "step", Pass: "forward"}
		dense, experts := row, row
		dense.Kind, dense.Count, dense.MedianNS, dense.EndNS, dense.Parts = "decoder", 2, 10*us, 20*us, summary.LayerParts{Attention: 8 * us, MLP: 10 * us}
		experts.Kind, experts.Count, experts.MedianNS, experts.StartNS, experts.EndNS = "moe-layer", 4, 30*us, 20*us, 140*us
		experts.Parts = summary.LayerParts{Attention: 16 * us, MoE: 80 * us}
		s.Layers = append(s.Layers, dense, experts)
	}
	return s
}

// TestLayers: values are medians over the two ranks, so 1.5 times those of rank 0. What is not unique is an error.
func TestLayers(t *testing.T) {
	twoKinds := layeredRun()
	twoKinds.Steps[1].Kind = "prefill"
	training := layeredRun()
	for i := range training.Layers {
		if training.Layers[i].Kind == "decoder" {
			training.Layers[i].Pass = "backward"
		}
	}
	for _, c := range []struct {
		gate string
		of   *summary.Summary
		want string
	}{
		{"layer.time{part=moe}", layeredRun(), "30 µs"},
		{"layer.time{part=mlp, rank=1}", layeredRun(), "10 µs"},
		{"layer.time{layers=moe-layer, rank=0}", layeredRun(), "30 µs"},
		{"layer.time{layers=dec*}", layeredRun(), "15 µs"},
		{"layer.time{part=attention, layers=decoder, rank=0}", layeredRun(), "4 µs"},
		{"layer.count", layeredRun(), "6"},
		{"layer.count{layers=moe-layer}", layeredRun(), "4"},
		{"layer.count{pass=backward}", training, "2"},
		{"layer.time{part=moe, step=decode}", twoKinds, "20 µs"},
		{"layer.time", layeredRun(), "several kinds"},
		{"layer.time{part=attention}", layeredRun(), "several kinds"},
		{"layer.time{part=norm}", layeredRun(), `no kernel of layers is of the part "norm"`},
		{"layer.time{part=moe}", twoKinds, "several kinds (decode, prefill)"},
		{"layer.count", training, "several passes"},
		{"layer.count{layers=encoder}", layeredRun(), "no layers of this kind"},
		{"layer.count", &summary.Summary{Schema: summary.Schema}, errNoLayers.Error()},
	} {
		if got := measureText(t, c.of, c.gate); !strings.Contains(got, c.want) || len(c.want) < 6 && got != c.want {
			t.Errorf("%s is %s, want %s", c.gate, got, c.want)
		}
	}
	if _, _, err := Parse("layer.time{part=experts}"); err == nil || !strings.Contains(err.Error(), "attention, mlp, moe") {
		t.Errorf("an unknown part: %v", err)
	}
}
