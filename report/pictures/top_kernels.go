package pictures

import (
	"fmt"

	"assay/internal/label"
	"assay/report/plot"
	"assay/summary"
	"assay/summary/view"
	"assay/unit"
)

func topKernels(s *summary.Summary) (plot.Chart, bool) {
	kernels := view.Kernels(s)
	r := plot.Ranking{Form: label.Kernel}
	for _, k := range kernels {
		r.Total = summary.Plus(r.Total, k.Total)
	}
	present := map[string]bool{}
	rows, shown := ranked(kernels, mostRanks, func(k view.Kernel) plot.RankRow {
		class := k.Class
		if class != "comm" {
			class = "compute"
		}
		present[class] = present[class] || k.Total > 0
		return plot.RankRow{Label: k.Name, Color: classColor(class), NS: k.Total}
	})
	if r.Rows = rows; len(rows) == 0 {
		return plot.Chart{}, false
	}
	c := plot.Chart{
		Title: "Kernels with the most GPU time",
		Subtitle: fmt.Sprintf("total duration and share of kernel time: %s in %s of %s", unit.Duration(r.Total),
			label.Plural(countOf(kernels), "run"), label.Plural(int64(len(kernels)), "kernel")),
		Body: r,
	}
	c.Legend = classLegend(present)
	if rest := len(kernels) - len(r.Rows); rest > 0 {
		c.Caption = fmt.Sprintf("%s (%s of kernel time).", label.Plural(int64(rest), "more kernel"), unit.Share(r.Total-shown, r.Total))
	}
	c.Alt = fmt.Sprintf("Bars of the %d kernels with the most time; the first has %s of it", len(r.Rows), unit.Share(r.Rows[0].NS, r.Total))
	return c, true
}

func countOf(kernels []view.Kernel) (n int64) {
	for _, k := range kernels {
		n = summary.Plus(n, k.Count)
	}
	return n
}
