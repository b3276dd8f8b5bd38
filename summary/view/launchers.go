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

// A LauncherSet adds launchers up by name.
type LauncherSet struct {
	index map[string]int
	list  []Launcher
}

// Add adds r to the launcher of its name.
func (set *LauncherSet) Add(r Launcher) {
	if set.index == nil {
		set.index = map[string]int{}
	}
	i, ok := set.index[r.Name]
	if !ok {
		i = len(set.list)
		set.index[r.Name] = i
		set.list = append(set.list, Launcher{Name: r.Name})
	}
	sum := &set.list[i]
	sum.Count, sum.Launched = summary.Plus(sum.Count, r.Count), summary.Plus(sum.Launched, r.Launched)
	sum.Self, sum.Total = summary.Plus(sum.Self, r.Self), summary.Plus(sum.Total, r.Total)
	sum.CPU, sum.Backward = summary.Plus(sum.CPU, r.CPU), summary.Plus(sum.Backward, r.Backward)
	sum.Shapes = append(sum.Shapes, r.Shapes...)
}

// BySelf returns the launchers by falling self time, then total and name.
func (set *LauncherSet) BySelf() []Launcher {
	slices.SortFunc(set.list, func(a, b Launcher) int {
		return cmp.Or(cmp.Compare(b.Self, a.Self), cmp.Compare(b.Total, a.Total), cmp.Compare(a.Name, b.Name))
	})
	return set.list
}

// Ops returns the operators of s, those with the most GPU time of their own
// first.
func Ops(s *summary.Summary) []Launcher {
	var set LauncherSet
	for _, r := range s.Ops {
		set.Add(Launcher{
			Name: r.Name, Count: r.Count, Self: r.GPUSelfNS, Total: r.GPUTotalNS, CPU: r.CPUSelfNS, Launched: r.Launched, Shapes: r.TopShapes,
		})
	}
	return set.BySelf()
}

// Modules returns the modules of s by their paths, in that order of self
// time.
func Modules(s *summary.Summary) []Launcher {
	var set LauncherSet
	for _, r := range s.Modules {
		set.Add(Launcher{Name: r.Path, Count: r.Count, Self: r.GPUSelfNS, Total: r.GPUTotalNS, CPU: r.CPUTotalNS, Backward: r.BackwardNS})
	}
	return set.BySelf()
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
