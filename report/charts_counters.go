package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"assay/judge"
	"assay/summary"
	"assay/unit"
)

// The limits of pictures of counters.
const (
	keyedDots = 10 // kernels that have a number and a line
	mostDots  = 200
)

// The colours of what holds a kernel back.
const (
	colorLatency  Color = 0xa6761d
	colorMemory   Color = 0x7b5ea7
	colorBalanced Color = 0x56b4e9
	colorNear     Color = 0x009e73
)

// The shades of regions, so light that dots stand out.
const (
	shadeLatency Color = 0xf1e6d6
	shadeNear    Color = 0xdcefe6
)

func sideColor(s judge.Side) Color {
	switch {
	case s.Near:
		return colorNear
	case s.Side == judge.SideLatency:
		return colorLatency
	case s.Side == judge.SideMemory:
		return colorMemory
	case s.Side == judge.SideCompute:
		return colorCompute
	case s.Side == judge.SideBalanced:
		return colorBalanced
	}
	return colorUnknown
}

// sideLegend explains the colours that dots have.
func sideLegend(dots []Dot) (out []Swatch) {
	for _, s := range []Swatch{
		{colorLatency, "latency: both peaks are far"}, {colorMemory, "memory"}, {colorCompute, "compute"},
		{colorBalanced, "both alike"}, {colorNear, "near the limit"}, {colorUnknown, "not known"},
	} {
		if slices.ContainsFunc(dots, func(d Dot) bool { return d.Color == s.Color }) {
			out = append(out, s)
		}
	}
	return out
}

// counterChart draws kernels against the roofs of their device or, where their
// arithmetic was not counted, against its peaks in percent.
func counterChart(s *summary.Summary, r judge.Result) (Chart, bool) {
	if len(r.Sides) != len(s.Counters) {
		return Chart{}, false
	}
	if c, ok := rooflineChart(s, r); ok {
		return c, true
	}
	return peaksChart(s, r)
}

// counterWeights returns what the rows weigh: durations, or launches where there
// are none.
func counterWeights(s *summary.Summary) (weights []int64, total int64, timed bool) {
	timed = slices.ContainsFunc(s.Counters, func(k summary.Counter) bool { return k.TotalNS > 0 })
	for _, k := range s.Counters {
		w := k.Launches
		if timed {
			w = k.TotalNS
		}
		weights = append(weights, w)
		total = summary.Plus(total, w)
	}
	return weights, total, timed
}

// finishDots numbers the largest dots and puts those in front that would be
// covered. The area of a dot is its share of the time.
func finishDots(dots []Dot, weights []int64, total int64) []Dot {
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
func peaksChart(s *summary.Summary, r judge.Result) (Chart, bool) {
	weights, total, timed := counterWeights(s)
	var dots []Dot
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
		dots = append(dots, Dot{X: *k.MemoryPct, Y: *k.ComputePct, Color: sideColor(r.Sides[i]), Name: k.Kernel,
			Key: fmt.Sprintf("  compute %.1f%%, memory %.1f%%, %s", *k.ComputePct, *k.MemoryPct, r.Sides[i].Words())})
		of = append(of, weights[i])
	}
	if len(dots) == 0 {
		return Chart{}, false
	}
	axis := func(title string) Axis {
		a := Axis{Title: title, From: -4, To: most + 4} // room for dots at the ends
		for v := 0.0; v <= most; v += 20 {
			a.Ticks = append(a.Ticks, Tick{v, fmt.Sprintf("%.0f%%", v)})
		}
		return a
	}
	what := "launches"
	if timed {
		what = "kernel time of " + unit.Duration(total)
	}
	body := Scatter{X: axis("memory throughput, of the peak"), Y: axis("compute throughput, of the peak"),
		Regions: peakRegions(r.Peaks, most), Dots: finishDots(dots, of, total)}
	return Chart{
		Title:    "Kernels against the peaks of the device",
		Subtitle: "area: share of the " + what + ". Arithmetic was not counted, so both axes are shares of what the device can do at most",
		Legend:   sideLegend(dots), Body: body, Caption: dotsLeft(len(dots), left),
		Alt: "Compute against memory throughput of kernels: " + altDots(body),
	}, true
}

// peakRegions shades where both peaks are far and where one is near.
func peakRegions(p judge.Peaks, most float64) []Region {
	low, high := -4.0, most+4
	far, near, margin := 100*p.Latency, 100*p.Near, 100*p.Margin
	rect := func(x0, y0, x1, y1 float64) [][2]float64 {
		return [][2]float64{{x0, y0}, {x1, y0}, {x1, y1}, {x0, y1}}
	}
	return []Region{
		{Corners: rect(low, low, far, far), Color: shadeLatency, At: [2]float64{low, far}, Label: fmt.Sprintf("latency: both under %.0f%%", far)},
		{Corners: rect(low, near, high, high), Color: shadeNear, At: [2]float64{low, high}, Label: fmt.Sprintf("near the compute limit: over %.0f%%", near)},
		{Corners: rect(near, low, high, near), Color: shadeNear, At: [2]float64{high, near}, Right: true, Label: fmt.Sprintf("near the memory limit: over %.0f%%", near)},
		{Corners: [][2]float64{{far - margin, far}, {far, far}, {far, far - margin}, {near, near - margin}, {near, near}, {near - margin, near}},
			Color: colorWhite, At: [2]float64{far + 0.2*margin, far + 1.1*margin}, Label: "balanced"},
	}
}

