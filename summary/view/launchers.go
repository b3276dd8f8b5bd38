package view

import (
	"cmp"
	"slices"

	"assay/summary"
)

// A Launcher is what device work came from: every run of one operator, module,
// source line or annotation, over all inputs.
type Launcher struct {
	Places      int // of modules: how many this row stands for
	Name        string
	Count       int64
	Self, Total int64 // GPU time
	CPU         int64 // host time: of operators self, of others total
	Launched    int64
	Backward    int64
	Shapes      []summary.OpShape
}

// Launchers adds rows up by the names of their launchers, and returns these by
// falling self time, then total and name.
func Launchers[R any](rows []R, launcher func(R) Launcher) []Launcher {
	all := make([]Launcher, len(rows))
	for i, r := range rows {
		all[i] = launcher(r)
	}
	out := Group(all, func(l *Launcher) string { return l.Name }, func(l *Launcher) Launcher { return Launcher{Name: l.Name} }, func(sum, l *Launcher) {
		sum.Count, sum.Launched = summary.Plus(sum.Count, l.Count), summary.Plus(sum.Launched, l.Launched)
		sum.Self, sum.Total = summary.Plus(sum.Self, l.Self), summary.Plus(sum.Total, l.Total)
		sum.CPU, sum.Backward = summary.Plus(sum.CPU, l.CPU), summary.Plus(sum.Backward, l.Backward)
		sum.Shapes = append(sum.Shapes, l.Shapes...)
	})
	slices.SortFunc(out, func(a, b Launcher) int {
		return cmp.Or(cmp.Compare(b.Self, a.Self), cmp.Compare(b.Total, a.Total), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// Ops returns the operators of s, those with the most GPU time of their own
// first.
func Ops(s *summary.Summary) []Launcher {
	return Launchers(s.Ops, func(r summary.Op) Launcher {
		return Launcher{Name: r.Name, Count: r.Count, Self: r.GPUSelfNS, Total: r.GPUTotalNS, CPU: r.CPUSelfNS, Launched: r.Launched, Shapes: r.TopShapes}
	})
}

// Modules returns the modules of s by their paths, in that order of self
// time.
func Modules(s *summary.Summary) []Launcher {
	return Launchers(s.Modules, func(r summary.Module) Launcher {
		return Launcher{Name: r.Path, Count: r.Count, Self: r.GPUSelfNS, Total: r.GPUTotalNS, CPU: r.CPUTotalNS, Backward: r.BackwardNS}
	})
}

// GPUWork returns the sum of the durations of all device work of s: what GPU
// times of launchers are parts of.
func GPUWork(s *summary.Summary) (ns int64) {
	for _, k := range s.Kernels {
		ns = summary.Plus(ns, max(0, k.TotalNS))
	}
	for _, c := range s.Copies {
		ns = summary.Plus(ns, max(0, c.TotalNS))
	}
	return ns
}

// SelfTime returns the self time of all. A negative one, which only a damaged
// summary has, takes nothing from the others.
func SelfTime(list []Launcher) (ns int64) {
	for _, l := range list {
		ns = summary.Plus(ns, max(0, l.Self))
	}
	return ns
}

// HasGPUTime reports whether any GPU time is known for the launchers.
func HasGPUTime(list []Launcher) bool {
	return slices.ContainsFunc(list, func(l Launcher) bool { return l.Self > 0 || l.Total > 0 })
}
