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

const mostPhaseBars = 16

// phases draws a bar for each phase. Its length is the GPU time of the phase.
func phases(s *summary.Summary) (plot.Chart, bool) {
	sums := view.Phases(s)
	var total summary.Activity
	shown := 0
	for _, p := range sums {
		total = total.Plus(p.Own)
		if p.Path != "" && p.Total.Window() > 0 {
			shown++
		}
	}
	if shown < 2 {
		return plot.Chart{}, false
	}
	gpus := view.GPUs(s)
	c := plot.Chart{Title: "GPU time breakdown by phase", Legend: budgetLegend(mean(total, max(1, gpus))),
		Subtitle: "GPU time of each phase; nested phases are included and indented"}
	if gpus > 1 {
		c.Subtitle += ofGPUs(gpus)
	}
	bars := plot.Bars{Compare: true}
	left := int64(0)
	for _, p := range sums {
		if p.Total.Window() == 0 {
			continue
		}
		if len(bars.Rows) == mostPhaseBars {
			left++
			continue
		}
		bars.Rows = append(bars.Rows, plot.BarRow{Label: words.Phase(p.Path), Parts: budgetParts(mean(p.Total, max(1, gpus))),
			Note: ", " + unit.Share(p.Total.Window(), total.Window())})
	}
	if left > 0 {
		c.Caption = label.Plural(left, "more phase") + "."
	}
	c.Body = bars
	c.Alt = fmt.Sprintf("GPU time breakdown of %s", label.Plural(int64(len(bars.Rows)), "phase"))
	return c, true
}
