package hardware

import (
	"assay/analyze/efficiency/operators"
	"math"
	"slices"
	"strings"
)

// PeakType returns the rate that bounds work on a type of elements, NoFigure if none of the
// rates is for it. Vector work is compared with the rate of fp32.
func PeakType(unit operators.Unit, dtype, kernel string) Figure {
	if unit != operators.Matrix {
		return FP32
	}
	switch {
	case strings.Contains(dtype, "Float8"):
		return FP8
	case strings.Contains(dtype, "Float4"):
		return FP4
	}
	switch dtype {
	case "c10::BFloat16":
		return BF16
	case "c10::Half":
		return FP16
	case "signed char", "char":
		return INT8
	case "double":
		return FP64
	case "float":
		return floatPeak(kernel)
	}
	return NoFigure
}

// floatPeak returns the rate of a matrix product of float32. It runs as TF32 if the name of its
// kernel says so. Names of some kernels never say: those of cuBLAS for Hopper and later (nvjet)
// have a letter for each type, and no public source tells that of TF32; those that torch.compile
// generates do not have the type. Their rate is not known.
func floatPeak(kernel string) Figure {
	if strings.Contains(kernel, "32") || strings.Contains(kernel, "1688") { // most names have neither
		lower := strings.ToLower(kernel)
		for _, mark := range []string{"tf32", "s1688", "xf32"} {
			if strings.Contains(lower, mark) {
				return TF32
			}
		}
	}
	for _, silent := range []string{"nvjet_", "triton_"} {
		if strings.HasPrefix(kernel, silent) {
			return NoFigure
		}
	}
	return FP32
}

// LaneOf returns the bandwidth that bounds the bytes of a kernel or copy: that of the link to
// the host for copies from or to it, else that of the memory.
func (p *Peaks) LaneOf(kernel string) Figure {
	if !operators.IsHostCopy(kernel) {
		return HBM
	}
	if p.Known(C2C) {
		return C2C
	}
	return PCIe
}

// A Bound is what limits an operator at its best.
type Bound string

// The bounds. Latency: at its best the operator would take less time than a launch, and
// it is short, so neither rate nor bandwidth decides.
const (
	ComputeBound Bound = "compute"
	MemoryBound  Bound = "memory"
	LinkBound    Bound = "link"
	LatencyBound Bound = "latency"
)

// LaunchNS is the time below which the roofline of a call is shorter than what a launch
// costs. A call that takes ShortNS or more has another reason: it is far from its roofline,
// and fewer launches would not help.
const (
	LaunchNS = 2_000
	ShortNS  = 10_000
)

// Totals are sums over the calls of an operator.
type Totals struct {
	Unit  operators.Unit
	Peak  Figure // as [PeakType] has it
	Lane  Figure // as [Peaks.LaneOf] has it
	Calls int64
	FLOPs operators.Count
	Bytes operators.Count
}

// A Roofline is the least time in which the hardware could do the work of some calls.
type Roofline struct {
	NS    int64
	Bound Bound
}

// Roofline returns the larger of FLOPs over their rate and bytes over their bandwidth, or
// false if it is not known, of calls that took some time. FLOPs of vector work may be
// unknown, and so may their rate: its bytes decide.
func (p *Peaks) Roofline(t Totals, gpuNS int64) (Roofline, bool) {
	flops, rate := t.FLOPs, p.Figures[t.Peak]
	if (t.Unit == operators.Vector || t.Unit == operators.None) && (flops.Why != operators.Known || rate <= 0) {
		flops, rate = operators.Count{}, 1
	}
	if flops.Why != operators.Known || t.Bytes.Why != operators.Known || rate <= 0 || !p.Known(t.Lane) {
		return Roofline{}, false
	}
	compute := float64(flops.N) / rate / 1e3
	moving := float64(t.Bytes.N) / p.Figures[t.Lane]
	if max(compute, moving) >= math.MaxInt64 {
		return Roofline{}, false
	}
	r := Roofline{NS: int64(math.Round(max(compute, moving))), Bound: MemoryBound}
	switch {
	case max(compute, moving) < LaunchNS*float64(t.Calls) && float64(gpuNS) < ShortNS*float64(t.Calls):
		r.Bound = LatencyBound
	case compute > moving:
		r.Bound = ComputeBound
	case t.Lane != HBM:
		r.Bound = LinkBound
	}
	return r, true
}

