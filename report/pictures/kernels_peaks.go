package pictures

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/judge"
	"assay/report/plot"
	"assay/summary"
	"assay/summary/view"
	"assay/unit"
)

// The limits of pictures of counters.
const (
	keyedDots = 10 // kernels that have a number and a line
	mostDots  = 200
)

// The colours of what holds a kernel back.
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

func sideColor(s judge.Side) plot.Color {
	switch {
	case s.Near:
		return colorNear
	case s.Side == judge.SideLatency:
		return colorLatency
	case s.Side == judge.SideMemory:
		return colorMemory
	case s.Side == judge.SideCompute:
		return plot.ColorCompute
	case s.Side == judge.SideBalanced:
		return colorBalanced
	}
	return plot.ColorUnknown
}

// sideLegend explains the colours that dots have.
func sideLegend(dots []plot.Dot) (out []plot.Swatch) {
	for _, s := range []plot.Swatch{
		{Color: colorLatency, Text: "latency: both peaks are far"}, {Color: colorMemory, Text: "memory"}, {Color: plot.ColorCompute, Text: "compute"},
		{Color: colorBalanced, Text: "both alike"}, {Color: colorNear, Text: "near the limit"}, {Color: plot.ColorUnknown, Text: "not known"},
	} {
		if slices.ContainsFunc(dots, func(d plot.Dot) bool { return d.Color == s.Color }) {
			out = append(out, s)
		}
	}
	return out
}

// kernelsPeaks draws kernels against the roofs of their device or, where their
// arithmetic was not counted, against its peaks in percent.
func kernelsPeaks(s *summary.Summary, r judge.Result) (plot.Chart, bool) {
	if len(r.Sides) != len(s.Counters) {
		return plot.Chart{}, false
	}
	if c, ok := rooflineChart(s, r); ok {
		return c, true
	}
	return peaksChart(s, r)
}

// finishDots numbers the largest dots and puts those in front that would be
// covered. The area of a dot is its share of the time.
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
			Key: fmt.Sprintf("  compute %.1f%%, memory %.1f%%, %s", *k.ComputePct, *k.MemoryPct, r.Sides[i].Words())})
		of = append(of, weights[i])
	}
	if len(dots) == 0 {
		return plot.Chart{}, false
	}
	axis := func(title string) plot.Axis {
		a := plot.Axis{Title: title, From: -4, To: most + 4} // room for dots at the ends
		for v := 0.0; v <= most; v += 20 {
			a.Ticks = append(a.Ticks, plot.Tick{At: v, Text: fmt.Sprintf("%.0f%%", v)})
		}
		return a
	}
	what := "launches"
	if timed {
		what = "kernel time of " + unit.Duration(total)
	}
	body := plot.Scatter{X: axis("memory throughput, of the peak"), Y: axis("compute throughput, of the peak"),
		Regions: peakRegions(r.Peaks, most), Dots: finishDots(dots, of, total)}
	return plot.Chart{
		Title:    "Kernels against the peaks of the device",
		Subtitle: "area: share of the " + what + ". Arithmetic was not counted, so both axes are shares of what the device can do at most",
		Legend:   sideLegend(dots), Body: body, Caption: dotsLeft(len(dots), left),
		Alt: "Compute against memory throughput of kernels: " + altDots(body),
	}, true
}

// peakRegions shades where both peaks are far and where one is near.
func peakRegions(p judge.Peaks, most float64) []plot.Region {
	low, high := -4.0, most+4
	far, near, margin := 100*p.Latency, 100*p.Near, 100*p.Margin
	rect := func(x0, y0, x1, y1 float64) [][2]float64 {
		return [][2]float64{{x0, y0}, {x1, y0}, {x1, y1}, {x0, y1}}
	}
	return []plot.Region{
		{Corners: rect(low, low, far, far), Color: shadeLatency, At: [2]float64{low, far}, Label: fmt.Sprintf("latency: both under %.0f%%", far)},
		{Corners: rect(low, near, high, high), Color: shadeNear, At: [2]float64{low, high}, Label: fmt.Sprintf("near the compute limit: over %.0f%%", near)},
		{Corners: rect(near, low, high, near), Color: shadeNear, At: [2]float64{high, near}, Right: true, Label: fmt.Sprintf("near the memory limit: over %.0f%%", near)},
		{Corners: [][2]float64{{far - margin, far}, {far, far}, {far, far - margin}, {near, near - margin}, {near, near}, {near - margin, near}},
			Color: plot.ColorWhite, At: [2]float64{far + 0.2*margin, far + 1.1*margin}, Label: "balanced"},
	}
}

func dotsLeft(shown, left int) string {
	if left == 0 {
		return ""
	}
	return fmt.Sprintf("%s drawn; of %d more the counters that this needs were not collected, or they are too many or of another device.", label.Plural(int64(shown), "kernel"), left)
}

func altDots(s plot.Scatter) string {
	var parts []string
	for _, d := range s.Dots[:min(3, len(s.Dots))] {
		parts = append(parts, label.Short(label.Kernel, []string{d.Name}, 60)[0]+" "+strings.TrimSpace(d.Key))
	}
	return strings.Join(parts, "; ")
}
