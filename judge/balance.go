package judge

import (
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
	"assay/summary/view"
)

// A Balance is why the resource of a verdict, twice as fast, shortens a step by less than a quarter of the
// resource's share: another one is busy at the same time.
type Balance struct {
	Own, Other *summary.Forecast // the verdict's resource twice as fast, and the other one; Other may be nil
	OtherPath  bool              // the path of the step runs mostly on the other one
	Neither    bool              // and the other one alone gives little as well
}

// The changes that make the GPU and the CPU twice as fast.
const (
	fasterGPU = "--scale class:compute=0.5"
	fasterCPU = "--host 2x"
)

// BalanceOf returns the balance of the typical step, or nil if the resource of the verdict gives as much as its
// share promises, or if what it gives is not known.
func (r Result) BalanceOf(p *view.Followed) *Balance {
	c := &p.Classes
	cpu, gpu := c.HostOp+c.Python+c.HostGap+c.Runtime, c.Compute
	b := &Balance{Own: p.Forecast(fasterGPU), Other: p.Forecast(fasterCPU), OtherPath: 2*cpu > p.WindowNS}
	own, other := valueOf(r, rule.ComputeBound), cpu
	switch r.Verdict.Bound {
	case finding.BoundCompute, finding.BoundMemory, finding.BoundGPU:
		// the share of the window in which the GPU computes, whatever limits its kernels
	case finding.BoundHost:
		own, other = valueOf(r, r.Verdict.Rule), gpu
		b.Own, b.Other, b.OtherPath = b.Other, b.Own, 2*gpu > p.WindowNS
	default:
		return nil
	}
	if b.Own == nil || b.Own.ForecastNS == nil || float64(b.Own.Gain()) >= own*float64(p.WindowNS)/4 {
		return nil
	}
	b.Neither = b.OtherPath && b.Other != nil && b.Other.ForecastNS != nil && 4*b.Other.Gain() < other
	return b
}

// valueOf returns the share that the finding of a rule has, or 0.
func valueOf(r Result, id string) float64 {
	for i := range r.Findings {
		if f := &r.Findings[i]; f.Rule == id {
			return f.Value
		}
	}
	return 0
}
