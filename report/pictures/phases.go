package pictures

import (
	"fmt"

	"assay/internal/label"
	"assay/report/plot"
	"assay/summary"
	"assay/summary/view"
	"assay/unit"
)

const mostPhaseBars = 16

// phases draws the outermost phases and those within them as bars of the
// length that they have.
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
	c := plot.Chart{Title: "Where the time of each phase went", Legend: budgetLegend(total),
		Subtitle: "time of the devices in each phase; what is within a phase is part of it and follows set in"}
	if len(s.Devices) > 1 {
		c.Subtitle += fmt.Sprintf("; %s added up", label.Plural(int64(len(s.Devices)), "device"))
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
		bars.Rows = append(bars.Rows, plot.BarRow{Label: p.Label(), Parts: budgetParts(p.Total),
			Note: ", " + unit.Share(p.Total.Window(), total.Window())})
	}
	if left > 0 {
		c.Caption = label.Plural(left, "more phase") + "."
	}
	c.Body = bars
	c.Alt = fmt.Sprintf("Bars of the time budgets of %s", label.Plural(int64(len(bars.Rows)), "phase"))
	return c, true
}
