package pictures

import (
	"fmt"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/plot"
	"assay/summary"
	"assay/summary/view"
)

// launchCount returns a number of launches in words.
func launchCount(n int64) string {
	if n == 1 {
		return "1 launch"
	}
	return unit.Count(n) + " launches"
}

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
	all, n := r.Total, len(s.Devices)
	r.Total = perGPU(all, n)
	barsPerGPU(r.Rows, n)
	c := plot.Chart{
		Title: "Top kernels by total kernel time",
		Subtitle: fmt.Sprintf("%% of total kernel time: %s%s; %s%s of %s", unit.Duration(r.Total), ofGPUs(n),
			launchCount(countOf(kernels)), allGPUs(n), label.Plural(int64(len(kernels)), "kernel")),
		Body: r,
	}
	c.Legend = classLegend(present)
	if rest := len(kernels) - len(r.Rows); rest > 0 {
		c.Caption = fmt.Sprintf("%s (%s of total kernel time).", label.Plural(int64(rest), "more kernel"), unit.Share(all-shown, all))
	}
	c.Alt = fmt.Sprintf("The %d kernels with the most time; the first takes %s of it", len(r.Rows), unit.Share(r.Rows[0].NS, r.Total))
	return c, true
}

func countOf(kernels []view.Kernel) (n int64) {
	for _, k := range kernels {
		n = summary.Plus(n, k.Count)
	}
	return n
}
