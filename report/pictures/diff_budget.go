package pictures

import (
	"fmt"

	"assay/compare"
	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/plot"
)

// ofWhole returns the text that names the basis of a picture's times.
func ofWhole(c *compare.Comparison) string {
	if c.Per == compare.PerStep {
		return "per step and GPU, mean over " + unit.Count(c.Base.Parts) + " and " + label.Plural(c.New.Parts, "step")
	}
	return "per window and GPU"
}

func diffBudget(c *compare.Comparison) (plot.Chart, bool) {
	colors := []plot.Color{plot.ColorCompute, plot.ColorComm, plot.ColorCopy, plot.ColorIdle}
	chart := plot.Chart{Title: "GPU time breakdown, baseline and new", Subtitle: "time " + ofWhole(c)}
	base, new := plot.BarRow{Label: "baseline"}, plot.BarRow{Label: "new"}
	for i, r := range c.Budget.Rows {
		chart.Legend = append(chart.Legend, plot.Swatch{Color: colors[i], Text: fmt.Sprintf("%s %s", budgetNames()[i], compare.Signed(r.DeltaNS))})
		base.Parts, new.Parts = append(base.Parts, plot.Part{Color: colors[i], NS: r.BaseNS}), append(new.Parts, plot.Part{Color: colors[i], NS: r.NewNS})
	}
	new.Note = " (" + compare.SignedShare(c.Budget.DeltaNS, c.Budget.BaseNS) + ")"
	chart.Body = plot.Stacks{Rows: []plot.BarRow{base, new}}
	chart.Alt = fmt.Sprintf("GPU time breakdown: baseline %s, new %s", unit.Duration(c.Budget.BaseNS), unit.Duration(c.Budget.NewNS))
	return chart, true
}
