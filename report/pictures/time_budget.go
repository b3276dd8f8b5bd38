package pictures

import (
	"fmt"
	"strings"

	"assay/internal/unit"
	"assay/judge"
	"assay/report/plot"
	"assay/report/words"
	"assay/summary"
	"assay/summary/view"
)

const allBars = 16 // up to this number every GPU has a bar

const mostBars = 15 // bars if there are more GPUs

// barsOf returns how many of n GPUs get a bar.
func barsOf(n int) int {
	if n <= allBars {
		return allBars
	}
	return mostBars
}

// roleLabel returns the label of a GPU with its role, such as "slowest".
func roleLabel(name string, r view.Role) string {
	if word := words.Role(r); word != "" {
		return name + ", " + word
	}
	return name
}

// budgetParts divides a window into parts that sum to it.
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

// timeBudget shows the time breakdown of each GPU, or of those that matter most.
func timeBudget(s *summary.Summary, r judge.Result) (plot.Chart, bool) {
	var total summary.Activity
	part := r.Judged(s)
	for _, a := range part.GPUs {
		total = total.Plus(a)
	}
	if total.Window() == 0 {
		return plot.Chart{}, false
	}
	names := view.DeviceLabels(s)
	c := plot.Chart{Title: "GPU time breakdown", Legend: budgetLegend(mean(total, view.GPUs(s)))}
	c.Subtitle = "% of the window (" + unit.Duration(total.Window()) + ")"
	if n := view.GPUs(s); n > 1 {
		c.Subtitle = fmt.Sprintf("%% of each GPU's window; legend: mean of %s GPUs", unit.Count(int64(n)))
	}
	c.Subtitle = strings.Replace(c.Subtitle, "window", part.Name(), 1)
	if product := view.DeviceNames(s); product != "" {
		c.Subtitle += "; " + product
	}
	choice := choose(s, r, everyDevice(s), barsOf(len(s.Devices)))
	c.Caption = joinSentences(words.Choice(choice, s.Devices), inputCaption(s, choice.Devices))
	var bars plot.Bars
	for _, i := range choice.Devices {
		bars.Rows = append(bars.Rows, plot.BarRow{Label: roleLabel(names[i], choice.Roles[i]), Parts: budgetParts(part.GPUs[i]), Names: []string{"compute", "comm", "copies", "idle"}})
	}
	c.Body = bars
	var alt []string
	for _, sw := range c.Legend {
		alt = append(alt, sw.Text)
	}
	c.Alt = "GPU time breakdown: " + strings.Join(alt, ", ")
	return c, true
}
