package logs

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/plot"
	"assay/summary"
	"assay/summary/view"
)

// Helpers that the pictures of values over time share.

// mostLines is the largest number of places (GPUs, ranks, replicas) with a curve.
const mostLines = 8

// fewestPoints is the minimum number of values for a curve.
const fewestPoints = 5

// mostBands is the maximum number of curves in a panel for which ranges are drawn.
const mostBands = 2

// A lineMetric is a metric with the title of its panel.
type lineMetric struct{ name, title string }

// lineColors are the colours of places, a different one for each.
func lineColors() []plot.Color {
	return []plot.Color{plot.ColorCompute, plot.ColorComm, plot.ColorHost, plot.ColorMemset, plot.ColorCopy, plot.ColorDependency, plot.ColorWork, plot.ColorUnknown}
}

// linesOf draws the metrics of the program that logged most of them: a panel for each metric and a curve
// for each place, all on one time axis.
func linesOf(s *summary.Summary, metrics []lineMetric, noun string) (plot.Chart, bool) {
	rows := drawableSeries(s, metrics)
	if len(rows) == 0 {
		return plot.Chart{}, false
	}
	var places []string
	for _, r := range rows {
		if place := r.LabelText(); !slices.Contains(places, place) {
			places = append(places, place)
		}
	}
	all := len(places)
	places = places[:min(mostLines, all)]
	body := plot.Lines{}
	from, to := int64(math.MaxInt64), int64(math.MinInt64)
	for _, m := range metrics {
		p, drawn := linePanel(m, rows, places)
		if len(p.Lines) == 0 {
			continue
		}
		body.Panels = append(body.Panels, p)
		for _, r := range drawn {
			from, to = min(from, r.Strip.X[0]), max(to, r.Strip.X[len(r.Strip.X)-1])
		}
	}
	body.X = plot.Axis{Title: axisOf(rows[0].Strip), From: float64(from), To: float64(max(to, from+1)), Ticks: plot.CountTicks(from, to, mostStepTicks)}
	if rows[0].Strip.By == "time" {
		body.X.Ticks = plot.TimeTicks(from, to, mostStepTicks)
	}
	c := plot.Chart{Subtitle: "logged by " + label.Clip(label.Clean(rows[0].Producer), 40), Body: body}
	if rows[0].Strip.By == "time" {
		c.Subtitle += "; time from the start of the log"
	}
	for i, place := range places {
		if len(places) > 1 || place != "" {
			c.Legend = append(c.Legend, plot.Swatch{Color: lineColors()[i], Text: label.Clip(label.Clean(cmp.Or(place, "all")), 40)})
		}
	}
	if all > len(places) {
		c.Caption = fmt.Sprintf("%d of %d %ss.", len(places), all, noun)
	}
	if slices.ContainsFunc(rows, func(r *summary.Series) bool { return r.Strip.High != nil }) {
		c.Caption = joinSentences(c.Caption, "Curves have the medians of groups of neighbouring values")
		if len(places) <= mostBands {
			c.Caption += "; the band is from the smallest to the largest of each"
		}
		c.Caption += "."
	}
	c.Caption = joinSentences(c.Caption, otherLogs(s, rows[0], metrics))
	c.Alt = fmt.Sprintf("Curves of %s over %s", label.Plural(int64(len(body.Panels)), "metric"), body.X.Title)
	return c, true
}

// otherLogs counts the inputs whose values are not drawn.
func otherLogs(s *summary.Summary, drawn *summary.Series, metrics []lineMetric) string {
	others := map[int]bool{}
	for i := range s.Series {
		if r := &s.Series[i]; r.Input != drawn.Input && drawable(r, metrics) {
			others[r.Input] = true
		}
	}
	if len(others) == 0 {
		return ""
	}
	paths, _ := view.ShortPaths(s)
	return fmt.Sprintf("Values of %s, which has most of them; %s.", label.Clip(label.Clean(paths[drawn.Input]), 40), label.Plural(int64(len(others)), "more log"))
}

