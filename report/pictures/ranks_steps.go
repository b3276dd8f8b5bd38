package pictures

import (
	"fmt"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/plot"
	"assay/summary"
	"assay/summary/view"
)

// leastHeatSteps is the minimum number of steps for comparing them over ranks.
const leastHeatSteps = 3

// ranksSteps shows by how much a step is longer on a rank than on the median rank, if there is any
// difference.
func ranksSteps(s *summary.Summary) (plot.Chart, bool) {
	devices, places := rankPlaces(s)
	if devices == nil {
		return plot.Chart{}, false
	}
	rows := view.StepsOfRanks(s, devices)
	if len(rows) < leastHeatSteps || view.Apart(rows) <= view.EvenRanks {
		return plot.Chart{}, false
	}
	h := plot.HeatMap{Places: places, Head: "median", Middle: "median of the ranks"}
	for _, r := range rows[:min(mostSteps, len(rows))] {
		h.Rows = append(h.Rows, plot.HeatRow{Label: stepLabel(r.Name, r.Kind, r.Number), Note: unit.Duration(r.Median), Values: relative(r)})
	}
	h.Places.Flags = lateFlags(h)
	c := plot.Chart{
		Title:    "Step time by rank",
		Subtitle: "step time: difference from the median of the ranks, in % of it",
		Body:     h,
		Alt:      fmt.Sprintf("Heat map of the time of %s on %s", label.Plural(int64(len(h.Rows)), "step"), label.Plural(int64(len(devices)), "GPU")),
	}
	if rest := len(rows) - len(h.Rows); rest > 0 {
		c.Caption = fmt.Sprintf("The first %d steps; %s.", len(h.Rows), label.Plural(int64(rest), "more step"))
	}
	return c, true
}
