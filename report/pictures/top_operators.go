package pictures

import (
	"fmt"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/plot"
	"assay/summary"
	"assay/summary/row"
	"assay/summary/view"
)

// topOperators ranks operators by self GPU time.
func topOperators(s *summary.Summary) (plot.Chart, bool) {
	return launcherChart(summary.Ops().By(s.Ops, "operator"), view.GPUWork(s), view.GPUs(s))
}

func launcherChart(t *row.Table, work int64, gpus int) (plot.Chart, bool) {
	self, noun := t.Whole, t.Noun
	total := max(work, self)
	rows, rest := ranked(t, mostRanks, gpus, total, t.Of, func(l *row.Row) plot.RankRow {
		return plot.RankRow{Label: t.Text(l, noun), Color: plot.ColorWork}
	})
	if len(rows) == 0 {
		return plot.Chart{}, false
	}
	r := plot.Ranking{Total: perGPU(total, gpus), Form: label.Plain, Rows: rows}
	c := plot.Chart{
		Title:    fmt.Sprintf("Top %ss by self GPU time", noun),
		Subtitle: fmt.Sprintf("%% of total GPU time (%s%s)", unit.Duration(r.Total), ofGPUs(gpus)),
		Body:     r,
		Caption:  rest,
		Alt:      fmt.Sprintf("The %d %ss with the most self GPU time; the first takes %s of it", len(r.Rows), noun, unit.Share(r.Rows[0].NS, r.Total)),
	}
	if other := total - self; other > 0 {
		c.Caption = joinSentences(c.Caption, fmt.Sprintf("%s of total GPU time has no known %s.", unit.Share(other, total), noun))
	}
	return c, true
}