// drawable reports whether a row has one of the metrics and enough values for a curve.
func drawable(r *summary.Series, metrics []lineMetric) bool {
	return r.Pooled == 0 && r.Strip != nil && len(r.Strip.X) >= fewestPoints && slices.IsSorted(r.Strip.X) && r.Max != nil && *r.Max < longestTime && *r.Min >= 0 &&
		slices.ContainsFunc(metrics, func(m lineMetric) bool { return m.name == r.Metric })
}

// drawableSeries returns the rows of the input and producer with the most values, all with one kind of
// axis. Records of different series are assumed to be simultaneous only if there are equally many.
func drawableSeries(s *summary.Summary, metrics []lineMetric) (rows []*summary.Series) {
	type source struct {
		input    int
		producer string
		by       string
	}
	of := func(r *summary.Series) source { return source{r.Input, r.Producer, r.Strip.By} }
	values := map[source]int64{}
	var best *summary.Series
	for i := range s.Series {
		if r := &s.Series[i]; drawable(r, metrics) {
			if values[of(r)] += r.N; best == nil || of(r) != of(best) && values[of(r)] > values[of(best)] {
				best = r
			}
		}
	}
	for i := range s.Series {
		if r := &s.Series[i]; drawable(r, metrics) && of(r) == of(best) && (best.Strip.By != "index" || r.N == best.N) {
			rows = append(rows, r)
		}
	}
	return rows
}

// linePanel returns the panel of a metric, and the rows in it.
func linePanel(m lineMetric, rows []*summary.Series, places []string) (p plot.LinePanel, drawn []*summary.Series) {
	for _, r := range rows {
		if r.Metric == m.name && slices.Contains(places, r.LabelText()) {
			drawn = append(drawn, r)
		}
	}
	highest, of := 0.0, ""
	for _, r := range drawn {
		line := plot.Line{Color: lineColors()[slices.Index(places, r.LabelText())]}
		for i, x := range r.Strip.X {
			line.Points = append(line.Points, [2]float64{float64(x), r.Strip.Values[i]})
			highest = max(highest, r.Strip.Values[i])
		}
		if r.Strip.High != nil && len(drawn) <= mostBands {
			line.Low, line.High = r.Strip.Low, r.Strip.High
			highest = max(highest, slices.Max(r.Strip.High))
		}
		p.Lines, of = append(p.Lines, line), r.Unit
	}
	p.Y = plot.Axis{Title: m.title, To: 1}
	p.Y.Ticks = valueTicks(highest, of)
	if n := len(p.Y.Ticks); n > 0 {
		p.Y.To = max(highest*1.02, p.Y.Ticks[n-1].At)
	}
	return p, drawn
}

// valueTicks returns about four round values from 0 to the highest value or just above it. of is the unit
// of the values.
func valueTicks(highest float64, of string) (ticks []plot.Tick) {
	scale := 1.0
	text := func(v float64) string {
		if v >= 1000 {
			return unit.Count(int64(math.Round(v)))
		}
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	switch of {
	case "share":
		scale, text = 0.01, func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) + "%" }
	case "byte":
		scale, text = 1<<30, func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) + " GiB" }
	case "ns":
		return timeTicks(max(1, highest))
	case "watt":
		text = func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) + " W" }
	case "token/s", "request/s":
		text = func(v float64) string {
			if v >= 1 {
				return unit.Count(int64(math.Round(v))) + "/s"
			}
			return strconv.FormatFloat(v, 'f', -1, 64) + "/s"
		}
	case "count":
		highest = max(highest, 4)
	}
	highest /= scale
	if highest <= 0 {
		highest = 1
	}
	step := math.Pow(10, math.Floor(math.Log10(highest/4)))
	for _, m := range []float64{1, 2, 5, 10} {
		if highest/(step*m) <= 5 {
			step *= m
			break
		}
	}
	for i := 0; ; i++ {
		v := math.Round(float64(i)*step*1e9) / 1e9
		ticks = append(ticks, plot.Tick{At: v * scale, Text: text(v)})
		if v >= highest*0.999 || i > 20 {
			return ticks
		}
	}
}
