package analyze_test

import (
	"cmp"
	"path/filepath"
	"slices"
	"testing"

	"assay/analyze/efficiency/operators"
	"assay/internal/test"
	"assay/trace"
)

// TestGridOracle compares the bytes that the grids of elementwise kernels tell with those of
// the formulas, for all calls of the corpus that have shapes and launched one kernel: they
// differ by less than the bytes of a block. This is what justifies the table of block sizes.
func TestGridOracle(t *testing.T) {
	root := test.Corpus(t, "kineto", "hta")
	compared := map[string]int{}
	for _, path := range []string{"timeline_analysis/sampled_rank-0.json.gz", "trace_diff/control/control.json.gz", "trace_diff/test/test.json.gz"} {
		tr := load(t, filepath.Join(root, filepath.FromSlash(path))).Trace
		for op, kernels := range launchedBy(tr) {
			if len(kernels) != 1 {
				continue
			}
			a := kernels[0]
			s, name, d := tr.Shape(op.Shape), tr.Name(a.Name), tr.Detail(a.Detail)
			m := operators.Lookup(tr.Name(op.Name))
			estimate, told := operators.GridOf(name).Bytes(d.Grid, d.Block)
			if m == nil || !told {
				continue
			}
			c := operators.ParseCall(tr.Name(op.Name), tr.Name(s.Dims), tr.Name(s.Types), tr.Name(s.Strides), tr.Name(s.Concrete))
			c.Kernel = name
			w, ok := m.Work(&c)
			if !ok || w.Bytes.Why != operators.Known || w.Bytes.N == 0 || converted(&c) {
				continue
			}
			compared[tr.Name(op.Name)]++
			if block := estimate / d.Grid[0]; w.Bytes.N > estimate || estimate-w.Bytes.N >= block {
				t.Errorf("%s: %s of %s: %d bytes, the grid %v of %s tells %d", path, c.Op, tr.Name(s.Dims), w.Bytes.N, d.Grid, name, estimate)
			}
		}
	}
	total := 0
	for _, n := range compared {
		total += n
	}
	t.Logf("%d calls: %v", total, compared)
	if total < 1000 || len(compared) < 10 {
		t.Errorf("%d calls of %d operators were compared", total, len(compared))
	}
}

// converted reports whether the result of a product of bools is a tensor of another type, which
// old captures have as the first argument: a second kernel copies into it.
func converted(c *operators.Call) bool {
	return c.Op == "aten::mul" && len(c.Args) == 3 && c.Args[0].Type != "bool" && c.Args[2].Type == "bool"
}

// launchedBy returns the GPU work by the innermost operator that was open at its launch.
func launchedBy(tr *trace.Trace) map[*trace.Op][]*trace.Activity {
	work := map[trace.ID][]*trace.Activity{}
	for a := range tr.Activities.All() {
		work[a.Correlation] = append(work[a.Correlation], a)
	}
	ops := map[trace.TrackID][]*trace.Op{}
	for op := range tr.Ops.All() {
		ops[op.Track] = append(ops[op.Track], op)
	}
	for _, list := range ops {
		slices.SortStableFunc(list, func(a, b *trace.Op) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.Dur, a.Dur)) })
	}
	out := map[*trace.Op][]*trace.Activity{}
	for c := range tr.Calls.All() {
		list := ops[c.Track]
		at, _ := slices.BinarySearchFunc(list, c.Start+1, func(op *trace.Op, ns int64) int { return cmp.Compare(op.Start, ns) })
		for at--; at >= 0 && list[at].Start+list[at].Dur <= c.Start; at-- {
		}
		if at >= 0 && len(work[c.Correlation]) > 0 {
			out[list[at]] = append(out[list[at]], work[c.Correlation]...)
		}
	}
	return out
}
