package layers

import (
	"slices"
	"strings"
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
	groups := Groups(s)
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
	if k := Groups(s)[0].Kinds()[0]; k.Parts != k.Means || k.Parts[1].Name != "mlp" {
		t.Errorf("without the typical layer: %+v", k.Parts)
	}
}

// TestKindsDiffer: of two kinds of one name, one has attention of 40 µs and one of 60; attention of 40 and 44 µs says nothing.
func TestKindsDiffer(t *testing.T) {
	kinds := func(a, b int64) []Kind {
		row := func(kind string, ns int64) summary.Layer {
			return summary.Layer{Kind: kind, Pass: "forward", Count: 3, MedianNS: 200_000, Parts: summary.LayerParts{Attention: 3 * ns, MoE: 300_000}}
		}
		return Groups(&summary.Summary{Layers: []summary.Layer{row("moe-layer", a), row("moe-layer-2", b)}})[0].Kinds()
	}
	if k := kinds(40_000, 60_000); k[0].Differs != "with shorter attention" || k[1].Differs != "with longer attention" {
		t.Errorf("got %q and %q", k[0].Differs, k[1].Differs)
	}
	if k := kinds(40_000, 44_000); k[0].Differs != "" || k[1].Differs != "" {
		t.Errorf("got %q and %q", k[0].Differs, k[1].Differs)
	}
}

// TestPassesDiffer: one pass through long layers before several through short ones is the first pass of a step. It is not if it runs
// between them, and longer kernels throughout are no longer attention.
func TestPassesDiffer(t *testing.T) {
	kinds := func(list ...string) (out []string) {
		s := &summary.Summary{}
		for i, kind := range list {
			ns := int64(40_000)
			if kind == "long" {
				kind, ns = "attention-layer-2", 160_000
			} else {
				kind = "attention-layer"
			}
			s.Layers = append(s.Layers, summary.Layer{Step: "generate", Kind: kind, Pass: "forward", Count: 16, StartNS: int64(i) * 1_000_000, MedianNS: 2 * ns,
				Parts: summary.LayerParts{Attention: 16 * ns, MLP: 16 * ns}})
		}
		for _, k := range Groups(s)[0].Kinds() {
			out = append(out, k.Name+": "+k.Differs)
		}
		slices.Sort(out)
		return out
	}
	for _, c := range []struct {
		list []string
		want string
	}{
		{[]string{"long", "short", "short", "short"}, "transformer-layer-2: of the first pass, transformer-layer: of later passes"},
		{[]string{"short", "long", "short", "short"}, "transformer-layer-2: , transformer-layer: "},
		{[]string{"long", "short"}, "transformer-layer-2: , transformer-layer: "},
	} {
		if got := strings.Join(kinds(c.list...), ", "); got != c.want {
			t.Errorf("%v: %s, want %s", c.list, got, c.want)
		}
	}
}

// TestShownNames: attention with a feed-forward network is a transformer layer, attention alone and that of a hybrid model are not.
func TestShownNames(t *testing.T) {
	row := func(kind string, mlp int64) summary.Layer {
		return summary.Layer{Kind: kind, Pass: "forward", Count: 4, MedianNS: 90_000, Parts: summary.LayerParts{Attention: 40_000, MLP: mlp}}
	}
	for _, c := range []struct {
		rows []summary.Layer
		want string
	}{
		{[]summary.Layer{row("attention-layer", 60_000)}, "transformer-layer"},
		{[]summary.Layer{row("attention-layer-2", 60_000)}, "transformer-layer-2"},
		{[]summary.Layer{row("attention-layer", 0)}, "attention-layer"},
		{[]summary.Layer{row("decoder", 60_000)}, "decoder"},
		{[]summary.Layer{row("attention-layer", 60_000), row("mamba-layer", 60_000)}, "attention-layer"},
	} {
		for _, k := range Groups(&summary.Summary{Layers: c.rows})[0].Kinds() {
			if k.Kind == c.rows[0].Kind && k.Name != c.want {
				t.Errorf("%s is shown as %s, want %s", k.Kind, k.Name, c.want)
			}
		}
	}
}

// TestOddOfTwo: a layer that is unusual in one of two runs is chance; in two of three it is named.
func TestOddOfTwo(t *testing.T) {
	for _, c := range []struct{ odd, runs, want int }{{1, 1, 1}, {1, 2, 0}, {2, 3, 1}, {2, 4, 0}} {
		s := &summary.Summary{}
		for i := range c.runs {
			l := summary.Layer{Kind: "decoder", Pass: "forward", Count: 8, MedianNS: 100, StartNS: int64(i)}
			if i < c.odd {
				l.Odd = []summary.OddLayer{{Index: 5, NS: 140, Part: "moe", Kernel: []string{"routing_b", "routing_a", "routing_a"}[i%3]}}
			}
			s.Layers = append(s.Layers, l)
		}
		got := Groups(s)[0].Kinds()[0].Odd
		if len(got) != c.want {
			t.Errorf("%d of %d runs: %d odd layers, want %d", c.odd, c.runs, len(got), c.want)
		} else if want := map[int]string{1: "routing_b", 2: "routing_a"}[c.odd]; c.want == 1 && got[0].Kernel != want {
			t.Errorf("%d of %d runs: %q differs most, want %q", c.odd, c.runs, got[0].Kernel, want)
		}
	}
}