// rooflineChart draws operations a second against operations for each byte of
// DRAM traffic, where both are known of some kernel.
func rooflineChart(s *summary.Summary, r judge.Result) (Chart, bool) {
	weights, total, _ := counterWeights(s)
	var dots []Dot
	var of []int64
	roofs := map[string]int64{}
	bandwidth, left, device := int64(0), 0, -1
	for i, k := range s.Counters {
		w, ok := mainWork(k)
		if !ok {
			left++
			continue
		}
		if device < 0 {
			device = i
		}
		if k.Capability != s.Counters[device].Capability || len(dots) == mostDots {
			left++ // another roof
			continue
		}
		bandwidth = max(bandwidth, *w.PeakDRAMRate)
		for _, other := range k.Work {
			if other.PeakFLOPs != nil {
				roofs[other.Precision] = max(roofs[other.Precision], *other.PeakFLOPs)
			}
		}
		intensity, rate := float64(w.FLOPs)/float64(*w.DRAMBytes), float64(w.FLOPs)/float64(w.NS)*1e9
		dots = append(dots, Dot{X: intensity, Y: rate, Color: sideColor(r.Sides[i]), Name: k.Kernel,
			Key: fmt.Sprintf("  %s, %.4g %s FLOP/byte, %s", unit.FLOPRate(rate), intensity, w.Precision, r.Sides[i].Words())})
		of = append(of, weights[i])
	}
	if len(dots) == 0 {
		return Chart{}, false
	}
	body := Scatter{X: Axis{Title: "operations for each byte from and to DRAM", Log: true}, Y: Axis{Title: "operations a second", Log: true},
		Dots: finishDots(dots, of, total)}
	addRoofs(&body, bandwidth, roofs)
	return Chart{
		Title: "Roofline of " + plural(int64(len(dots)), "kernel"),
		Subtitle: "area: share of the kernel time of " + unit.Duration(total) + ". Below the slope memory is the limit, below the flat lines arithmetic; " +
			"both at the clocks that the kernels ran at",
		Legend: sideLegend(dots), Body: body, Caption: dotsLeft(len(dots), left),
		Alt: "Roofline: " + altDots(body),
	}, true
}

// mainWork returns the arithmetic that a kernel has most of, if all that a
// roofline needs is known.
func mainWork(k summary.Counter) (best summary.Work, ok bool) {
	for _, w := range k.Work {
		known := w.DRAMBytes != nil && *w.DRAMBytes > 0 && w.PeakFLOPs != nil && *w.PeakFLOPs > 0 && w.PeakDRAMRate != nil && *w.PeakDRAMRate > 0
		if known && w.FLOPs > best.FLOPs && w.NS > 0 {
			best, ok = w, true
		}
	}
	return best, ok
}

// addRoofs draws the roofs and fits the axes to them and to the dots.
func addRoofs(s *Scatter, bandwidth int64, flat map[string]int64) {
	lowX, highX, lowY, highY := math.Inf(1), 0.0, math.Inf(1), 0.0
	for _, d := range s.Dots {
		lowX, highX, lowY, highY = min(lowX, d.X), max(highX, d.X), min(lowY, d.Y), max(highY, d.Y)
	}
	var names []string
	top := 0.0
	for name, peak := range flat {
		names = append(names, name)
		top = max(top, float64(peak))
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(flat[b], flat[a]), cmp.Compare(a, b)) })
	ridge := top / float64(bandwidth)
	s.X.decades(lowX/2, max(highX, ridge)*4, func(v float64) string { return fmt.Sprintf("%g", v) })
	s.Y.decades(lowY/2, max(highY, top)*2, unit.FLOPRate)
	for i, name := range names {
		peak := float64(flat[name])
		from := peak / float64(bandwidth)
		points := [][2]float64{{max(from, s.X.From), peak}, {s.X.To, peak}}
		if i == 0 {
			start := max(s.X.From, s.Y.From/float64(bandwidth))
			slope := Curve{Points: [][2]float64{{start, start * float64(bandwidth)}, {from, peak}}, Color: colorInk}
			s.Curves = append(s.Curves, slope)
			s.Regions = append(s.Regions, Region{Corners: [][2]float64{{s.X.From, s.Y.From}}, Color: colorPlane, At: [2]float64{s.X.From, s.Y.To},
				Label: "slope: DRAM, " + unit.Rate(bandwidth, 1e9)})
		}
		s.Curves = append(s.Curves, Curve{Points: points, Color: colorInk, Label: name + " peak, " + unit.FLOPRate(peak)})
	}
}

// decades sets the ends of a logarithmic axis to whole powers of ten, and its
// ticks to at most a dozen of these.
func (a *Axis) decades(from, to float64, text func(float64) string) {
	low, high := math.Floor(math.Log10(max(from, 1e-12))), math.Ceil(math.Log10(min(to, 1e30)))
	high = max(high, low+1)
	a.From, a.To = math.Pow(10, low), math.Pow(10, high)
	step := math.Ceil((high - low) / 12)
	for e := low; e <= high; e += step {
		a.Ticks = append(a.Ticks, Tick{math.Pow(10, e), text(math.Pow(10, e))})
	}
}

func dotsLeft(shown, left int) string {
	if left == 0 {
		return ""
	}
	return fmt.Sprintf("%s drawn; of %d more the counters that this needs were not collected, or they are too many or of another device.", plural(int64(shown), "kernel"), left)
}

func altDots(s Scatter) string {
	var parts []string
	for _, d := range s.Dots[:min(3, len(s.Dots))] {
		parts = append(parts, shortNames(kernelForm, []string{d.Name}, 60)[0]+" "+strings.TrimSpace(d.Key))
	}
	return strings.Join(parts, "; ")
}
