package pictures

import (
	"fmt"
	"strings"

	"assay/internal/label"
	"assay/report/plot"
	"assay/summary"
	"assay/summary/view"
	"assay/unit"
)

const allBars = 16 // up to this number every GPU has a bar

const mostBars = 15 // bars if there are more GPUs

// budgetParts splits a window into parts that sum to it.
func budgetParts(a summary.Activity) []plot.Part {
	return []plot.Part{
		{Color: plot.ColorCompute, NS: a.Compute()}, {Color: plot.ColorComm, NS: a.ExposedComm()}, {Color: plot.ColorCopy, NS: a.ExposedCopy()}, {Color: plot.ColorIdle, NS: a.Idle()},
	}
}

func budgetNames() []string {
	return []string{"compute", "exposed communication", "exposed copies", "idle"}
}

// budgetLegend returns the legend of the parts with their times.
func budgetLegend(a summary.Activity) []plot.Swatch {
	var legend []plot.Swatch
	for i, p := range budgetParts(a) {
		legend = append(legend, plot.Swatch{Color: p.Color, Text: fmt.Sprintf("%s %s (%s)", budgetNames()[i], unit.Duration(p.NS), unit.Share(p.NS, a.Window()))})
	}
	return legend
}

func timeBudget(s *summary.Summary) (plot.Chart, bool) {
	var total summary.Activity
	for _, d := range s.Devices {
		total = total.Plus(d.Activity)
	}
	if total.Window() == 0 {
		return plot.Chart{}, false
	}
	names := view.DeviceLabels(s)
	c := plot.Chart{Title: "GPU time breakdown", Legend: budgetLegend(total)}
	c.Subtitle = "% of the window (" + unit.Duration(total.Window()) + ")"
	if n := len(s.Devices); n > 1 {
		c.Subtitle = fmt.Sprintf("%% of each GPU's window; legend: sum over %d GPUs", n)
	}
	if product := view.DeviceNames(s); product != "" {
		c.Subtitle += "; " + product
	}
	shown := view.Worst(s, len(s.Devices))
	if len(shown) > allBars {
		shown = view.Worst(s, mostBars)
		c.Caption = fmt.Sprintf("The %d GPUs with the most idle time; %s.",
			len(shown), label.Plural(int64(len(s.Devices)-len(shown)), "more GPU"))
	}
	c.Caption = joinSentences(c.Caption, inputCaption(s, shown))
	var bars plot.Bars
	for _, i := range shown {
		bars.Rows = append(bars.Rows, plot.BarRow{Label: names[i], Parts: budgetParts(s.Devices[i].Activity), Names: []string{"compute", "comm", "copies", "idle"}})
	}
	c.Body = bars
	var alt []string
	for _, sw := range c.Legend {
		alt = append(alt, sw.Text)
	}
	c.Alt = "GPU time breakdown: " + strings.Join(alt, ", ")
	return c, true
}
