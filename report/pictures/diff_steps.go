package pictures

import (
	"fmt"

	"assay/compare"
	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/plot"
)

func diffSteps(c *compare.Comparison) (plot.Chart, bool) {
	if c.Per != compare.PerStep || len(c.Base.Walls) < 2 || len(c.New.Walls) < 2 {
		return plot.Chart{}, false
	}
	return plot.Chart{
		Title: "Step times", Subtitle: "every step on every GPU; steps of one run do not show the noise between runs",
		Body: plot.Spreads{Rows: []plot.SpreadRow{
			{Label: fmt.Sprintf("baseline, %s", label.Plural(int64(len(c.Base.Walls)), "step")), Color: plot.ColorSide, NS: c.Base.Walls, Median: c.Base.MedianNS},
			{Label: fmt.Sprintf("new, %s", label.Plural(int64(len(c.New.Walls)), "step")), Color: plot.ColorHost, NS: c.New.Walls, Median: c.New.MedianNS},
		}},
		Alt: fmt.Sprintf("Step times, medians %s and %s", unit.Duration(c.Base.MedianNS), unit.Duration(c.New.MedianNS)),
	}, true
}
