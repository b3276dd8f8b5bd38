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

const allBars = 16 // devices, all of which get a bar

const mostBars = 15 // devices that get one if there are more

// budgetParts cuts a window into parts that sum to it.
func budgetParts(a summary.Activity) []plot.Part {
	return []plot.Part{
		{Color: plot.ColorCompute, NS: a.Compute()}, {Color: plot.ColorComm, NS: a.ExposedComm()}, {Color: plot.ColorCopy, NS: a.ExposedCopy()}, {Color: plot.ColorIdle, NS: a.Idle()},
	}
}

func budgetNames() []string {
	return []string{"compute", "exposed communication", "exposed copies", "idle"}
}

// budgetLegend names the parts with their times in a.
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
	c := plot.Chart{Title: "Where the GPU time went", Legend: budgetLegend(total)}
	c.Subtitle = "share of the window of " + unit.Duration(total.Window())
	if n := len(s.Devices); n > 1 {
		c.Subtitle = fmt.Sprintf("share of each device's window; the windows of the %d devices sum to %s", n, unit.Duration(total.Window()))
	}
	if product := view.DeviceNames(s); product != "" {
		c.Subtitle += "; " + product
	}
	shown := view.Worst(s, len(s.Devices))
	if len(shown) > allBars {
		shown = view.Worst(s, mostBars)
		c.Caption = fmt.Sprintf("The %d devices with the largest share of idle time; %s. The legend sums all.",
			len(shown), label.Plural(int64(len(s.Devices)-len(shown)), "more device"))
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
	c.Alt = "Time budget: " + strings.Join(alt, ", ")
	return c, true
}
