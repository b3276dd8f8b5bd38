package efficiency

import (
	"fmt"
	"strings"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/doc"
	"assay/report/section"
	"assay/summary/view/efficiency"
)

// maxCounted is the maximum number of operators with counters in the report.
const maxCounted = 15

// counted compares formulas with the hardware counters of the same launches.
func counted(ctx *section.Context) doc.Section {
	list := efficiency.WithCounters(ctx.Summary)
	if len(list) == 0 {
		return doc.Section{}
	}
	t := doc.Table{Title: "operators with counters", Columns: []doc.Column{
		doc.Col("operator", doc.Name), doc.Col("input shapes", doc.Name), doc.Col("calls", doc.Number),
		doc.Col("launches counted", doc.Number),
		doc.Col("GFLOP formula", doc.Number), doc.Col("GFLOP counters", doc.Number), doc.Col("MB formula", doc.Number),
		doc.Col("MB DRAM counters", doc.Number), doc.Col("differ", doc.Text), doc.Col("kernel", doc.KernelName),
	}}
	differ := 0
	for i := range list {
		c := &list[i]
		var what []string
		if efficiency.Differ(c.FLOPs, c.CountedFLOPs, efficiency.FLOPsMargin) {
			what = append(what, "FLOPs")
		}
		if efficiency.Differ(c.Bytes, c.CountedBytes, efficiency.BytesMargin) {
			what = append(what, "bytes")
		}
		if what != nil {
			differ++
		}
		t.Rows = append(t.Rows, doc.Row{Weight: int64(len(list) - i), Cells: []string{
			c.Op, efficiency.DimsText(c.Dims), unit.Count(c.Calls), unit.Count(c.Launches), perCall(c.FLOPs, 1e9),
			perCall(c.CountedFLOPs, 1e9),
			perCall(c.Bytes, 1e6), perCall(c.CountedBytes, 1e6), strings.Join(what, ", "), c.Kernel,
		}})
	}
	lead := "This run has hardware counters of " + label.Plural(int64(len(list)),
		"operator") + " (same kernel, grid and block). "
	if differ == 0 {
		lead += fmt.Sprintf("Formulas and counters agree: FLOPs within %.0f%%, bytes within %.0f%%.",
			100*efficiency.FLOPsMargin, 100*efficiency.BytesMargin)
	} else {
		lead += fmt.Sprintf("%d differ from the formula by more than %.0f%% (FLOPs) or %.0f%% (bytes).", differ,
			100*efficiency.FLOPsMargin, 100*efficiency.BytesMargin)
	}
	t.Note = "Per call. Formula: each input and output once. Counters: operations of tensor cores (or of other cores), and bytes of DRAM. " +
		"Bytes are fewer if the L2 cache has the data."
	return doc.Section{Title: "Formulas and hardware counters", Lead: lead,
		Blocks: []doc.Block{t.Cut(maxCounted).WithoutEmpty()}}
}

// perCall prints a number per call, or "" if it is unknown.
func perCall(n *float64, scale float64) string {
	if n == nil {
		return ""
	}
	return figure(*n/scale, true)
}
