package pictures

import (
	"strings"
	"testing"

	"assay/internal/test/samplerun"
	"assay/judge"
	"assay/report/plot"
	"assay/summary"
)

// TestTableChart: bars are of what shares are of, largest first.
func TestTableChart(t *testing.T) {
	charts := map[string]plot.Chart{}
	for _, c := range Of(samplerun.Tables(), judge.Result{}) {
		charts[c.Name] = c
	}
	body := charts["table-functions"].Body.(plot.Ranking)
	if body.Total != 900*samplerun.MS || len(body.Rows) != 2 || body.Rows[0].Label != "train" || body.Rows[0].NS != 899*samplerun.MS {
		t.Errorf("the bars of functions are %+v", body)
	}
	body = charts["table-operators"].Body.(plot.Ranking)
	if body.Total != 0 || len(body.Rows) != 2 || body.Rows[0].NS != 700*samplerun.MS || !strings.Contains(charts["table-operators"].Subtitle, "may be nested") {
		t.Errorf("the bars of operators are %+v, %q", body, charts["table-operators"].Subtitle)
	}
	body = charts["table-kernels"].Body.(plot.Ranking)
	if body.Rows[1].Color != plot.ColorComm || body.Rows[0].Color != plot.ColorCompute || charts["table-kernels"].Caption != "2 more rows (4.0% of kernel time)." {
		t.Errorf("the bars of kernels are %+v, %q", body, charts["table-kernels"].Caption)
	}
	if charts["table-copies"].Body.(plot.Ranking).Total != 40*samplerun.MS {
		t.Errorf("the bars of copies are of sizes: %+v", charts["table-copies"].Body)
	}
}

// TestTableChartSource: of several inputs the picture says whose table it shows.
func TestTableChartSource(t *testing.T) {
	s := samplerun.Tables()
	draw := table(summary.OfKernel)
	one, ok := draw(s, judge.Result{})
	if !ok || strings.Contains(one.Subtitle, "from") {
		t.Errorf("one input: %v %q", ok, one.Subtitle)
	}
	s.Inputs = []summary.Input{{Path: "/runs/a/base.txt"}, {Path: "/runs/b/other.txt"}}
	if two, _ := draw(s, judge.Result{}); two.Subtitle != one.Subtitle+", from a/base.txt" {
		t.Errorf("two inputs: %q", two.Subtitle)
	}
}
