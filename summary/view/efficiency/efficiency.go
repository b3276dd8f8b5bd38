package efficiency

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"assay/summary"
	"assay/summary/view"
)

// An Operator is one operator with one set of inputs, over all GPUs that ran it. FLOPs,
// Bytes and RooflineNS are null if they are null in one of its rows.
type Operator struct {
	Op, Dims, Types string // Dims and Types as recorded, in JSON; "" if absent

	// Properties on the GPU on which the operator took the most time.
	Unit, Dtype, Kernel, Bound, BytesIs, Unknown, Over string

	Count, GPUNS, OverlapNS  int64
	FLOPs, Bytes, RooflineNS *int64
	RecoverableNS            int64 // GPU time above the roofline, summed over the GPUs

	GPUs             int
	MinNS, MaxNS     int64 // GPU time of the GPUs with the least and the most
	MinRank, MaxRank int   // their ranks
}

// Intensity returns FLOPs per byte.
func (o *Operator) Intensity() (float64, bool) {
	if o.FLOPs == nil || o.Bytes == nil || *o.Bytes <= 0 {
		return 0, false
	}
	return float64(*o.FLOPs) / float64(*o.Bytes), true
}

// TFLOPS returns the achieved rate over the GPU time of the operator.
func (o *Operator) TFLOPS() (float64, bool) { return rate(o.FLOPs, o.GPUNS, 1e-3) }

// GBPS returns the achieved bandwidth over the GPU time of the operator.
func (o *Operator) GBPS() (float64, bool) { return rate(o.Bytes, o.GPUNS, 1) }

func rate(n *int64, ns int64, scale float64) (float64, bool) {
	if n == nil || ns <= 0 {
		return 0, false
	}
	return float64(*n) / float64(ns) * scale, true
}

// inputs identify an operator with one set of inputs.
type inputs struct{ op, dims, types string }

// Operators returns the operators of s, those with the most recoverable time first, then those with the
// most GPU time. Rows whose FLOPs, bytes or roofline are unknown are a separate operator from rows with the
// same inputs for which they are known, because a sum with an unknown part would be unknown.
func Operators(s *summary.Summary) []Operator {
	return grouped(s.Efficiency.Rows, func(r *summary.EfficiencyRow) known {
		return known{r.FLOPs != nil, r.Bytes != nil, r.RooflineNS != nil}
	})
}

// ByInputs returns the operators in the same order, but with all rows of the same inputs added up, known or
// not.
func ByInputs(s *summary.Summary) []Operator {
	return grouped(s.Efficiency.Rows, func(*summary.EfficiencyRow) known { return known{} })
}

// known is which numbers of an operator are known.
type known struct{ flops, bytes, roofline bool }

func grouped(rows []summary.EfficiencyRow, by func(*summary.EfficiencyRow) known) []Operator {
	type key struct {
		inputs
		known
	}
	texts := layouts{}
	sums := view.Group(rows, func(r *summary.EfficiencyRow) key {
		return key{inputs{r.Op, texts.without(r.Dims), texts.without(r.Types)}, by(r)}
	}, func(r *summary.EfficiencyRow) Operator {
		return Operator{Op: r.Op, Dims: texts.without(r.Dims), Types: texts.without(r.Types), FLOPs: new(int64), Bytes: new(int64), RooflineNS: new(int64)}
	}, (*Operator).add)
	order := pointers(sums)
	slices.SortStableFunc(order, func(a, b *Operator) int {
		return cmp.Or(cmp.Compare(b.RecoverableNS, a.RecoverableNS), cmp.Compare(b.GPUNS, a.GPUNS), cmp.Compare(a.Op, b.Op),
			cmp.Compare(a.Dims, b.Dims), cmp.Compare(a.Types, b.Types), cmp.Compare(b.Count, a.Count))
	})
	out := make([]Operator, 0, len(order))
	for _, o := range order {
		out = append(out, *o)
	}
	return out
}

