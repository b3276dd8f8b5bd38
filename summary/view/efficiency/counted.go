package efficiency

import (
	"cmp"
	"math"
	"slices"

	"assay/internal/label"
	"assay/summary"
)

// Accepted relative differences between counters and formulas. FLOPs of a product are exact except for
// partial tiles, while caches and repeated reads change the bytes of DRAM.
const (
	FLOPsMargin = 0.05
	BytesMargin = 0.25
)

// A Counted is an operator whose only kernel was also measured by a profiler of hardware counters in the
// same run. Its numbers are per call; nil is unknown.
type Counted struct {
	Op, Dims, Kernel string // Dims as recorded, in JSON
	Grid, Block      [3]int64
	Calls            int64 // number of calls of the operator
	Launches         int64 // number of launches with counters

	FLOPs, Bytes               *float64 // by the formula; FLOPs of matrix operators only
	CountedFLOPs, CountedBytes *float64 // by counters
}

// Differ reports whether two numbers differ by more than a margin, a share of the formula's. Unknown
// numbers do not differ.
func Differ(formula, counted *float64, margin float64) bool {
	return formula != nil && counted != nil && math.Abs(*counted-*formula) > margin*math.Abs(*formula)
}

// A launch identifies launches that very probably do the same work.
type launch struct {
	kernel      string
	grid, block [3]int64
}

// WithCounters returns the operators whose launches have hardware counters, those with the most GPU time
// first. A launch that several operators or several sets of inputs share is ignored, because its counters
// cannot be assigned to one of them.
func WithCounters(s *summary.Summary) []Counted {
	counted := countedLaunches(s)
	if len(counted) == 0 {
		return nil
	}
	type key struct{ op, dims, types string }
	of, several, mixed := map[launch]key{}, map[launch]bool{}, map[string]bool{}
	sums, ns := map[launch]*Counted{}, map[launch]int64{}
	for i := range s.Efficiency.Rows {
		r := &s.Efficiency.Rows[i]
		name := label.TidyKernel(r.Kernel)
		if r.Grid == nil || r.Block == nil || r.GPUNS <= 0 {
			mixed[name] = true
			continue
		}
		l, k := launch{name, *r.Grid, *r.Block}, key{r.Op, recorded(r.Dims), recorded(r.Types)}
		if old, ok := of[l]; ok && old != k {
			several[l] = true
			continue
		}
		of[l] = k
		if sums[l] == nil && counted[l] != nil {
			sums[l] = &Counted{Op: r.Op, Dims: k.dims, Kernel: r.Kernel, Grid: *r.Grid, Block: *r.Block, Launches: counted[l].Launches}
			sums[l].fill(r, counted[l])
		}
		if sums[l] != nil {
			sums[l].Calls += r.Count
			ns[l] += r.GPUNS
		}
	}
	var order []launch
	for l := range sums {
		if !several[l] && !mixed[l.kernel] {
			order = append(order, l)
		}
	}
	slices.SortFunc(order, func(a, b launch) int {
		return cmp.Or(cmp.Compare(ns[b], ns[a]), cmp.Compare(a.kernel, b.kernel), slices.Compare(a.grid[:], b.grid[:]), slices.Compare(a.block[:], b.block[:]))
	})
	out := make([]Counted, 0, len(order))
	for _, l := range order {
		if c := sums[l]; c.CountedFLOPs != nil && c.FLOPs != nil || c.CountedBytes != nil && c.Bytes != nil {
			out = append(out, *c)
		}
	}
	return out
}

// countedLaunches adds up the counters of launches over the devices.
func countedLaunches(s *summary.Summary) map[launch]*summary.CounterShape {
	out := map[launch]*summary.CounterShape{}
	for i := range s.Counters {
		name := label.TidyKernel(s.Counters[i].Kernel)
		for _, shape := range s.Counters[i].ByShape {
			l := launch{name, shape.Grid, shape.Block}
			if out[l] == nil {
				out[l] = &shape
				continue
			}
			sum := summary.CounterShape{Grid: shape.Grid, Block: shape.Block, Launches: out[l].Launches + shape.Launches, DRAMBytes: summary.PlusOrNull(out[l].DRAMBytes, shape.DRAMBytes)}
			for precision, n := range shape.FLOPs {
				if other, ok := out[l].FLOPs[precision]; ok {
					if sum.FLOPs == nil {
						sum.FLOPs = map[string]int64{}
					}
					sum.FLOPs[precision] = summary.Plus(n, other)
				}
			}
			out[l] = &sum
		}
	}
	return out
}

// fill sets the numbers per call.
func (c *Counted) fill(r *summary.EfficiencyRow, by *summary.CounterShape) {
	per := func(n *int64, calls int64) *float64 {
		if n == nil || calls <= 0 {
			return nil
		}
		v := float64(*n) / float64(calls)
		return &v
	}
	calls := r.Count - r.Untimed
	c.Bytes, c.CountedBytes = per(r.Bytes, calls), per(by.DRAMBytes, by.Launches)
	if r.Unit == "matrix" {
		c.FLOPs, c.CountedFLOPs = per(r.FLOPs, calls), per(arithmeticOf(r.Dtype, by.FLOPs), by.Launches)
	}
}

// arithmeticOf returns the FLOPs of a product according to counters: the FLOPs of tensor cores, or of other
// cores if tensor cores certainly were not used.
func arithmeticOf(dtype string, flops map[string]int64) *int64 {
	tensor, counted := flops["tensor"]
	if tensor > 0 {
		return &tensor
	}
	if !counted && dtype != "fp32" && dtype != "fp64" {
		return nil
	}
	single, ok := flops["fp32"]
	half, double := flops["fp16"], flops["fp64"]
	if sum := summary.Plus(summary.Plus(single, half), double); ok && sum > 0 {
		return &sum
	}
	return nil
}
