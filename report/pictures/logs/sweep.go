package logs

import (
	"cmp"
	"fmt"
	"math"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/plot"
	"assay/summary"
	"assay/summary/view/bench"
)

// mostSweeps is the largest number of workloads with a curve.
const mostSweeps = 6

// mostLatencies is the largest number of planes.
const mostLatencies = 2

// wideLatency is the ratio of latencies above which their axis is logarithmic.
const wideLatency = 20

// sweepTitles are the titles of the axes of throughput.
var sweepTitles = map[string]string{
	"throughput.output_tokens": "output tokens per second", "throughput.total_tokens": "tokens per second", "throughput.requests": "requests per second",
}

// Sweep shows latency against throughput for results that differ in the load, which labels the points.
func Sweep(s *summary.Summary) (plot.Chart, bool) {
	var sweeps []bench.Sweep
	metric := ""
	for _, sw := range bench.Sweeps(s) {
		if t := sw.Throughput(); t != "" && (metric == "" || t == metric) && len(sharedLatencies([]bench.Sweep{sw})) > 0 {
			sweeps, metric = append(sweeps, sw), t
		}
	}
	if len(sweeps) == 0 {
		return plot.Chart{}, false
	}
	all := len(sweeps)
	sweeps = sweeps[:min(mostSweeps, all)]
	latencies := sharedLatencies(sweeps)
	if len(latencies) == 0 {
		sweeps = sweeps[:1]
		latencies = sharedLatencies(sweeps)
	}
	var body plot.Titled
	for _, l := range latencies[:min(mostLatencies, len(latencies))] {
		body = append(body, plot.TitledBody{Title: l.title, Body: sweepPlane(sweeps, metric, l)})
	}
	c := plot.Chart{Title: "Latency against throughput", Body: body,
		Subtitle: "as the benchmark reported them; at the points: " + sweeps[0].Setting.Head}
	for i, sw := range sweeps {
		if len(sweeps) > 1 {
			text := cmp.Or(sw.Workload, sw.Producer)
			if sw.Setting.Head != sweeps[0].Setting.Head {
				text += " (at the points: " + sw.Setting.Head + ")"
			}
			c.Legend = append(c.Legend, plot.Swatch{Color: lineColors()[i], Text: label.Clip(label.Clean(text), 60)})
		}
	}
	if rest := all - len(sweeps); rest > 0 {
		c.Caption = label.Plural(int64(rest), "more sweep") + "."
	}
	c.Alt = fmt.Sprintf("Latency against throughput of %s", label.Plural(int64(len(sweeps)), "sweep"))
	return c, true
}

// A sweptLatency is a latency with the percentile that all results have.
type sweptLatency struct{ metric, stat, title string }

// sharedLatencies returns the latencies that all results have, each with its highest percentile.
func sharedLatencies(sweeps []bench.Sweep) (out []sweptLatency) {
	for _, m := range latencyTitles {
		for _, stat := range []string{"p99", "p95", "p90", "p50", "median", "mean"} {
			have := true
			for i := range sweeps {
				for _, b := range sweeps[i].List {
					f := bench.FigureOf(b, m.metric, stat)
					have = have && f != nil && f.Unit == "ns" && f.Value > 0 && f.Value < longestTime
				}
			}
			if have {
				out = append(out, sweptLatency{m.metric, stat, m.title + ", " + stat})
				break
			}
		}
	}
	return out
}

// sweepPlane returns the plane of one latency.
func sweepPlane(sweeps []bench.Sweep, metric string, l sweptLatency) plot.Scatter {
	body := plot.Scatter{Low: true}
	low, high, fastest := math.Inf(1), 0.0, 0.0
	for i, sw := range sweeps {
		curve := plot.Curve{Color: lineColors()[i]}
		for _, b := range sw.List {
			x, y := bench.FigureOf(b, metric, "").Value, bench.FigureOf(b, l.metric, l.stat).Value
			low, high, fastest = min(low, y), max(high, y), max(fastest, x)
			curve.Points = append(curve.Points, [2]float64{x, y})
			body.Dots = append(body.Dots, plot.Dot{X: x, Y: y, Radius: 5, Color: lineColors()[i], Label: label.Clip(label.Clean(sw.Setting.Of(b)), 12),
				Key: fmt.Sprintf("%s %s: %s %s, %s %s", sw.Setting.Head, label.Clean(sw.Setting.Of(b)), throughputText(x), sweepTitles[metric], l.title, unit.Duration(int64(y)))})
		}
		body.Curves = append(body.Curves, curve)
	}
	body.X = plot.Axis{Title: sweepTitles[metric], To: fastest * 1.06, Ticks: valueTicks(fastest, "")}
	body.Y = plot.Axis{Title: l.stat, To: high * 1.1, Ticks: timeTicks(high)}
	if high >= wideLatency*low {
		body.Y = plot.Axis{Title: l.stat, Log: true}
		body.Y.Decades(low, high, func(v float64) string { return unit.Duration(int64(v)) })
	}
	return body
}

// throughputText prints four significant digits, or all digits of a larger number.
func throughputText(v float64) string {
	if v >= 1000 && v < longestTime {
		return unit.Count(int64(math.Round(v)))
	}
	return fmt.Sprintf("%.4g", v)
}