// Recoverable returns the time above the roofline.
func (r Roofline) Recoverable(gpuNS int64) int64 { return max(0, gpuNS-r.NS) }

// An Excess is work that was faster than a peak allows.
type Excess uint8

// The kinds of excess. Traffic may come from a cache, which is no error; FLOPs over the
// peak, or more bytes than a cache explains, mean that the peak, the count or the time is
// not right.
const (
	NoExcess Excess = iota
	Cached          // more bytes than the memory delivers, which a cache hit explains
	OverMemory
	OverCompute
)

// clockMargin is how much faster than the clock of its peak a GPU may run: the rates of
// data sheets assume a clock that is up to 8 % below the highest.
const clockMargin = 1.1

// largestCache is more than the last level of any GPU has, in bytes.
const largestCache = 1 << 30

// Excess compares what some calls achieved in their time with the peaks. A call finds at most
// the size of the cache in it, and leaves at most as much there that the memory gets later.
// If the size is not known, it is that of the largest cache that may be.
func (p *Peaks) Excess(t Totals, gpuNS int64) Excess {
	ns := float64(gpuNS)
	if t.Unit == operators.Matrix && t.FLOPs.Why == operators.Known && p.Known(t.Peak) && float64(t.FLOPs.N)/1e3 > p.Figures[t.Peak]*clockMargin*ns {
		return OverCompute
	}
	if t.Bytes.Why != operators.Known || !p.Known(t.Lane) || float64(t.Bytes.N) <= p.Figures[t.Lane]*ns {
		return NoExcess
	}
	cache := p.Cache
	if cache == 0 {
		cache = largestCache
	}
	if t.Lane == HBM && float64(t.Bytes.N)-2*cache*float64(t.Calls) <= p.Figures[HBM]*ns {
		return Cached
	}
	return OverMemory
}

// A Tally adds up matrix FLOPs by the rate that bounds them. FLOPs of types without a rate
// are under NoFigure.
type Tally [numFigures]int64

// PeakNS returns the time that the FLOPs take at their peaks, and whether all of them have
// one. It is 0 if none has. Divided by a time it is MFU or HFU; it adds up over GPUs and steps.
func (p *Peaks) PeakNS(t Tally) (ns float64, all bool) {
	all = true
	for f, n := range t {
		switch {
		case n == 0:
		case p.Known(Figure(f)):
			ns += float64(n) / p.Figures[f] / 1e3
		default:
			all = false
		}
	}
	return ns, all
}

// Utilization returns MFU or HFU: the time that FLOPs take at their peaks over the time that
// passed. It is not known without matrix FLOPs or without a peak, nor if a sum of FLOPs
// stopped at the limit of int64.
func (p *Peaks) Utilization(t Tally, wallNS int64) (share float64, ok bool) {
	ns, _ := p.PeakNS(t)
	if slices.Contains(t[:], math.MaxInt64) || ns == 0 || wallNS <= 0 {
		return 0, false
	}
	return ns / float64(wallNS), true
}

// Decode returns the bandwidth utilization of a decode step: the bytes that it must read
// and write, which are the weights once, the KV cache and what is added to it, over what the
// memory moves in the time.
func (p *Peaks) Decode(bytes, ns int64) (share float64, ok bool) {
	if !p.Known(HBM) || bytes <= 0 || ns <= 0 {
		return 0, false
	}
	return float64(bytes) / (p.Figures[HBM] * float64(ns)), true
}
