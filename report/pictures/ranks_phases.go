package pictures

import (
	"fmt"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/plot"
	"assay/report/words"
	"assay/summary"
	"assay/summary/view"
)

// mostHeatPhases is the largest number of phases of a heat map.
const mostHeatPhases = 24

// ranksPhases shows by how much a phase is longer on a rank than on the median rank. If all ranks are equal
// there is no picture, because the report has a sentence instead.
func ranksPhases(s *summary.Summary) (plot.Chart, bool) {
	devices, places := rankPlaces(s)
	if devices == nil {
		return plot.Chart{}, false
	}
	rows, onGPU := view.PhasesOfRanks(s, devices)
	if len(rows) == 0 || view.Apart(rows) <= view.EvenRanks {
		return plot.Chart{}, false
	}
	h := plot.HeatMap{Places: places, Head: "median", Middle: "median of the ranks"}
	for _, r := range rows[:min(mostHeatPhases, len(rows))] {
		h.Rows = append(h.Rows, plot.HeatRow{Label: words.Phase(r.Name), Note: unit.Duration(r.Median), Values: relative(r)})
	}
	h.Places.Flags = lateFlags(h)
	c := plot.Chart{
		Title:    "Phases by rank",
		Subtitle: "GPU time of one run of the phase: difference from the median of the ranks, in % of it; nested phases are included and indented",
		Body:     h,
		Alt:      fmt.Sprintf("Heat map of %s on %s", label.Plural(int64(len(h.Rows)), "phase"), label.Plural(int64(len(devices)), "GPU")),
	}
	if !onGPU {
		c.Subtitle = "median run of the phase on the CPU: difference from the median of the ranks, in % of it; nested phases are indented"
	}
	if rest := len(rows) - len(h.Rows); rest > 0 {
		c.Caption = label.Plural(int64(rest), "more phase") + "."
	}
	return c, true
}
