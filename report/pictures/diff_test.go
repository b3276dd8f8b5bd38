package pictures

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/internal/test/samplerun"
	"assay/report/plot"
)

// TestDiffPictures paints every picture of comparisons: none clips a text or
// lets two overlap.
func TestDiffPictures(t *testing.T) {
	made := map[string]bool{}
	for name, c := range samplerun.Comparisons(t) {
		for _, chart := range OfComparison(c) {
			made[chart.File()], made[chart.SVGFile()] = true, true
			painted, err := chart.Paint()
			if err != nil {
				t.Fatalf("%s: %s: %v", name, chart.Name, err)
			}
			checkTexts(t, name+": "+chart.Name, painted)
			if *written == "" {
				continue
			}
			f, err := os.Create(filepath.Join(*written, strings.ReplaceAll(name, " ", "-")+"-"+chart.File()))
			if err != nil {
				t.Fatal(err)
			}
			if err := chart.PNG(f); err != nil {
				t.Fatal(err)
			}
			f.Close()
		}
	}
	for _, file := range ComparisonFiles() {
		if !made[file] {
			t.Errorf("no comparison has the picture %s", file)
		}
	}
}

// TestDiffChartData holds what is drawn to the comparison.
func TestDiffChartData(t *testing.T) {
	for name, c := range samplerun.Comparisons(t) {
		for _, chart := range OfComparison(c) {
			switch body := chart.Body.(type) {
			case plot.Stacks:
				if b, n := plot.SumParts(body.Rows[0].Parts), plot.SumParts(body.Rows[1].Parts); b != c.Budget.BaseNS || n != c.Budget.NewNS {
					t.Errorf("%s: bars of %d and %d, want %d and %d", name, b, n, c.Budget.BaseNS, c.Budget.NewNS)
				}
			case plot.Waterfall:
				at := body.From
				for _, s := range body.Steps {
					at += s.NS
				}
				low, high := body.Span()
				if at != body.To || body.To != c.Budget.NewNS || low > min(body.From, body.To) || high < max(body.From, body.To) {
					t.Errorf("%s: it ends at %d within %d to %d, want %d", name, at, low, high, c.Budget.NewNS)
				}
			case plot.Moves:
				for _, r := range body.Rows {
					if plot.SumParts(r.Parts) == 0 {
						t.Errorf("%s: %s did not move", name, r.Label)
					}
				}
			case plot.Spreads:
				if len(body.Rows[0].NS) != len(c.Base.Walls) || len(body.Rows[1].NS) != len(c.New.Walls) {
					t.Errorf("%s: not all steps are drawn", name)
				}
			default:
				t.Errorf("%s: %T is not checked", name, body)
			}
		}
	}
}
