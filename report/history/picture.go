package history

import (
	"fmt"
	"math"
	"slices"

	"assay/compare/history"
	"assay/gate/metric"
	"assay/internal/label"
	"assay/report/plot"
)

const (
	pictureName  = "history"
	mostPanels   = 6
	panelTicks   = 4
	runTicks     = 10
	axisRoom     = 0.08 // above and below the values, of their range
	leastVaried  = 0.01 // of the value, for a metric that did not change
	leastOfValue = 0.04 // of the range that an axis shows, of the values: noise of 1% is no mountain
)

// Files returns the files that a history may have, besides its report.
func Files() []string {
	c := plot.Chart{Name: pictureName}
	return []string{c.File(), c.SVGFile()}
}

// picture draws the metrics over the runs: those that changed, else the first.
func picture(h *history.History) (plot.Chart, bool) {
	shown := panels(h)
	if len(shown) == 0 {
		return plot.Chart{}, false
	}
	var body plot.Titled
	for _, m := range shown {
		body = append(body, plot.TitledBody{Title: m.Metric, Body: panel(h, m)})
	}
	c := plot.Chart{Name: pictureName, Title: "Metrics over runs", Subtitle: "each point is a run, in the order of their " + h.OrderedBy, Body: body,
		Legend: []plot.Swatch{{Color: plot.ColorCompute, Text: "run"}, {Color: plot.ColorHost, Text: "level (median)"},
			{Color: plot.ColorIdle, Text: "place of a change, 95%"}},
		Alt: fmt.Sprintf("%s over %s", label.Plural(int64(len(shown)), "metric"), label.Plural(int64(len(h.Runs)), "run"))}
	if n := len(h.Metrics) - len(shown); n > 0 {
		c.Caption = label.Plural(int64(n), "more metric") + " in the table."
	}
	return c, true
}

// panels returns the metrics that are drawn.
func panels(h *history.History) (out []*history.Metric) {
	for i := range h.Metrics {
		if len(h.Metrics[i].Levels) > 1 {
			out = append(out, &h.Metrics[i])
		}
	}
	for i := range h.Metrics {
		if m := &h.Metrics[i]; len(m.Levels) == 1 && m.Levels[0].High-m.Levels[0].Low > leastVaried*math.Abs(m.Levels[0].High) {
			out = append(out, m)
		}
	}
	return out[:min(mostPanels, len(out))]
}

func panel(h *history.History, m *history.Metric) plot.Scatter {
	s := plot.Scatter{Low: true, X: runAxis(h)}
	low, high := math.Inf(1), math.Inf(-1)
	for i, v := range m.Values {
		if v == nil {
			continue
		}
		low, high = min(low, *v), max(high, *v)
		s.Dots = append(s.Dots, plot.Dot{X: float64(i), Y: *v, Radius: 4, Color: plot.ColorCompute,
			Key: fmt.Sprintf("%s: %s", label.Clip(label.Clean(h.Runs[i].Name), 40), m.Of.Text(*v))})
	}
	s.Y = valueAxis(m.Of, low, high)
	for _, c := range h.Changes {
		if slices.ContainsFunc(c.Metrics, func(x history.Move) bool { return x.Metric == m.Metric }) {
			x0, x1 := float64(c.First)-0.5, float64(c.Last)-0.5
			if c.First == c.Last {
				x0, x1 = x0-0.1, x1+0.1
			}
			s.Regions = append(s.Regions, plot.Region{Corners: [][2]float64{{x0, s.Y.From}, {x1, s.Y.From}, {x1, s.Y.To}, {x0, s.Y.To}},
				Color: plot.ColorIdle, Label: " ", At: [2]float64{x0, s.Y.To}})
		}
	}
	for _, l := range m.Levels {
		s.Curves = append(s.Curves, plot.Curve{Color: plot.ColorHost,
			Points: [][2]float64{{float64(l.First) - 0.4, l.Median}, {float64(l.Last) + 0.4, l.Median}}, Label: m.Of.Text(l.Median)})
	}
	return s
}

func runAxis(h *history.History) plot.Axis {
	n := len(h.Runs)
	a := plot.Axis{From: -0.5, To: float64(n) - 0.5}
	step := (n + runTicks - 1) / runTicks
	for i := 0; i < n; i += step {
		a.Ticks = append(a.Ticks, plot.Tick{At: float64(i), Text: label.Clip(label.Clean(h.Runs[i].Name), 11)})
	}
	return a
}

// valueAxis is around the values, with round ticks.
func valueAxis(of metric.Unit, low, high float64) plot.Axis {
	span := max(high-low, leastOfValue*max(math.Abs(high), math.Abs(low)))
	if span == 0 {
		span = 1
	}
	middle := (low + high) / 2
	a := plot.Axis{From: middle - span*(0.5+axisRoom), To: middle + span*(0.5+axisRoom)}
	if low >= 0 {
		a.From = max(0, a.From)
	}
	if of == metric.Share && high <= 1 {
		a.To = min(1.002, a.To)
	}
	step := math.Pow(10, math.Floor(math.Log10(span/panelTicks)))
	for _, k := range []float64{1, 2, 5, 10} {
		if span/(step*k) <= panelTicks {
			step *= k
			break
		}
	}
	for v := math.Ceil(a.From/step) * step; v <= a.To; v += step {
		a.Ticks = append(a.Ticks, plot.Tick{At: v, Text: of.Text(v)})
	}
	return a
}
