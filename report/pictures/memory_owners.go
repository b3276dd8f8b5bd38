package pictures

import (
	"assay/internal/label"
	"assay/report/plot"
	"assay/summary"
)

// memoryOwners stacks allocated memory by allocation site.
func memoryOwners(s *summary.Summary) (plot.Chart, bool) {
	strips := snapshotStrips(s)
	c := plot.Chart{
		Title:    "Memory by allocation site over time",
		Subtitle: "allocated memory, sites with the most at the peak; each bin shows its maximum; time from the first entry",
	}
	return strataChart(c, strips, label.Line)
}