// pointers returns pointers for sorting, because operators are large to move.
func pointers(list []Operator) []*Operator {
	out := make([]*Operator, len(list))
	for i := range list {
		out[i] = &list[i]
	}
	return out
}

// layouts caches results of [recorded], because many rows have the same shapes.
type layouts map[string]string

func (l layouts) without(raw []byte) string {
	text, ok := l[string(raw)]
	if !ok {
		text = recorded(raw)
		l[string(raw)] = text
	}
	return text
}

// recorded returns recorded JSON without white space, or "" for null.
func recorded(raw []byte) string {
	var out bytes.Buffer
	if err := json.Compact(&out, raw); err != nil || out.String() == "null" {
		return ""
	}
	return out.String()
}

func (o *Operator) add(r *summary.EfficiencyRow) {
	if o.GPUs == 0 || r.GPUNS > o.MaxNS {
		o.Unit, o.Dtype, o.Kernel, o.Bound, o.BytesIs, o.Unknown, o.Over = r.Unit, r.Dtype, r.Kernel, r.Bound, r.BytesIs, r.Unknown, r.Over
		o.MaxNS, o.MaxRank = r.GPUNS, r.Rank
	}
	if o.GPUs == 0 || r.GPUNS < o.MinNS {
		o.MinNS, o.MinRank = r.GPUNS, r.Rank
	}
	o.GPUs++
	o.Count, o.GPUNS, o.OverlapNS = o.Count+r.Count, o.GPUNS+r.GPUNS, o.OverlapNS+r.OverlapNS
	o.FLOPs, o.Bytes, o.RooflineNS = summary.PlusOrNull(o.FLOPs, r.FLOPs), summary.PlusOrNull(o.Bytes, r.Bytes), summary.PlusOrNull(o.RooflineNS, r.RooflineNS)
	if r.RooflineNS != nil {
		o.RecoverableNS += max(0, r.GPUNS-*r.RooflineNS)
	}
}

// Hidden returns the GPU time of operators without a roofline whose inputs also occur in rows with one.
func Hidden(list []Operator) (ns int64) {
	known := map[inputs]bool{}
	for i := range list {
		if o := &list[i]; o.RooflineNS != nil {
			known[inputs{o.Op, o.Dims, o.Types}] = true
		}
	}
	for i := range list {
		if o := &list[i]; o.RooflineNS == nil && known[inputs{o.Op, o.Dims, o.Types}] {
			ns += o.GPUNS
		}
	}
	return ns
}

// A Total has the sums over all GPUs of a summary.
type Total struct {
	summary.EfficiencySums

	GPUs           int
	Names          []string // GPU models, in the order of their first GPU
	WithMFU        int      // GPUs whose MFU is known
	MinMFU, MaxMFU float64  // extremes over these
}

// Sum returns the sums over all GPUs.
func Sum(s *summary.Summary) Total {
	t := Total{GPUs: len(s.Efficiency.Devices), EfficiencySums: s.Efficiency.Total()}
	for _, d := range s.Efficiency.Devices {
		if !slices.Contains(t.Names, d.Name) {
			t.Names = append(t.Names, d.Name)
		}
		if d.MFU == nil {
			continue
		}
		if t.WithMFU == 0 || *d.MFU < t.MinMFU {
			t.MinMFU = *d.MFU
		}
		t.MaxMFU = max(t.MaxMFU, *d.MFU)
		t.WithMFU++
	}
	return t
}

// PlacedNS returns the GPU time of operators with a roofline.
func (t *Total) PlacedNS() int64 {
	return min(summary.Plus(t.RooflineNS, t.RecoverableNS), Work(&t.EfficiencySums))
}

// MostlyPlaced reports whether at least half of the GPU time has a roofline. Of less, the recoverable time says little
// about the run: the rest may recover more.
func (t *Total) MostlyPlaced() bool {
	return t.RooflineNS > 0 && t.PlacedNS() >= Work(&t.EfficiencySums)/2
}

