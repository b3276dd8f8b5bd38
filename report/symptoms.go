package report

import (
	"cmp"

	"assay/internal/label"
	"assay/judge/rule"
	"assay/report/doc"
	"assay/report/section"
)

// mostSymptoms is how many rows the table of symptoms has.
const mostSymptoms = 20

// symptoms returns the table of the symptoms that the findings of a run with logs have, as
// guides write it: what is seen, the numbers that show it, the usual cause, and what to do.
func symptoms(ctx *section.Context) doc.Section {
	if len(ctx.Series)+len(ctx.Groups) == 0 {
		return doc.Section{}
	}
	t := doc.Table{Title: "symptoms", Columns: []doc.Column{doc.Col("symptom", doc.Text), doc.Col("evidence", doc.Text), doc.Col("usual cause", doc.Text), doc.Col("next", doc.Text)}}
	for _, f := range ctx.Result.Findings {
		symptom, likely := rule.SymptomOf(f.Rule)
		if symptom == "" {
			continue
		}
		next := ""
		if len(f.Next) > 0 {
			next = rule.Text(f.Next[0])
		}
		t.Rows = append(t.Rows, doc.Row{Weight: 1, Cells: []string{doc.Capital(symptom), label.Clip(label.Clean(ctx.Below(f.Title)), 120), doc.Capital(likely), cmp.Or(label.Clip(next, 220), "–")}})
	}
	if len(t.Rows) == 0 {
		return doc.Section{}
	}
	return doc.Section{Title: "Symptoms", Lead: "of the findings on this run; \"assay explain RULE\" has the limits", Blocks: []doc.Block{t.Cut(mostSymptoms)}}
}
