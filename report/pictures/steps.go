package pictures

import (
	"fmt"
	"strconv"
	"strings"

	"assay/internal/label"
	"assay/report/plot"
	"assay/summary"
	"assay/summary/view"
)

const mostSteps = 240

// stepLabel shortens "ProfilerStep#12" to "step 12", and the names of batches to
// "decode 12".
func stepLabel(name, kind string, number int64) string {
	if kind != "" {
		return fmt.Sprintf("%s %d", label.Clip(label.Clean(kind), 14), number)
	}
	digits := strconv.FormatInt(number, 10)
	switch {
	case strings.HasSuffix(name, "#"+digits), !strings.Contains(name, digits) && len(name) > 12:
		return "step " + digits
	case !strings.Contains(name, digits):
		return label.Clip(label.Clean(name), 14) + " " + digits // all steps have the same name
	}
	return label.Clip(label.Clean(name), 20)
}

func steps(s *summary.Summary) (plot.Chart, bool) {
	steps := view.Steps(s)
	var total summary.Activity
	var windows int64
	for _, st := range steps {
		total = total.Plus(st.Activity)
		windows += st.Windows
	}
	if len(steps) < 2 || total.Window() == 0 {
		return plot.Chart{}, false
	}
	c := plot.Chart{Title: "GPU time breakdown by step", Legend: budgetLegend(mean(total, int(max(1, windows))))}
	c.Subtitle = "step time; legend: mean of the steps"
	if windows > int64(len(steps)) {
		c.Subtitle = "step time, mean over the GPUs; legend: mean of the steps and GPUs"
	}
	var columns plot.Columns
	for _, st := range steps[:min(mostSteps, len(steps))] {
		columns.Bars = append(columns.Bars, plot.ColumnBar{Label: stepLabel(st.Name, st.Kind, st.Number), Parts: budgetParts(st.Activity), Of: st.Windows})
	}
	if rest := len(steps) - len(columns.Bars); rest > 0 {
		c.Caption = fmt.Sprintf("The first %d steps; %s.", len(columns.Bars), label.Plural(int64(rest), "more step"))
	}
	c.Body = columns
	c.Alt = fmt.Sprintf("GPU time breakdown of %s", label.Plural(int64(len(columns.Bars)), "step"))
	return c, true
}
