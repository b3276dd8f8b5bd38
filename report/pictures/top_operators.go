package pictures

import (
	"fmt"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/plot"
	"assay/summary"
	"assay/summary/view"
)

// topOperators ranks operators by self GPU time.
func topOperators(s *summary.Summary) (plot.Chart, bool) {
	return launcherChart(view.Ops(s), view.GPUWork(s), "operator", len(s.Devices))
}

func launcherChart(list []view.Launcher, work int64, noun string, gpus int) (plot.Chart, bool) {
	self := view.SelfTime(list)
	rows, shown := ranked(list, mostRanks, func(l view.Launcher) plot.RankRow {
		return plot.RankRow{Label: l.Name, Color: plot.ColorWork, NS: l.Self}
	})
	if len(rows) == 0 {
		return plot.Chart{}, false
	}
	total := max(work, self)
	r := plot.Ranking{Total: perGPU(total, gpus), Form: label.Plain, Rows: rows}
	barsPerGPU(r.Rows, gpus)
	c := plot.Chart{
		Title:    fmt.Sprintf("Top %ss by self GPU time", noun),
		Subtitle: fmt.Sprintf("%% of total GPU time (%s%s)", unit.Duration(r.Total), ofGPUs(gpus)),
		Body:     r,
		Alt:      fmt.Sprintf("The %d %ss with the most self GPU time; the first takes %s of it", len(r.Rows), noun, unit.Share(r.Rows[0].NS, r.Total)),
	}
	if rest := countSelf(list) - len(r.Rows); rest > 0 {
		c.Caption = fmt.Sprintf("%s (%s of total GPU time).", label.Plural(int64(rest), "more "+noun), unit.Share(max(0, self-shown), total))
	}
	if other := total - self; other > 0 {
		c.Caption = joinSentences(c.Caption, fmt.Sprintf("%s of total GPU time has no known %s.", unit.Share(other, total), noun))
	}
	return c, true
}

// countSelf returns how many launchers have self GPU time.
func countSelf(list []view.Launcher) (n int) {
	for _, l := range list {
		if l.Self > 0 {
			n++
		}
	}
	return n
}
