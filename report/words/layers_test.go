package words

import "testing"

func TestLayers(t *testing.T) {
	for kind, want := range map[string][2]string{
		"moe-layer": {"MoE layer", "MoE layers"}, "moe-layer-2": {"MoE layer (second kind)", "MoE layers (second kind)"}, "decoder": {"decoder layer", "decoder layers"},
		"linear-attention-layer": {"linear attention layer", "linear attention layers"}, "layer": {"layer", "layers"}, "layer-3": {"layer (kind 3)", "layers (kind 3)"}, "": {"layer", "layers"},
	} {
		if one, several := Layer(kind), Layers(kind); one != want[0] || several != want[1] {
			t.Errorf("%q is %q and %q, want %q", kind, one, several, want)
		}
	}
}
