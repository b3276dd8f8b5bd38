package pictures

import (
	"fmt"
	"slices"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/plot"
	"assay/report/words"
	"assay/summary"
	"assay/summary/view/efficiency"
)

// boundColor returns the colour of an operator's bound, the same as for kernels with counters.
func boundColor(bound string) plot.Color {
	switch bound {
	case summary.BoundCompute:
		return plot.ColorCompute
	case summary.BoundMemory:
		return colorMemory
	case summary.BoundLink:
		return plot.ColorCopy
	case summary.BoundLatency:
		return colorLatency
	}
	return plot.ColorUnknown
}

// boundLegend explains the colours of the bounds that are present.
func boundLegend(list []efficiency.Operator) (out []plot.Swatch) {
	for _, bound := range []string{summary.BoundCompute, summary.BoundMemory, summary.BoundLink, summary.BoundLatency} {
		if slices.ContainsFunc(list, func(o efficiency.Operator) bool { return o.Bound == bound }) {
			out = append(out, plot.Swatch{Color: boundColor(bound), Text: words.Bound(bound)})
		}
	}
	return out
}

// leastDot is the minimum share of GPU time of an operator in the picture. Smaller ones would hide others
// and stretch the axes; the page shows them.
const leastDot = 0.001

// efficiencyRoofline draws the achieved FLOP/s of operators against their FLOPs per byte. It returns false
// if the GPUs have no common memory bandwidth.
func efficiencyRoofline(s *summary.Summary) (plot.Chart, bool) {
	hbm := efficiency.HBM(s)
	if hbm <= 0 || hbm > 1e9 {
		return plot.Chart{}, false
	}
	total := efficiency.Sum(s)
	drawn, not := efficiency.Placed(s, mostDots, keyedDots, leastDot)
	roofs := map[string]int64{}
	var dots []plot.Dot
	var of []int64
	for i := range drawn {
		o := &drawn[i]
		lane := o.Lane()
		peak := efficiency.PeakOf(s, lane)
		if peak > 0 && peak < 1e6 {
			roofs[label.Clip(label.Clean(lane), 10)] = int64(peak * 1e12)
		}
		intensity, _ := o.Intensity()
		rate, _ := o.TFLOPS()
		dot := plot.Dot{X: intensity, Y: rate * 1e12, Color: boundColor(o.Bound), Name: o.Name()}
		dot.Key = fmt.Sprintf("  %s, %.4g FLOP/byte, %s", unit.FLOPRate(dot.Y), intensity, words.Bound(o.Bound))
		if o.RooflineNS != nil {
			dot.Key += ", " + unit.Share(*o.RooflineNS, o.GPUNS) + " of roofline"
		}
		dots, of = append(dots, dot), append(of, o.GPUNS)
	}
	if len(dots) == 0 || len(roofs) == 0 {
		return plot.Chart{}, false
	}
	body := plot.Scatter{X: plot.Axis{Title: "arithmetic intensity (FLOP/byte)", Log: true}, Y: plot.Axis{Title: "FLOP/s", Log: true}, Dots: finishDots(dots, of, total.GPUNS)}
	addRoofs(&body, int64(hbm*1e9), roofs)
	c := plot.Chart{
		Title:    "Roofline of " + label.Plural(int64(len(dots)), "operator"),
		Subtitle: fmt.Sprintf("area: %% of total GPU time (%s). FLOPs and bytes from input shapes; slope: memory bandwidth; flat lines: peaks", unit.Duration(total.GPUNS)),
		Legend:   boundLegend(drawn), Body: body,
		Alt: "Roofline of operators: " + altDots(body),
	}
	c.Caption = words.NotPlaced(not, total.GPUNS)
	return c, true
}
