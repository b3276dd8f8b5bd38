package tables

import (
	"fmt"
	"strings"
	"testing"

	"assay/judge/rule"
	"assay/judge/tree"
	"assay/summary"
)

const ms = 1_000_000 // ns

// A sumRow is a row of a table of kernels or copies: a name, its class and category, then
// ns and how often.
type sumRow struct {
	name, class string
	ns, runs    int64
}

// tableOf makes a table of rows.
func tableOf(of, name string, rows ...sumRow) summary.Table {
	t := summary.Table{Tool: "nsys", Name: name, Of: of, Columns: []summary.TableColumn{
		{Name: "count", Unit: "count", Adds: summary.AddsSelf}, {Name: "total", Unit: "ns", Adds: summary.AddsSelf}, {Name: "max", Unit: "ns", Adds: summary.AddsEach},
	}}
	for _, r := range rows {
		row := summary.TableRow{Name: r.name, Values: []*int64{&r.runs, &r.ns, nil}}
		row.Class, row.Category, _ = strings.Cut(r.class, " ")
		t.Rows = append(t.Rows, row)
	}
	return t
}

// tablesOf returns a summary of tables, with an input for each number that they name.
func tablesOf(tables ...summary.Table) *summary.Summary {
	s := &summary.Summary{Inputs: []summary.Input{{Path: "stats.txt"}}}
	for _, t := range tables {
		for len(s.Inputs) <= t.Input {
			s.Inputs = append(s.Inputs, summary.Input{Path: fmt.Sprintf("stats%d.txt", len(s.Inputs))})
		}
		s.Tables = append(s.Tables, t)
	}
	return s
}

// TestTableRuns: tables of one run, in one input or in several, are compared with
// each other; those of two runs are not, though both are called the same.
func TestTableRuns(t *testing.T) {
	kernels := func(in int, run string) summary.Table {
		t := tableOf(summary.OfKernel, "cuda_gpu_kern_sum", sumRow{"a", "compute gemm", 50 * ms, 9}, sumRow{"b", "compute gemm", 50 * ms, 9})
		t.Input, t.Run = in, run
		return t
	}
	copies := func(in int, run string) summary.Table {
		t := tableOf(summary.OfCopy, "cuda_gpu_mem_time_sum", sumRow{"[CUDA memcpy HtoD]", "copy", 100 * ms, 9})
		t.Input, t.Run = in, run
		return t
	}
	for name, tc := range map[string]struct {
		s       *summary.Summary
		den     int64 // of copies against all work
		runs    int
		kernels int64
	}{
		"one input":                         {tablesOf(kernels(0, ""), copies(0, "")), 200 * ms, 1, 100 * ms},
		"two inputs of one run":             {tablesOf(kernels(0, "base"), copies(1, "base")), 200 * ms, 1, 100 * ms},
		"two inputs, nothing known":         {tablesOf(kernels(0, ""), copies(1, "")), 0, 2, 100 * ms},
		"two runs in one input":             {tablesOf(kernels(0, "one"), copies(0, "two")), 0, 2, 100 * ms},
		"two runs of one name":              {tablesOf(kernels(0, "report1"), copies(0, "report1"), kernels(1, "report1"), copies(1, "report1")), 400 * ms, 2, 200 * ms},
		"the same report twice in one file": {tablesOf(kernels(0, ""), kernels(0, ""), copies(0, "")), 200 * ms, 1, 100 * ms},
	} {
		c := New(tree.NewContext(tc.s, rule.DefaultThresholds()))
		c.Rows = c.Rules()
		runs := c.tableRuns()
		work := int64(0)
		for _, r := range runs {
			work += r.kernels.ns
		}
		if len(runs) != tc.runs || work != tc.kernels {
			t.Errorf("%s: %d runs with %d ns of kernels, want %d and %d", name, len(runs), work, tc.runs, tc.kernels)
		}
		den := int64(0)
		for _, f := range c.Judge(nil).Findings {
			if f.Rule == rule.CopyWork {
				den = f.DenominatorNS
			}
		}
		if den != tc.den {
			t.Errorf("%s: copies are held against %d, want %d", name, den, tc.den)
		}
	}
	other := tablesOf(kernels(0, "base"), copies(1, "base"))
	other.Inputs[1].Path = "elsewhere/stats.txt"
	if n := len(New(tree.NewContext(other, rule.DefaultThresholds())).tableRuns()); n != 2 {
		t.Errorf("tables of two directories are of %d runs", n)
	}
}

// TestTablePicks: a run's kernels may be in several tables, and count once.
func TestTablePicks(t *testing.T) {
	mixed := tableOf(summary.OfDeviceOp, "cuda_gpu_sum", sumRow{"a", "compute gemm", 7 * ms, 7}, sumRow{"[CUDA memset]", "memset", 3 * ms, 3})
	nested := tableOf(summary.OfKernel, "nvtx_kern_sum", sumRow{"a", "compute gemm", 99 * ms, 7})
	nested.Columns[1].Adds = summary.AddsTotal
	only := tableOf(summary.OfKernel, "cuda_gpu_kern_sum", sumRow{"a", "compute gemm", 6 * ms, 6})
	left, runs := int64(4*ms), int64(4)
	only.Left, only.Rest = 2, []*int64{&runs, &left, nil}
	for name, tc := range map[string]struct {
		tables                  []summary.Table
		kernels, runs, nsCopies int64
	}{
		"mixed alone": {[]summary.Table{mixed}, 7 * ms, 7, 3 * ms},
		"both":        {[]summary.Table{mixed, only}, 10 * ms, 10, 3 * ms},
		"ranges":      {[]summary.Table{nested}, 0, 0, 0},
		"all":         {[]summary.Table{nested, mixed, only}, 10 * ms, 10, 3 * ms},
	} {
		r := New(tree.NewContext(tablesOf(tc.tables...), rule.DefaultThresholds())).tableRuns()[0]
		if r.kernels.ns != tc.kernels || r.kernels.runs != tc.runs || r.copies.ns != tc.nsCopies {
			t.Errorf("%s: kernels %d ns in %d runs, copies %d ns, want %+v", name, r.kernels.ns, r.kernels.runs, r.copies.ns, tc)
		}
	}
}
