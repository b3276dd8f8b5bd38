package pictures

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/judge"
	"assay/report/plot"
	"assay/report/words"
	"assay/summary"
	"assay/summary/view"
)

// rooflineChart draws FLOP/s against FLOPs per byte of DRAM traffic. It returns false if
// no kernel has both.
func rooflineChart(s *summary.Summary, r judge.Result) (plot.Chart, bool) {
	weights, total, _ := view.CounterWeights(s)
	var dots []plot.Dot
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
			left++ // its GPU has another roof
			continue
		}
		bandwidth = max(bandwidth, *w.PeakDRAMRate)
		for _, other := range k.Work {
			if other.PeakFLOPs != nil {
				roofs[other.Precision] = max(roofs[other.Precision], *other.PeakFLOPs)
			}
		}
		intensity, rate := float64(w.FLOPs)/float64(*w.DRAMBytes), float64(w.FLOPs)/float64(w.NS)*1e9
		dots = append(dots, plot.Dot{X: intensity, Y: rate, Color: sideColor(r.Sides[i]), Name: k.Kernel,
			Key: fmt.Sprintf("  %s, %.4g %s FLOP/byte, %s", unit.FLOPRate(rate), intensity, w.Precision, words.Side(r.Sides[i]))})
		of = append(of, weights[i])
	}
	if len(dots) == 0 {
		return plot.Chart{}, false
	}
	body := plot.Scatter{X: plot.Axis{Title: "arithmetic intensity (FLOP/byte of DRAM traffic)", Log: true}, Y: plot.Axis{Title: "FLOP/s", Log: true},
		Dots: finishDots(dots, of, total)}
	addRoofs(&body, bandwidth, roofs)
	return plot.Chart{
		Title: "Roofline of " + label.Plural(int64(len(dots)), "kernel"),
		Subtitle: "area: % of total kernel time (" + unit.Duration(total) + "). Slope: memory limit. Flat lines: compute limits. " +
			"Both at the measured clocks",
		Legend: sideLegend(dots), Body: body, Caption: dotsLeft(len(dots), left),
		Alt: "Roofline: " + altDots(body),
	}, true
}

// mainWork returns the precision with most of a kernel's FLOPs. It returns false if a
// value for the roofline is missing.
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
func addRoofs(s *plot.Scatter, bandwidth int64, flat map[string]int64) {
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
	s.X.Decades(lowX/2, max(highX, ridge)*4, func(v float64) string { return fmt.Sprintf("%g", v) })
	s.Y.Decades(lowY/2, max(highY, top)*2, unit.FLOPRate)
	for i, name := range names {
		peak := float64(flat[name])
		from := peak / float64(bandwidth)
		points := [][2]float64{{max(from, s.X.From), peak}, {s.X.To, peak}}
		if i == 0 {
			start := max(s.X.From, s.Y.From/float64(bandwidth))
			slope := plot.Curve{Points: [][2]float64{{start, start * float64(bandwidth)}, {from, peak}}, Color: plot.ColorInk}
			s.Curves = append(s.Curves, slope)
			s.Regions = append(s.Regions, plot.Region{Corners: [][2]float64{{s.X.From, s.Y.From}}, Color: plot.ColorPlane, At: [2]float64{s.X.From, s.Y.To},
				Label: "slope: DRAM, " + unit.Rate(bandwidth, 1e9)})
		}
		s.Curves = append(s.Curves, plot.Curve{Points: points, Color: plot.ColorInk, Label: name + " peak, " + unit.FLOPRate(peak)})
	}
}
