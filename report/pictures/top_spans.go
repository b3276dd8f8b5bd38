package pictures

import (
	"fmt"

	"assay/internal/label"
	"assay/report/plot"
	"assay/summary"
	"assay/summary/view"
	"assay/unit"
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
		Title:    "Host spans with the most self time",
		Subtitle: fmt.Sprintf("self time and its share of %s, the self time of all spans on all threads", unit.Duration(self)),
		Body:     r,
		Alt:      fmt.Sprintf("Bars of the %d host spans with the most self time; the first has %s of it", len(r.Rows), unit.Share(r.Rows[0].NS, self)),
	}
	if rest := len(spans) - len(r.Rows); rest > 0 {
		c.Caption = fmt.Sprintf("%s (%s of self time).", label.Plural(int64(rest), "more host span"), unit.Share(self-shown, self))
	}
	return c, true
}
