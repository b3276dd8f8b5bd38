package page

import (
	"math"
	"slices"

	"assay/report/words"
	"assay/summary"
	"assay/summary/view/efficiency"
)

// A roofline has the operators with known FLOPs and bytes, and the peaks of the GPUs.
type roofline struct {
	GBPS  float64 `json:"gbps"` // bandwidth of the memory
	Roofs []roof  `json:"roofs"`
	Dots  []dot   `json:"dots"` // the most GPU time first
	NS    int64   `json:"ns"`   // total GPU time
	Note  string  `json:"note"`
}

type roof struct {
	Name   string  `json:"name"`
	TFLOPS float64 `json:"tflops"`
}

type dot struct {
	Name  int     `json:"name"`
	X     float64 `json:"x"`  // FLOP/byte
	Y     float64 `json:"y"`  // TFLOP/s
	NS    int64   `json:"ns"` // GPU time
	Of    float64 `json:"of"` // roofline over GPU time; 0 if not known
	Bound string  `json:"bound"`
}

// mostDots is the maximum number of operators that the page draws.
const mostDots = 500

// rooflineOf returns nil if the GPUs have no common memory bandwidth, or if no operator has a place in the
// roofline.
func rooflineOf(s *summary.Summary, n *names) *roofline {
	hbm := efficiency.HBM(s)
	dots, not := efficiency.Placed(s, mostDots, mostDots, 0)
	if hbm <= 0 || math.IsInf(hbm, 0) || len(dots) == 0 {
		return nil
	}
	total := efficiency.Sum(s)
	out := &roofline{GBPS: hbm, NS: total.GPUNS, Note: words.NotPlaced(not, total.GPUNS)}
	for i := range dots {
		o := &dots[i]
		x, _ := o.Intensity()
		y, _ := o.TFLOPS()
		d := dot{Name: n.number(o.Name()), X: x, Y: y, NS: o.GPUNS, Bound: o.Bound}
		if o.RooflineNS != nil {
			d.Of = float64(*o.RooflineNS) / float64(o.GPUNS)
		}
		out.Dots = append(out.Dots, d)
		lane := o.Lane()
		if peak := efficiency.PeakOf(s, lane); peak > 0 && !math.IsInf(peak, 0) && !slices.ContainsFunc(out.Roofs, func(r roof) bool { return r.Name == visible(lane) }) {
			out.Roofs = append(out.Roofs, roof{visible(lane), peak})
		}
	}
	if out.Roofs == nil {
		return nil
	}
	return out
}

// boundOrReason returns the bound of a row, or why its roofline is not known.
func boundOrReason(r *summary.EfficiencyRow) string {
	if why, ok := efficiency.Reason(r); ok && r.RooflineNS == nil {
		return "unknown: " + words.Unknown(why).Text
	}
	return words.Bound(r.Bound)
}

var efficiencyTable = shown[summary.EfficiencyRow]{
	id: "efficiency", title: "Efficiency", of: "recoverable time", share: 6,
	rank: func(r *summary.EfficiencyRow) int { return r.Rank },
	columns: []shownColumn[summary.EfficiencyRow]{
		{"operator", kindName, func(r *summary.EfficiencyRow) string { return r.Op }, nil},
		{"input shapes", kindKey, func(r *summary.EfficiencyRow) string { return efficiency.DimsText(string(r.Dims)) }, nil},
		{"bound", kindKey, boundOrReason, nil},
		{"calls", kindCount, nil, func(r *summary.EfficiencyRow) int64 { return r.Count }},
		{"GPU time", kindNS, nil, func(r *summary.EfficiencyRow) int64 { return r.GPUNS }},
		{"roofline", kindNS, nil, func(r *summary.EfficiencyRow) int64 { return known(r.RooflineNS) }},
		{"recoverable", kindNS, nil, func(r *summary.EfficiencyRow) int64 {
			if r.RooflineNS == nil {
				return 0
			}
			return max(0, r.GPUNS-*r.RooflineNS)
		}},
		{"FLOPs", kindFLOPs, nil, func(r *summary.EfficiencyRow) int64 { return known(r.FLOPs) }},
		{"bytes", kindBytes, nil, func(r *summary.EfficiencyRow) int64 { return known(r.Bytes) }},
		{"TFLOP/s", kindRate + ":7:4:0.001", nil, nil},
		{"GB/s", kindRate + ":8:4:1", nil, nil},
		{"% of roofline", kindRate + ":5:4:100", nil, nil},
	},
}
