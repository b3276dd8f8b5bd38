package logs

import (
	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/doc"
	"assay/report/section"
	"assay/summary/view"
)

// Maximum numbers of rows of the table.
const (
	screenServices = 6
	mostServices   = 60
)

// services returns the metrics that several logs of one program combine to.
func services(ctx *section.Context, most int) doc.Section {
	t := doc.Table{Title: "metrics", Columns: []doc.Column{doc.Col("metric", doc.Text), doc.Col("of", doc.Text),
		doc.Col("logs", doc.Number), doc.Col("together", doc.Number), doc.Col("how", doc.Text)}}
	for _, g := range view.Services(ctx.Summary) {
		of, how := unit.None, "sum of the medians"
		if g.Phase != "" {
			of = "phase=" + g.Phase
		}
		if g.Pool != "sum" {
			how = "worst median"
		}
		t.Rows = append(t.Rows, doc.Row{Weight: 1, Cells: []string{label.Clip(label.Clean(g.Metric), 40),
			label.Clip(label.Clean(of), 40), unit.Count(int64(len(g.Inputs))), Value(&g.Value, g.Unit), how}})
	}
	if len(t.Rows) == 0 {
		return doc.Section{}
	}
	return doc.Section{Title: "All logs together", Lead: "logs of one program, as replicas of a server",
		Blocks: []doc.Block{t.Cut(most)}}
}
