package show_test

import (
	"strings"
	"testing"

	"assay/report/doc"
	"assay/report/show"
	"assay/summary"
	"assay/summary/row"
)

// kernels are of two ranks and two operators; a name has a control character.
var kernels = []summary.Kernel{
	{Name: "gemm", Category: "gemm", Op: "aten::mm", Stream: 7, Count: 20, TotalNS: 4e6, MinNS: 1e5, MaxNS: 3e5},
	{Name: "add\x1b[1m", Category: "elementwise", Op: "aten::add", Stream: 7, Count: 2000, TotalNS: 6e6, MinNS: 2e3, MaxNS: 5e3},
	{Name: "add\x1b[1m", Category: "elementwise", Op: "aten::add_", Stream: 20, Rank: 1, Count: 1000, TotalNS: 2e6, MinNS: 1e3, MaxNS: 6e3},
}

func text(t doc.Table) string {
	var lines []string
	line := func(cells []string) { lines = append(lines, strings.Join(cells, " | ")) }
	var head []string
	for _, c := range t.Columns {
		head = append(head, c.Title)
	}
	line(head)
	for _, r := range t.Rows {
		line(r.Cells)
	}
	return strings.Join(lines, "\n")
}

// TestView: one description, several tables; all times that share a unit are in that of the longest.
func TestView(t *testing.T) {
	for _, tc := range []struct {
		view show.View
		keys []string
		want string
	}{
		{show.View{Columns: "kernel;%;total;launches;mean;min;max;streams=stream;launched by"}, []string{"kernel", "category"},
			"kernel | % | total (ms) | launches | mean (µs) | min (µs) | max (µs) | streams | launched by\n" +
				"add\x1b[1m | 66.7% | 8.000 | 3,000 | 2.67 | 1.00 | 6.00 | 7, 20 | aten::add (75.0%)\n" +
				"gemm | 33.3% | 4.000 | 20 | 200.00 | 100.00 | 300.00 | 7 | aten::mm"},
		{show.View{Columns: "rank;%;kernels=#kernel;rows=#;total", Per: 2}, []string{"rank"},
			"rank | % | kernels | rows | total (ms)\n0 | 83.3% | 2 | 2 | 5.000\n1 | 16.7% | 1 | 1 | 1.000"},
		{show.View{Columns: "category;max share=%max;first", Most: 1, Whole: 12e3, Of: "x", Cells: map[string]show.Cell{
			"first": {Text: func(r *row.Row) string { return kernels[r.Of[0]].Op }},
		}}, []string{"category"}, "category | max share | first\nelementwise | 50.0% | aten::add"},
	} {
		table := tc.view.Table(summary.Kernels().By(kernels, tc.keys...))
		if got := text(table); got != tc.want {
			t.Errorf("%s:\n%s\nwant\n%s", tc.view.Columns, got, tc.want)
		}
		if tc.view.Most > 0 && (table.More != doc.Rest{Rows: 1, Weight: 4e6, Total: 12e3, Of: "x"}) {
			t.Errorf("%s: the rest is %+v", tc.view.Columns, table.More)
		}
	}
}
