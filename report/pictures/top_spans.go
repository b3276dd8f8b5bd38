package pictures

import (
	"fmt"
	"slices"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/plot"
	"assay/summary"
	"assay/summary/row"
)

func topSpans(s *summary.Summary) (plot.Chart, bool) {
	if len(s.Devices) > 0 {
		return plot.Chart{}, false
	}
	spans := summary.Spans().By(slices.DeleteFunc(slices.Clone(s.Spans), func(sp summary.Span) bool { return sp.Async }), "slice", "category")
	self := spans.Whole
	rows, rest := ranked(spans, mostRanks, 1, self, spans.Of, func(sp *row.Row) plot.RankRow {
		return plot.RankRow{Label: spans.Text(sp, "slice"), Color: plot.ColorHost}
	})
	if len(rows) == 0 {
		return plot.Chart{}, false
	}
	r := plot.Ranking{Total: self, Form: label.Plain, Rows: rows}
	c := plot.Chart{
		Title:    "Top CPU slices by self time",
		Subtitle: fmt.Sprintf("%% of the self time of all threads (%s)", unit.Duration(self)),
		Body:     r,
		Caption:  rest,
		Alt:      fmt.Sprintf("The %d CPU slices with the most self time; the first takes %s of it", len(r.Rows), unit.Share(r.Rows[0].NS, self)),
	}
	return c, true
}
