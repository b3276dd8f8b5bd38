package whatif

import (
	"fmt"
	"strconv"

	"assay/analyze/operations"
	"assay/analyze/whatif"
	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/doc"
	"assay/summary"
)

// mostParts is how many workers, stages, ranks or operations a screen lists of each.
const mostParts = 3

// operations returns the sections of a timeline of operations.
func (v *view) operations(o *whatif.OfOperations, all bool) (out []doc.Section) {
	s := doc.Section{Title: "Slow workers in " + label.Clip(label.Clean(o.Path), 60)}
	if o.Verdict == summary.Withheld {
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

// negotiations returns the section of the waits of Horovod.
func negotiations(n *whatif.OfNegotiations) doc.Section {
	s := doc.Section{Title: fmt.Sprintf("Waiting before collectives: %s (%s of %s)", unit.Duration(n.WaitNS), unit.Share(n.WaitNS, n.SpanNS),
		unit.Duration(n.SpanNS))}
	s.Lead = fmt.Sprintf("time in which a collective was negotiated: a rank was ready and another was not; in %d of %s it is known which rank came last",
		n.Told, label.Plural(int64(n.Count), "negotiation"))
	var longest int64
	for _, r := range n.ByRank {
		longest = max(longest, r.AloneNS, r.WaitNS)
	}
	scale := doc.ScaleOf(longest)
	t := doc.Table{Title: "ranks", Columns: []doc.Column{doc.Col(scale.Head("waited for it alone"), doc.Number), doc.Col("came last in", doc.Number),
		doc.Col("of", doc.Number), doc.Col(scale.Head("own wait"), doc.Number), doc.Col("rank", doc.Text)}}
	for _, r := range n.ByRank {
		t.Rows = append(t.Rows, doc.Row{Cells: []string{scale.Text(r.AloneNS), unit.Count(int64(r.Last)), unit.Count(int64(n.Told)),
			scale.Text(r.WaitNS), strconv.Itoa(r.Rank)}})
	}
	if len(t.Rows) > 0 {
		s.Blocks = []doc.Block{t}
	}
	return s
}
