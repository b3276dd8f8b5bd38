package view

import (
	"slices"

	"assay/summary"
)

// TooFast reports whether twice the speed of a kernel would exceed its roofline, as far as the operators that
// launch it tell: those with a known roofline take half of its time or more, and last less than twice as long
// as their rooflines. fuses is true if that is the roofline of memory, which a fused kernel passes because it
// moves fewer bytes.
func (p *Followed) TooFast(kernel string) (tooFast, fuses bool) {
	var all, known, roofline, memory int64
	for i := range p.kernels() {
		if k := &p.summary.Kernels[i]; k.Name == kernel {
			all = summary.Plus(all, k.TotalNS)
		}
	}
	for _, r := range p.rooflines() {
		if r.Kernel == kernel {
			known, roofline = summary.Plus(known, r.GPUNS), summary.Plus(roofline, *r.RooflineNS)
			if r.Bound == summary.BoundMemory {
				memory = summary.Plus(memory, r.GPUNS)
			}
		}
	}
	return known > 0 && known >= all/2 && roofline > known/2, memory > known/2
}

// ComputeTooFast reports whether twice the speed of all compute would exceed the peak of the GPU: the
// arithmetic of the operators that it limits takes more than half of the time of all compute kernels.
func (p *Followed) ComputeTooFast() bool {
	var all, roofline int64
	for i := range p.kernels() {
		if k := &p.summary.Kernels[i]; k.Class == summary.ClassCompute.String() {
			all = summary.Plus(all, k.TotalNS)
		}
	}
	for _, r := range p.rooflines() {
		if r.Bound == summary.BoundCompute {
			roofline = summary.Plus(roofline, *r.RooflineNS)
		}
	}
	return all > 0 && roofline > all/2
}

// HasRoofline reports whether the roofline of operators that launch a kernel is known.
func (p *Followed) HasRoofline(kernel string) bool {
	return slices.ContainsFunc(p.rooflines(), func(r *summary.EfficiencyRow) bool { return r.Kernel == kernel })
}

func (p *Followed) kernels() []summary.Kernel {
	if p.summary == nil {
		return nil
	}
	return p.summary.Kernels
}

// rooflines returns the operators with a known roofline.
func (p *Followed) rooflines() (out []*summary.EfficiencyRow) {
	if p.summary == nil {
		return nil
	}
	for i := range p.summary.Efficiency.Rows {
		if r := &p.summary.Efficiency.Rows[i]; r.RooflineNS != nil && r.GPUNS > 0 {
			out = append(out, r)
		}
	}
	return out
}
