package pictures

import (
	"fmt"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/plot"
	"assay/summary"
	"assay/summary/view"
)

func topSpans(s *summary.Summary) (plot.Chart, bool) {
	if len(s.Devices) > 0 {
		return plot.Chart{}, false
	}
	spans, self := view.Spans(s)
	rows, shown := ranked(spans, mostRanks, func(sp view.Span) plot.RankRow {
		return plot.RankRow{Label: sp.Name, Color: plot.ColorHost, NS: sp.Self}
	})
	if len(rows) == 0 {
		return plot.Chart{}, false
	}
	r := plot.Ranking{Total: self, Form: label.Plain, Rows: rows}
	c := plot.Chart{
		Title:    "Top CPU slices by self time",
		Subtitle: fmt.Sprintf("%% of the self time of all threads (%s)", unit.Duration(self)),
		Body:     r,
		Alt:      fmt.Sprintf("The %d CPU slices with the most self time; the first takes %s of it", len(r.Rows), unit.Share(r.Rows[0].NS, self)),
	}
	if rest := len(spans) - len(r.Rows); rest > 0 {
		c.Caption = fmt.Sprintf("%s (%s of self time).", label.Plural(int64(rest), "more slice"), unit.Share(self-shown, self))
	}
	return c, true
}
