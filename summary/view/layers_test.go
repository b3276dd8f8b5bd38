package view

import (
	"testing"

	"assay/summary"
)

// TestLayerSums: two ranks with 4 layers of 10, 10, 12 and 40 µs, and of 10, 10, 14 and 90 µs: medians of 11 and 12. The slowest layer is
// communication, which is in no typical layer; sums are of the first rank, 72 µs, and not 4 times the median.
func TestLayerSums(t *testing.T) {
	row := func(rank int, median, last int64, lengths ...int64) summary.Layer {
		return summary.Layer{Rank: rank, Kind: "layer", Pass: "forward", Count: 4, MedianNS: median, LengthNS: lengths, Index: []int32{0, 1, 2, 3},
			Parts: summary.LayerParts{MLP: 32_000, Communication: last}, TypicalParts: summary.LayerParts{MLP: 8_000, Norm: int64(rank)}}
	}
	s := &summary.Summary{Layers: []summary.Layer{
		row(1, 12_000, 90_000, 10_000, 10_000, 14_000, 90_000), row(0, 11_000, 40_000, 10_000, 10_000, 12_000, 40_000)}}
	groups := LayerGroups(s)
	if len(groups) != 1 || len(groups[0].Kinds()) != 1 {
		t.Fatalf("got %+v", groups)
	}
	k := groups[0].Kinds()[0]
	if k.NS() != 72_000 || groups[0].Typical.NS() != 72_000 {
		t.Errorf("all layers take %d, the step %d, want 72000", k.NS(), groups[0].Typical.NS())
	}
	if k.KernelNS() > 8_001 || k.Parts[1].NS != 8_000 || k.Parts[4].NS != 0 || k.Part("communication") != 16_250 {
		t.Errorf("parts %+v, means %+v", k.Parts, k.Means)
	}
	s.Layers[0].TypicalParts, s.Layers[1].TypicalParts = summary.LayerParts{}, summary.LayerParts{} // of an older version
	if k := LayerGroups(s)[0].Kinds()[0]; k.Parts != k.Means || k.Parts[1].Name != "mlp" {
		t.Errorf("without the typical layer: %+v", k.Parts)
	}
}

// TestKindsDiffer: of two kinds of one name, one has attention of 40 µs and one of 60; attention of 40 and 44 µs says nothing.
func TestKindsDiffer(t *testing.T) {
	kinds := func(a, b int64) []LayerKind {
		row := func(kind string, ns int64) summary.Layer {
			return summary.Layer{Kind: kind, Pass: "forward", Count: 3, MedianNS: 200_000, Parts: summary.LayerParts{Attention: 3 * ns, MoE: 300_000}}
		}
		return LayerGroups(&summary.Summary{Layers: []summary.Layer{row("moe-layer", a), row("moe-layer-2", b)}})[0].Kinds()
	}
	if k := kinds(40_000, 60_000); k[0].Differs != "shorter attention" || k[1].Differs != "longer attention" {
		t.Errorf("got %q and %q", k[0].Differs, k[1].Differs)
	}
	if k := kinds(40_000, 44_000); k[0].Differs != "" || k[1].Differs != "" {
		t.Errorf("got %q and %q", k[0].Differs, k[1].Differs)
	}
}
