package timeline

import (
	"testing"

	"assay/summary"
)

// TestOutside: work without an operator is that of graphs if these do at least 90% of it.
func TestOutside(t *testing.T) {
	captured := []summary.EfficiencyRow{{Op: "aten::mm"}, {Op: "aten::addmm", From: summary.FromCapture}}
	for _, tc := range []struct {
		replays []int64
		rows    []summary.EfficiencyRow
		want    string
	}{
		{[]int64{400, 500}, nil, "graph replays"},
		{[]int64{400, 500}, captured, "graph replays, see Efficiency"},
		{[]int64{899}, captured, "no operator"},
		{[]int64{1000}, captured[:1], "graph replays"},
		{nil, nil, "no operator"},
	} {
		s := &summary.Summary{Efficiency: summary.Efficiency{Rows: tc.rows}}
		for _, ns := range tc.replays {
			s.Graphs = append(s.Graphs, summary.Graph{WorkNS: ns})
		}
		if got := outside(s, 1000); got != tc.want {
			t.Errorf("%v: %q, want %q", tc.replays, got, tc.want)
		}
	}
}
