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

// The colours of a critical path that other pictures do not have.
const (
	colorDelay plot.Color = 0xc9b458
	colorGain  plot.Color = 0xeef3ee
)

// pathParts are the parts of the picture of a critical path: classes that belong together.
var pathParts = []struct {
	name  string
	color plot.Color
	of    func(*summary.PathClasses) int64
}{
	{"CPU", plot.ColorHost, func(c *summary.PathClasses) int64 { return c.HostOp + c.Python + c.HostGap + c.Runtime }},
	{"data loader", plot.ColorDependency, func(c *summary.PathClasses) int64 { return c.DataLoader }},
	{"compute", plot.ColorCompute, func(c *summary.PathClasses) int64 { return c.Compute }},
	{"communication", plot.ColorComm, func(c *summary.PathClasses) int64 { return c.Comm }},
	{"copies", plot.ColorCopy, func(c *summary.PathClasses) int64 { return c.Copy }},
	{"delays", colorDelay, func(c *summary.PathClasses) int64 { return c.LaunchDelay + c.KernelGap + c.SyncReturn }},
	{"not explained", plot.ColorUnknown, func(c *summary.PathClasses) int64 { return c.Unexplained }},
}

// mostPathBars is how many changes the picture of a critical path has.
const mostPathBars = 8

// criticalPath shows the path of the typical step by class, and with each of the changes that pay most.
func criticalPath(s *summary.Summary, r judge.Result) (plot.Chart, bool) {
	p := view.FollowedOf(s)
	if p == nil || r.Unusable() != nil || p.Verdict == summary.Withheld || p.WindowNS <= 0 {
		return plot.Chart{}, false
	}
	parts := func(c *summary.PathClasses) (out []plot.Part) {
		for _, x := range pathParts {
			out = append(out, plot.Part{Color: x.color, NS: x.of(c)})
		}
		return out
	}
	rows := []plot.BarRow{{Label: "measured", Parts: parts(&p.Classes)}}
	seen := parts(&p.Classes)
	first := ""
	options := r.Options(p)
	over, atMost := judge.PassedOver(options), false
	drawn := judge.Drawn(options)
	for _, f := range drawn[:min(mostPathBars, len(drawn))] {
		less := fmt.Sprintf("%+.1f%%", -100*float64(f.Gain())/float64(p.WindowNS))
		if first == "" {
			first = words.Forecast(f.Forecast, 60) + " " + less
		}
		then := parts(f.Classes)
		for i := range then {
			seen[i].NS += then[i].NS
		}
		label := words.Forecast(f.Forecast, 44)
		if f.AtMost {
			label, atMost = "at most: "+label, true
		}
		rows = append(rows, plot.BarRow{Label: label, Parts: append(then, plot.Part{Color: colorGain, NS: f.Gain()}),
			Note: "  " + less + ", " + f.Verdict, Total: *f.ForecastNS})
	}
	c := plot.Chart{
		Title:    "Critical path of " + p.Name() + ", and of the step after single changes",
		Subtitle: "forecasts by replay of the step; each change alone; pale: the time that it gives",
		Body:     plot.Stacks{Rows: rows, Wide: true},
		Caption:  "Verdicts: ok, or warn with reasons in the report.",
	}
	if atMost {
		c.Caption += " At most: an upper bound."
	}
	if over != nil {
		c.Caption += fmt.Sprintf(" No finding says how to make the change %q.", words.Forecast(over.Forecast, 44))
	}
	var shares []string
	for i, x := range pathParts {
		if seen[i].NS == 0 {
			continue
		}
		share := unit.Share(x.of(&p.Classes), p.WindowNS)
		c.Legend = append(c.Legend, plot.Swatch{Color: x.color, Text: x.name + " " + share})
		shares = append(shares, x.name+" "+share)
	}
	c.Alt = "Critical path: " + strings.Join(shares, ", ")
	if first != "" {
		c.Alt += "; the change that pays most: " + first
	}
	return c, true
}
