package pictures

import (
	"assay/report/plot"
	"assay/summary"
	"assay/summary/view"
)

// topModules ranks modules by self GPU time. It replaces topOperators if no operators are
// known.
func topModules(s *summary.Summary) (plot.Chart, bool) {
	if view.HasGPUTime(summary.Ops().By(s.Ops, "operator")) {
		return plot.Chart{}, false
	}
	return launcherChart(summary.Modules().By(s.Modules, "module"), view.GPUWork(s), view.GPUs(s))
}
