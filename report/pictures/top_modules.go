package pictures

import (
	"assay/report/plot"
	"assay/summary"
	"assay/summary/view"
)

// topModules ranks modules by self GPU time. It replaces topOperators if no operators are
// known.
func topModules(s *summary.Summary) (plot.Chart, bool) {
	if view.HasGPUTime(view.Ops(s)) {
		return plot.Chart{}, false
	}
	return launcherChart(view.Modules(s), view.GPUWork(s), "module", len(s.Devices))
}
