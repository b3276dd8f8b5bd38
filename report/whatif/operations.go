package whatif

import (
	"fmt"
	"strconv"

	"assay/analyze/operations"
	"assay/analyze/whatif"
	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/doc"
)

// mostParts is how many workers, stages, ranks or operations a screen lists of each.
const mostParts = 3

// operations returns the sections of a timeline of operations.
func (v *view) operations(o *whatif.OfOperations, all bool) (out []doc.Section) {
	s := doc.Section{Title: "Slow workers in " + label.Clip(label.Clean(o.Path), 60)}
	if o.Verdict == withheld {
		s.Lead = "withheld: " + reasons(o.Reasons)
		return []doc.Section{s}
	}
	s.Title = fmt.Sprintf("Slow workers: a step takes %s, %.3f times the %s with typical operations",
		unit.Duration(o.ReplayedNS), o.Slowdown, unit.Duration(o.TypicalNS))
	s.Lead = "mean of " + label.Plural(int64(o.Steps), "step") + "; typical is the mean of computations and the median of communication of the same name"
	scale := doc.ScaleOf(o.ReplayedNS)
	lists := [][]operations.Part{o.ByWorker, o.ByStage, o.ByRank, o.ByOperation}
	for i, of := range []string{"worker", "stage", "replica", "operation"} {
		t := doc.Table{Title: of + "s", Columns: []doc.Column{doc.Col("slowdown alone", doc.Number), doc.Col(scale.Head("saved"), doc.Number),
			doc.Col("change", doc.Number), doc.Col(of, doc.Text)}}
		for _, p := range lists[i] {
			if !all && len(t.Rows) == mostParts {
				t.More.Rows = len(lists[i]) - mostParts
				break
			}
			t.Rows = append(t.Rows, doc.Row{Cells: []string{strconv.FormatFloat(p.Slowdown, 'f', 3, 64), scale.Text(p.SavedNS),
				change(o.ReplayedNS, o.ReplayedNS-p.SavedNS), p.Name}})
		}
		if len(t.Rows) > 0 {
			s.Blocks = append(s.Blocks, t)
		}
	}
	s.Blocks = append(s.Blocks, doc.Paragraph{Text: "Slowdown alone: only these operations take as long as recorded, all others are typical. Saved: only these are typical."})
	if len(o.Reasons) > 0 {
		s.Blocks = append(s.Blocks, doc.Paragraph{Text: "Read with care: " + reasons(o.Reasons) + "."})
	}
	if o.Change != "" {
		out = append(out, doc.Section{Title: "With " + label.Clip(label.Clean(o.Change), 120), Blocks: []doc.Block{doc.Paragraph{
			Text: fmt.Sprintf("A step takes %s instead of %s (%s).", unit.Duration(o.ForecastNS), unit.Duration(o.ReplayedNS), change(o.ReplayedNS, o.ForecastNS))}}})
	}
	return append([]doc.Section{s}, out...)
}
