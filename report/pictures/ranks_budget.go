package pictures

import (
	"fmt"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/judge"
	"assay/report/plot"
	"assay/summary"
	"assay/summary/view"
)

// ranksBudget shows the time breakdown of each rank, in rank order.
func ranksBudget(s *summary.Summary, r judge.Result) (plot.Chart, bool) {
	devices, places := rankPlaces(s)
	if devices == nil {
		return plot.Chart{}, false
	}
	var total summary.Activity
	judged := r.Judged(s).GPUs
	columns := make([][]plot.Part, len(devices))
	for i, at := range devices {
		a := judged[at]
		total = total.Plus(a)
		columns[i] = budgetParts(a)
	}
	if total.Window() == 0 {
		return plot.Chart{}, false
	}
	pace := view.PaceOf(s, devices)
	places.Flags = paceFlags(pace, places)
	return plot.Chart{
		Title:    "GPU time breakdown by rank",
		Subtitle: fmt.Sprintf("time of each GPU's window; legend: mean of %s GPUs", unit.Count(int64(len(devices)))),
		Legend:   budgetLegend(mean(total, len(devices))),
		Caption:  paceCaption(pace),
		Body:     plot.Panels{Places: places, Panels: []plot.Panel{{Title: "GPU window", Columns: columns}}},
		Alt:      fmt.Sprintf("GPU time breakdown of %s in rank order", label.Plural(int64(len(devices)), "GPU")),
	}, true
}

// mean divides the cells by n.
func mean(a summary.Activity, n int) summary.Activity {
	for i := range a {
		a[i] /= int64(n)
	}
	return a
}