// add adds sums up, as [summary.Efficiency.Total] does.
func add(list []summary.EfficiencySums) summary.EfficiencySums {
	e := summary.Efficiency{Devices: make([]summary.EfficiencyDevice, len(list))}
	for i := range list {
		e.Devices[i].EfficiencySums = list[i]
	}
	return e.Total()
}

// A Peak is the matrix work of one type, with the peak of the GPUs for it.
type Peak struct {
	Dtype       string
	TFLOPS      float64 // the peak; 0 if it is not known or differs between the GPUs
	NS          int64   // GPU time of the matrix operators of this type
	FLOPs       summary.Sum
	Recoverable int64
}

// Matrix returns the matrix work by type, the type with the most time first. Rows without FLOPs are left
// out.
func Matrix(s *summary.Summary) []Peak {
	at := map[string]*Peak{}
	for i := range s.Efficiency.Rows {
		r := &s.Efficiency.Rows[i]
		if r.Unit != "matrix" || r.FLOPs == nil {
			continue
		}
		p := at[r.Dtype]
		if p == nil {
			p = &Peak{Dtype: r.Dtype, TFLOPS: PeakOf(s, r.Dtype)}
			at[r.Dtype] = p
		}
		p.NS, p.FLOPs = p.NS+r.GPUNS, p.FLOPs.Plus(*r.FLOPs)
		if r.RooflineNS != nil {
			p.Recoverable += max(0, r.GPUNS-*r.RooflineNS)
		}
	}
	out := make([]Peak, 0, len(at))
	for _, name := range slices.Sorted(maps.Keys(at)) {
		out = append(out, *at[name])
	}
	slices.SortStableFunc(out, func(a, b Peak) int { return cmp.Compare(b.NS, a.NS) })
	return out
}

// PeakOf returns the peak of a type in 10^12 FLOP/s if all GPUs have the same, or 0.
func PeakOf(s *summary.Summary, dtype string) (peak float64) {
	for i, d := range s.Efficiency.Devices {
		p := d.PeakTFLOPS[dtype]
		if p <= 0 || i > 0 && p != peak {
			return 0
		}
		peak = p
	}
	return peak
}

// HBM returns the memory bandwidth in 10^9 bytes/s if all GPUs have the same, or 0.
func HBM(s *summary.Summary) (gbps float64) {
	for i, d := range s.Efficiency.Devices {
		if d.HBMGBPS == nil || *d.HBMGBPS <= 0 || i > 0 && *d.HBMGBPS != gbps {
			return 0
		}
		gbps = *d.HBMGBPS
	}
	return gbps
}

// Lane returns the type whose peak bounds the operator: the type of its inputs for matrix operators. Other
// operators run on vector units.
func (o *Operator) Lane() string {
	if o.Unit == "matrix" {
		return o.Dtype
	}
	return "fp32"
}

// A NotPlaced counts the operators that a roofline does not show, with their GPU time.
type NotPlaced struct {
	Nowhere, Smaller     int   // without a place; with one, and less GPU time than those that are shown
	NowhereNS, SmallerNS int64 // their GPU time
}

// Placed returns the operators that can be drawn in a roofline, those with the most GPU time first: at most
// most of them, and beyond the first few only those with at least the given share of the GPU time.
func Placed(s *summary.Summary, most, few int, share float64) (out []Operator, not NotPlaced) {
	list := Operators(s)
	order := pointers(list)
	slices.SortStableFunc(order, func(a, b *Operator) int { return cmp.Compare(b.GPUNS, a.GPUNS) })
	least := share * float64(s.Efficiency.Total().GPUNS)
	for _, o := range order {
		intensity, known := o.Intensity()
		rate, timed := o.TFLOPS()
		switch {
		case !known || !timed || intensity <= 0 || rate <= 0:
			not.Nowhere, not.NowhereNS = not.Nowhere+1, not.NowhereNS+o.GPUNS
		case len(out) >= most || len(out) >= few && float64(o.GPUNS) < least:
			not.Smaller, not.SmallerNS = not.Smaller+1, not.SmallerNS+o.GPUNS
		default:
			out = append(out, *o)
		}
	}
	return out, not
}
