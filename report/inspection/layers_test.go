package inspection

import (
	"strings"
	"testing"

	"assay/analyze/inspect"
	"assay/summary"
)

// TestLayerOfRanks: on rank 1 nothing ran for 9 ms, for which rank 0 waited in its collective. Rank 1 is shown.
func TestLayerOfRanks(t *testing.T) {
	layer := func(rank int, parts ...inspect.LayerPart) inspect.Layer {
		return inspect.Layer{GPU: summary.GPU{Input: rank, Rank: rank}, Index: 3, Kind: "layer", NS: 12e6, OfNS: 3e6, Runs: 1, Others: 7, Parts: parts,
			Kernels: []inspect.LayerKernel{{LayerKernel: summary.LayerKernel{AtNS: 9e6, NS: 3e6, Name: "gemm"}, Gap: parts[0].NS}}}
	}
	waits := layer(0, inspect.LayerPart{}, inspect.LayerPart{Name: "communication", NS: 9e6, OfNS: 1e6}, inspect.LayerPart{Name: "mlp", NS: 3e6, OfNS: 2e6})
	late := layer(1, inspect.LayerPart{NS: 9e6}, inspect.LayerPart{Name: "mlp", NS: 3e6, OfNS: 3e6})
	v := view{a: &inspect.Answer{}, inputs: 2}
	s := v.layers([]inspect.Layer{waits, late})
	if len(s) != 2 || !strings.Contains(s[0].Title, "rank 1") || !strings.Contains(s[1].Lead, "1 more GPU;") || !strings.Contains(s[1].Lead, "--rank") {
		t.Errorf("got %+v", s)
	}
	if s := v.layers([]inspect.Layer{waits}); len(s) != 1 || !strings.Contains(s[0].Title, "rank 0") {
		t.Errorf("of one rank: %+v", s)
	}
	if rows := layerKernels(&late).Rows; len(rows) != 2 || rows[0].Cells[3] != "+9.000" {
		t.Errorf("kernels %+v", rows)
	}
	if rows := layerKernels(&waits).Rows; len(rows) != 1 {
		t.Errorf("without a gap: %+v", rows)
	}
}
