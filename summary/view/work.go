package view

import (
	"slices"

	"assay/summary"
	"assay/summary/row"
)

// GPUWork returns the sum of the durations of all GPU operations in s, in ns. It is the denominator of the
// GPU times of operators, modules, lines and annotations.
func GPUWork(s *summary.Summary) (ns int64) {
	for _, k := range s.Kernels {
		ns += max(0, k.TotalNS)
	}
	for _, c := range s.Copies {
		ns += max(0, c.TotalNS)
	}
	return ns
}

// HasGPUTime reports whether a table of operators, modules, lines or annotations has any GPU time.
func HasGPUTime(t *row.Table) bool {
	return slices.ContainsFunc(t.Rows, func(r row.Row) bool { return t.Number(&r, "self") > 0 || t.Number(&r, "total") > 0 })
}
