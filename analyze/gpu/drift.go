package gpu

import (
	"assay/analyze/limits"
	"assay/summary"
	"assay/trace"
)

// kernelRuns are the runs of one kernel with one launch configuration, by thirds of the window:
// their number, total ns and shortest ns.
type kernelRuns struct{ count, ns, least [3]int64 }

// driftOf compares the durations of identical compute kernels in the first third of a device's
// window with those in the rest. Kernels are identical if name, grid, block and registers are. It
// returns nil if no kernel runs often enough in all thirds.
func driftOf(tl *Timeline, d *Device) *summary.Drift {
	if limits.Implausible(d.Window) || d.Window.Len() < 3 {
		return nil
	}
	type key struct {
		name   trace.Sym
		detail trace.DetailID
	}
	type slot struct {
		key  key
		runs *kernelRuns
	}
	all := make(map[key]*kernelRuns)
	recent := make([]slot, 1<<10)
	third := d.Window.Len()/3 + 1
	for _, w := range d.Work {
		a := tl.Activity(w)
		if a.Kind != trace.Kernel || tl.Layer(a) != ComputeLayer || !tl.Starts(w) {
			continue
		}
		k := key{a.Name, a.Detail}
		s := &recent[(uint32(k.name)*31+uint32(k.detail))%uint32(len(recent))]
		if s.runs == nil || s.key != k {
			r := all[k]
			if r == nil {
				r = new(kernelRuns)
				all[k] = r
			}
			*s = slot{k, r}
		}
		at := (w.Start - d.Window.Start) / third
		if s.runs.count[at]++; s.runs.count[at] == 1 || a.Dur < s.runs.least[at] {
			s.runs.least[at] = a.Dur
		}
		s.runs.ns[at] += a.Dur
	}
	out, work := new(summary.Drift), int64(0)
	for k, r := range all {
		work = summary.Plus(work, summary.Plus(r.ns[1], r.ns[2]))
		if tl.Trace.Detail(k.detail).Grid[0] > 0 {
			r.addTo(out)
		}
	}
	// If most kernels have other launch configurations over time, the work is another one, and those
	// that always use the whole GPU take longer for it.
	if out.Kernels == 0 || out.NS < work-out.NS {
		return nil
	}
	return out
}

// addTo adds the kernel to a comparison, if it runs often enough in every third.
func (r *kernelRuns) addTo(out *summary.Drift) {
	const most = 1 << 40 // ns; larger sums could overflow below
	for i := range r.count {
		if r.count[i] < summary.DriftRuns || r.ns[i] <= 0 || r.ns[i] > most {
			return
		}
	}
	later, ns := r.count[1]+r.count[2], r.ns[1]+r.ns[2]
	expected := int64(float64(r.ns[0]) / float64(r.count[0]) * float64(later))
	out.Kernels++
	out.NS = summary.Plus(out.NS, ns)
	out.ExpectedNS = summary.Plus(out.ExpectedNS, expected)
	// A slower clock slows the shortest run too. If only some runs are long, it stays the same.
	if float64(r.least[2]) >= (1+summary.DriftShare)*float64(r.least[0]) && r.least[1] >= r.least[0] {
		out.SlowerNS = summary.Plus(out.SlowerNS, ns)
	}
	mean := func(i int) float64 { return float64(r.ns[i]) / float64(r.count[i]) }
	if mean(0) < mean(1) && mean(1) < mean(2) && r.least[0] < r.least[1] && r.least[1] < r.least[2] {
		out.SteadyNS = summary.Plus(out.SteadyNS, ns)
	}
}
