package pictures

import (
	"fmt"

	"assay/internal/label"
	"assay/report/plot"
	"assay/summary"
	"assay/summary/view"
	"assay/unit"
)

// topOperators ranks operators by the GPU time of their own.
func topOperators(s *summary.Summary) (plot.Chart, bool) {
	return launcherChart(view.Ops(s), view.GPUWork(s), "operator")
}

func launcherChart(list []view.Launcher, work int64, noun string) (plot.Chart, bool) {
	self := view.SelfTime(list)
	rows, shown := ranked(list, mostRanks, func(l view.Launcher) plot.RankRow {
		return plot.RankRow{Label: l.Name, Color: plot.ColorWork, NS: l.Self}
	})
	if len(rows) == 0 {
		return plot.Chart{}, false
	}
	r := plot.Ranking{Total: max(work, self), Form: label.Plain, Rows: rows}
	c := plot.Chart{
		Title: fmt.Sprintf("%ss with the most GPU time", string(noun[0]-'a'+'A')+noun[1:]),
		Subtitle: fmt.Sprintf("GPU time of the work that each launched itself, and its share of %s, the sum of the durations of all kernels, copies and memsets",
			unit.Duration(r.Total)),
		Body: r,
		Alt:  fmt.Sprintf("Bars of the %d %ss with the most GPU time; the first has %s of it", len(r.Rows), noun, unit.Share(r.Rows[0].NS, r.Total)),
	}
	if rest := countSelf(list) - len(r.Rows); rest > 0 {
		c.Caption = fmt.Sprintf("%s (%s of GPU work).", label.Plural(int64(rest), "more "+noun), unit.Share(max(0, self-shown), r.Total))
	}
	if other := r.Total - self; other > 0 {
		c.Caption = joinSentences(c.Caption, fmt.Sprintf("%s of GPU work is of no %s, or it is not known which.", unit.Share(other, r.Total), noun))
	}
	return c, true
}

// countSelf returns how many of the launchers have GPU time of their own.
func countSelf(list []view.Launcher) (n int) {
	for _, l := range list {
		if l.Self > 0 {
			n++
		}
	}
	return n
}
