package samplerun

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"assay/compare"
	"assay/summary"
)

// Comparisons compares every pair of sample runs with GPU time or tables, by force,
// and repeated runs.
func Comparisons(t *testing.T) map[string]*compare.Comparison {
	t.Helper()
	out := map[string]*compare.Comparison{}
	all := All()
	names := slices.Sorted(maps.Keys(all))
	for i, a := range names {
		for _, b := range []string{names[(i+1)%len(names)], names[(i+3)%len(names)], a} {
			out[a+" and "+b] = Compared(t, all[a], all[b])
		}
	}
	train := Train()
	out["repeated"] = Compared(t, summary.Merge(train, again(train, 1)), summary.Merge(Slower(), again(train, 2), again(Slower(), 3)))
	out["training"] = Compared(t, train, Slower())
	return out
}

// Compared compares two runs, comparable or not.
func Compared(t *testing.T, a, b *summary.Summary) *compare.Comparison {
	t.Helper()
	c, err := compare.Summaries(a, b, compare.Options{Force: true})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// again returns the n-th other recording of a run: the same measurements, from files
// with other content.
func again(s *summary.Summary, n int) *summary.Summary {
	s = summary.Merge(s)
	for i := range s.Inputs {
		s.Inputs[i].SHA256 = fmt.Sprintf("%02d", n) + s.Inputs[i].SHA256[2:]
	}
	return s
}

// Slower is the training run with a tenth more of idle time in each step, and
// kernels of another name that take half as long again.
func Slower() *summary.Summary {
	s := summary.Merge(Train())
	for i := range s.Steps {
		st := &s.Steps[i]
		st.Activity[0] += st.WallNS / 10
		st.WallNS += st.WallNS / 10
	}
	for i := range s.Kernels {
		if k := &s.Kernels[i]; k.Category == "gemm" {
			k.Name += "_2"
			k.TotalNS += k.TotalNS / 2
		}
	}
	return s
}
