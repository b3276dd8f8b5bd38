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

// launchCount returns a number of launches in words.
func launchCount(n int64) string {
	if n == 1 {
		return "1 launch"
	}
	return unit.Count(n) + " launches"
}

func topKernels(s *summary.Summary) (plot.Chart, bool) {
	kernels := summary.Kernels().By(s.Kernels, "kernel", "class", "category")
	n := view.GPUs(s)
	r := plot.Ranking{Form: label.Kernel, Total: perGPU(kernels.Whole, n)}
	present := map[string]bool{}
	rows, rest := ranked(kernels, mostRanks, n, kernels.Whole, kernels.Of, func(k *row.Row) plot.RankRow {
		class := kernels.Text(k, "class")
		if class != "comm" {
			class = "compute"
		}
		present[class] = true
		return plot.RankRow{Label: kernels.Text(k, "kernel"), Color: classColor(class)}
	})
	if r.Rows = rows; len(rows) == 0 {
		return plot.Chart{}, false
	}
	c := plot.Chart{
		Title: "Top kernels by total kernel time",
		Subtitle: fmt.Sprintf("%% of total kernel time: %s%s; %s%s of %s", unit.Duration(r.Total), ofGPUs(n),
			launchCount(kernels.Sum("launches")), allGPUs(n), label.Plural(int64(len(kernels.Rows)), "kernel")),
		Body:    r,
		Caption: rest,
	}
	c.Legend = classLegend(present)
	c.Alt = fmt.Sprintf("The %d kernels with the most time; the first takes %s of it", len(r.Rows), unit.Share(r.Rows[0].NS, r.Total))
	return c, true
}
