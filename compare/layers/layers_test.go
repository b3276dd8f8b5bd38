package layers

import (
	"testing"

	"assay/summary"
)

// run has a step of 4 layers of 30 µs, 20 of them in experts, and 2 dense layers of 10 µs.
func run(change func(*summary.Layer)) *summary.Summary {
	const us = 1000
	s := &summary.Summary{Schema: summary.Schema}
	s.Steps = []summary.Step{{Name: "step", Kind: "decode", WallNS: 200 * us}}
	s.Layers = []summary.Layer{
		{Step: "step", Pass: "forward", Kind: "decoder", Count: 2, MedianNS: 10 * us, EndNS: 20 * us, Parts: summary.LayerParts{MLP: 12 * us}},
		{Step: "step", Pass: "forward", Kind: "moe-layer", Count: 4, MedianNS: 30 * us, StartNS: 20 * us, EndNS: 140 * us, Parts: summary.LayerParts{MoE: 80 * us, Norm: 8 * us}},
	}
	if change != nil {
		for i := range s.Layers {
			change(&s.Layers[i])
		}
	}
	return s
}

// TestOf: experts take 21 µs more in each layer of the new run, so 84 µs in its 4 layers.
func TestOf(t *testing.T) {
	slower := run(func(l *summary.Layer) {
		if l.Kind == "moe-layer" {
			l.MedianNS, l.Parts.MoE = l.MedianNS+21_000, l.Parts.MoE+4*21_000
		}
	})
	rows := Of(run(nil), slower)
	if len(rows) != 2 || rows[0].Kind != "moe-layer" || rows[0].Apart != "" || rows[0].DeltaNS != 21_000 || rows[0].EffectNS != 84_000 {
		t.Fatalf("got %+v", rows)
	}
	if p := rows[0].Parts; len(p) != 2 || p[0] != (Part{"moe", 20_000, 41_000, 21_000}) || p[1].DeltaNS != 0 {
		t.Errorf("parts are %+v", p)
	}
	if r := rows[1]; r.Kind != "decoder" || r.DeltaNS != 0 || r.BaseCount != 2 {
		t.Errorf("dense layers: %+v", r)
	}
}

// TestApart: another number of layers, or another kind, is another model, and is not compared. A side without layers
// has no rows at all.
func TestApart(t *testing.T) {
	longer := run(func(l *summary.Layer) {
		if l.Kind == "moe-layer" {
			l.Count, l.MedianNS = 6, l.MedianNS+5
		}
	})
	other := run(func(l *summary.Layer) {
		if l.Kind == "moe-layer" {
			l.Kind = "mamba-layer"
		}
	})
	prefill := run(nil)
	prefill.Steps[0].Kind = "prefill"
	for name, c := range map[string]struct {
		of   *summary.Summary
		want map[string]string
	}{
		"longer":  {longer, map[string]string{"moe-layer": "6 layers, was 4", "decoder": ""}},
		"other":   {other, map[string]string{"moe-layer": "the new run has no layers of this kind", "mamba-layer": "the base run has no layers of this kind", "decoder": ""}},
		"prefill": {prefill, map[string]string{"moe-layer": "the base run has no layers of this kind", "decoder": "the base run has no layers of this kind"}},
	} {
		for _, r := range Of(run(nil), c.of) {
			want, ok := c.want[r.Kind]
			if name == "prefill" && r.Steps == "decode" {
				want = "the new run has no layers of this kind"
			}
			if !ok || r.Apart != want || r.Apart != "" && (r.DeltaNS != 0 || r.Parts != nil) {
				t.Errorf("%s: %+v, want %q", name, r, want)
			}
		}
	}
	if Of(run(nil), &summary.Summary{}) != nil {
		t.Error("a side without layers is compared")
	}
}
