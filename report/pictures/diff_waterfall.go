package pictures

import (
	"fmt"

	"assay/compare"
	"assay/internal/unit"
	"assay/report/plot"
)

func diffWaterfall(c *compare.Comparison) (plot.Chart, bool) {
	w := plot.Waterfall{From: c.Budget.BaseNS, To: c.Budget.NewNS, FromLabel: "baseline", ToLabel: "new"}
	for i, r := range c.Budget.Rows {
		if r.DeltaNS != 0 {
			w.Steps = append(w.Steps, plot.WaterStep{Label: budgetNames()[i], NS: r.DeltaNS, Value: compare.Signed(r.DeltaNS)})
		}
	}
	if len(w.Steps) == 0 {
		return plot.Chart{}, false
	}
	chart := plot.Chart{
		Title: "Change by part, baseline to new", Subtitle: "time " + ofWhole(c), Body: w,
		Legend: []plot.Swatch{{Color: plot.ColorMore, Text: "more time"}, {Color: plot.ColorLess, Text: "less time"}},
		Alt:    fmt.Sprintf("Waterfall from %s to %s", unit.Duration(w.From), unit.Duration(w.To)),
	}
	if low, _ := w.Span(); low > 0 {
		chart.Caption = "The axis does not start at 0."
	}
	return chart, true
}
