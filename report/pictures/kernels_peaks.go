package pictures

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/judge"
	"assay/judge/counters"
	"assay/judge/finding"
	"assay/report/plot"
	"assay/report/words"
	"assay/summary"
	"assay/summary/view"
)

// The limits of pictures of counters.
const (
	keyedDots = 10 // kernels that have a number and a line
	mostDots  = 200
)

// The colours of the limiting sides of kernels.
const (
	colorLatency  plot.Color = 0xa6761d
	colorMemory   plot.Color = 0x7b5ea7
	colorBalanced plot.Color = 0x56b4e9
	colorNear     plot.Color = 0x009e73
)

// The shades of regions, so light that dots stand out.
const (
	shadeLatency plot.Color = 0xf1e6d6
	shadeNear    plot.Color = 0xdcefe6
)

func sideColor(s counters.Side) plot.Color {
	switch {
	case s.Near:
		return colorNear
	case s.Side == counters.SideLatency:
		return colorLatency
	case s.Side == counters.SideMemory:
		return colorMemory
	case s.Side == counters.SideCompute:
		return plot.ColorCompute
	case s.Side == counters.SideBalanced:
		return colorBalanced
	}
	return plot.ColorUnknown
}

// sideLegend explains the colours of the dots.
func sideLegend(dots []plot.Dot) (out []plot.Swatch) {
	for _, s := range []plot.Swatch{
		{Color: colorLatency, Text: "latency: both peaks are far"}, {Color: colorMemory, Text: "memory"}, {Color: plot.ColorCompute, Text: "compute"},
		{Color: colorBalanced, Text: "balanced"}, {Color: colorNear, Text: words.Verdict(finding.BoundNearLimit)}, {Color: plot.ColorUnknown, Text: "unknown"},
	} {
		if slices.ContainsFunc(dots, func(d plot.Dot) bool { return d.Color == s.Color }) {
			out = append(out, s)
		}
	}
	return out
}

// kernelsPeaks draws the roofline of the kernels or, if FLOPs were not counted, their
// throughput in % of peak.
func kernelsPeaks(s *summary.Summary, r judge.Result) (plot.Chart, bool) {
	if len(r.Sides) != len(s.Counters) {
		return plot.Chart{}, false
	}
	if c, ok := rooflineChart(s, r); ok {
		return c, true
	}
	return peaksChart(s, r)
}

// finishDots numbers the largest dots and draws small dots last, so that none is covered.
// The area of a dot is its share of the time.
func finishDots(dots []plot.Dot, weights []int64, total int64) []plot.Dot {
	for i := range dots {
		share := float64(weights[i]) / float64(max(1, total))
		dots[i].Radius = 4 + float64(18*math.Sqrt(share))
		if i < keyedDots {
			dots[i].Number = fmt.Sprint(i + 1)
			dots[i].Key = unit.Share(weights[i], total) + dots[i].Key
		}
	}
	return dots
}

// peaksChart draws compute against memory throughput.
func peaksChart(s *summary.Summary, r judge.Result) (plot.Chart, bool) {
	weights, total, timed := view.CounterWeights(s)
	var dots []plot.Dot
	var of []int64
	most, left := 100.0, 0
	for i, k := range s.Counters {
		if k.ComputePct == nil || k.MemoryPct == nil {
			continue
		}
		if len(dots) == mostDots {
			left++
			continue
		}
		most = max(most, min(*k.ComputePct, 200), min(*k.MemoryPct, 200))
		dots = append(dots, plot.Dot{X: *k.MemoryPct, Y: *k.ComputePct, Color: sideColor(r.Sides[i]), Name: k.Kernel,
			Key: fmt.Sprintf("  compute %.1f%%, memory %.1f%%, %s", *k.ComputePct, *k.MemoryPct, words.Side(r.Sides[i]))})
		of = append(of, weights[i])
	}
	if len(dots) == 0 {
		return plot.Chart{}, false
	}
	axis := func(title string) plot.Axis {
		a := plot.Axis{Title: title, From: -4, To: most + 4} // space for dots at the ends
		for v := 0.0; v <= most; v += 20 {
			a.Ticks = append(a.Ticks, plot.Tick{At: v, Text: fmt.Sprintf("%.0f%%", v)})
		}
		return a
	}
	what := "launches"
	if timed {
		what = "total kernel time, " + unit.Duration(total)
	}
	body := plot.Scatter{X: axis("memory throughput (% of peak)"), Y: axis("compute throughput (% of peak)"),
		Regions: peakRegions(r.Peaks, most), Dots: finishDots(dots, of, total)}
	return plot.Chart{
		Title:    "Kernel counters: % of peak",
		Subtitle: "area: % of " + what + "; FLOPs were not counted, so both axes are in % of peak",
		Legend:   sideLegend(dots), Body: body, Caption: dotsLeft(len(dots), left),
		Alt: "Compute against memory throughput of kernels: " + altDots(body),
	}, true
}

// peakRegions shades where both peaks are far and where one is near.
func peakRegions(p counters.Peaks, most float64) []plot.Region {
	low, high := -4.0, most+4
	far, near, margin := 100*p.Latency, 100*p.Near, 100*p.Margin
	rect := func(x0, y0, x1, y1 float64) [][2]float64 {
		return [][2]float64{{x0, y0}, {x1, y0}, {x1, y1}, {x0, y1}}
	}
	return []plot.Region{
		{Corners: rect(low, low, far, far), Color: shadeLatency, At: [2]float64{low, far}, Label: fmt.Sprintf("latency: both under %.0f%%", far)},
		{Corners: rect(low, near, high, high), Color: shadeNear, At: [2]float64{low, high}, Label: fmt.Sprintf("near compute peak: over %.0f%%", near)},
		{Corners: rect(near, low, high, near), Color: shadeNear, At: [2]float64{high, near}, Right: true, Label: fmt.Sprintf("near memory peak: over %.0f%%", near)},
		{Corners: [][2]float64{{far - margin, far}, {far, far}, {far, far - margin}, {near, near - margin}, {near, near}, {near - margin, near}},
			Color: plot.ColorWhite, At: [2]float64{far + 0.2*margin, far + 1.1*margin}, Label: "balanced"},
	}
}

func dotsLeft(shown, left int) string {
	if left == 0 {
		return ""
	}
	return fmt.Sprintf("%s drawn; %d more have no such counters, are on another GPU or exceed the limit of the picture.", label.Plural(int64(shown), "kernel"), left)
}

func altDots(s plot.Scatter) string {
	var parts []string
	for _, d := range s.Dots[:min(3, len(s.Dots))] {
		parts = append(parts, label.Short(label.Kernel, []string{d.Name}, 60)[0]+" "+strings.TrimSpace(d.Key))
	}
	return strings.Join(parts, "; ")
}
