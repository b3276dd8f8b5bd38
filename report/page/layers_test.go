package page

import (
	"testing"

	"assay/internal/test/samplerun"
	"assay/judge"
	"assay/report/pictures"
)

// TestPicturesOfLayers: the page has the typical layer with all 12 kernels of the sample run, each with a swatch, and layer 17
// in all rows of the heat map 38.5% over the median: 360 µs of 260.
func TestPicturesOfLayers(t *testing.T) {
	found := 0
	for _, c := range pictures.Of(samplerun.Layered(4), judge.Result{}) {
		switch b := pictureOf(c); {
		case b.Gantt != nil:
			found++
			if g := b.Gantt; len(g.Rows) != 12 || len(g.Colors) != 4 || g.SpanNS != 260_000 {
				t.Errorf("the typical layer has %d rows, %d colors, %d ns", len(g.Rows), len(g.Colors), g.SpanNS)
			}
		case b.Heat != nil:
			found++
			if len(b.Heat.Rows) != 4 || len(b.Heat.Rows[0].Values) != 36 {
				t.Fatalf("got %+v", b.Heat)
			}
			for _, r := range b.Heat.Rows {
				if v := *r.Values[17]; v < 0.384 || v > 0.386 || *r.Values[3] != 0 {
					t.Errorf("%s: layer 17 is %.3f, layer 3 %.3f", r.Label, v, *r.Values[3])
				}
			}
		}
	}
	if found != 2 {
		t.Errorf("%d pictures of layers, want 2", found)
	}
}
