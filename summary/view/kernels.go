package view

import (
	"cmp"
	"slices"

	"assay/internal/label"
	"assay/summary"
)

// A Kernel is every run of the kernels of one name, class and category, over all
// devices, streams and operators.
type Kernel struct {
	Name, Class, Category string
	Count, Total          int64
	Min, Max              int64
	Streams               map[int64]bool
	Ops                   map[string]int64 // work by launching operator
}

// Kernels adds up the kernels of s and returns them by falling total, then
// by name and class.
func Kernels(s *summary.Summary) []Kernel {
	out := Group(s.Kernels, func(k *summary.Kernel) [3]string { return [3]string{k.Name, k.Class, k.Category} }, func(k *summary.Kernel) Kernel {
		return Kernel{
			Name: k.Name, Class: k.Class, Category: label.Clip(label.Clean(k.Category), 24),
			Min: k.MinNS, Streams: map[int64]bool{}, Ops: map[string]int64{},
		}
	}, func(sum *Kernel, k *summary.Kernel) {
		sum.Count = summary.Plus(sum.Count, k.Count)
		sum.Total = summary.Plus(sum.Total, k.TotalNS)
		sum.Min = min(sum.Min, k.MinNS)
		sum.Max = max(sum.Max, k.MaxNS)
		sum.Streams[k.Stream] = true
		sum.Ops[k.Op] = summary.Plus(sum.Ops[k.Op], k.TotalNS)
	})
	slices.SortFunc(out, func(a, b Kernel) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Class, b.Class), cmp.Compare(a.Category, b.Category))
	})
	return out
}
