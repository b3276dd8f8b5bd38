package pictures

import (
	"assay/report/plot"
	"assay/summary"
	"assay/summary/view"
)

// topModules stands in for operators where none are known.
func topModules(s *summary.Summary) (plot.Chart, bool) {
	if view.HasGPUTime(view.Ops(s)) {
		return plot.Chart{}, false
	}
	return launcherChart(view.Modules(s), view.GPUWork(s), "module")
}
