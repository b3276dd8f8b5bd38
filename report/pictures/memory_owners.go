package pictures

import (
	"assay/internal/label"
	"assay/report/plot"
	"assay/summary"
)

// memoryOwners stacks what was live by who had allocated it.
func memoryOwners(s *summary.Summary) (plot.Chart, bool) {
	strips := snapshotStrips(s)
	c := plot.Chart{
		Title:    "Who had the memory, over time",
		Subtitle: "live memory by where it was allocated, of those with the most at the peak; each bin shows the moment with the most; time from the first entry",
	}
	return strataChart(c, strips, label.Line)
}
