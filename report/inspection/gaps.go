package inspection

import (
	"fmt"
	"strings"

	"assay/analyze/inspect"
	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/doc"
	"assay/report/words"
)

// gap returns the sections about one gap.
func (v *view) gap(g *inspect.Gap) []doc.Section {
	title := fmt.Sprintf("GPU gap %d, %s%s", g.Number, v.placed(g.GPU), v.in())
	lead := fmt.Sprintf("%s at %s ms (ts %s)", unit.FineDuration(g.NS), at(g.AtNS), unit.Timestamp(g.StartNS))
	if g.Step != nil {
		lead += ", in " + name(g.Step.Name)
	}
	list := doc.List{{Mark: "before", Text: workText(g.Before)}, {Mark: "after", Text: workText(g.After)}}
	if l := g.Launch; l != nil {
		list = append(list, doc.Item{Mark: "launch",
			Text: fmt.Sprintf("%s on %s, called at %s ms, %s before the operation starts", name(l.Call), name(l.Thread),
				at(l.AtNS), unit.FineDuration(l.DelayNS))})
	} else if g.After != nil {
		list = append(list, doc.Item{Mark: "launch", Text: "not recorded"})
	}
	return []doc.Section{{Title: title, Lead: lead, Blocks: []doc.Block{list}}, causes(g), during(g)}
}

func workText(w *inspect.Work) string {
	if w == nil {
		return "nothing"
	}
	return fmt.Sprintf("%s (%s, stream %d)", kernel(w.Name), unit.FineDuration(w.NS), w.Stream)
}

// causes lists the causes of a gap.
func causes(g *inspect.Gap) doc.Section {
	var list doc.List
	for _, c := range g.Causes {
		list = append(list, doc.Item{Mark: unit.Share(c.NS, g.NS),
			Text: words.Cause(c.Owner, c.State, c.Name) + ": " + unit.FineDuration(c.NS)})
	}
	if len(list) == 0 {
		return doc.Section{}
	}
	return doc.Section{Title: "Cause", Lead: "% of the gap", Blocks: []doc.Block{list}}
}

// during lists what the launching thread did in a gap.
func during(g *inspect.Gap) doc.Section {
	if len(g.Around)+len(g.Inside) == 0 {
		return doc.Section{}
	}
	var blocks []doc.Block
	if len(g.Around) > 0 {
		blocks = append(blocks, doc.Paragraph{Text: "Open all the time: " + openText(g.Around)})
	}
	t := doc.Table{Title: "events", Columns: []doc.Column{doc.Col("time", doc.Number),
		doc.Col("% of the gap", doc.Number), doc.Col("count", doc.Number), doc.Col("event", doc.Name)}}
	spanRows(&t, g.Inside, g.NS, 0)
	if len(t.Rows) > 0 {
		blocks = append(blocks, t)
	}
	lead := "longest first"
	if g.Launch != nil {
		lead = name(g.Launch.Thread) + ", longest first"
	}
	return doc.Section{Title: "The launching thread in the gap", Lead: lead, Blocks: blocks}
}

// spanRows adds rows for spans and, indented, for the spans nested in them. of is the denominator of the
// shares, in ns.
func spanRows(t *doc.Table, spans []inspect.Span, of int64, depth int) {
	for _, s := range spans {
		t.Rows = append(t.Rows, doc.Row{Cells: []string{unit.FineDuration(s.NS), unit.Share(s.NS, of), unit.Count(s.Count),
			strings.Repeat("· ", depth) + s.Name}})
		spanRows(t, s.In, of, depth+1)
	}
}

// openText joins the names of open events, outer to inner.
func openText(open []inspect.Span) string {
	const shown = 6
	var parts []string
	if more := len(open) - shown; more > 0 {
		parts, open = append(parts, fmt.Sprintf("(%d more)", more)), open[more:]
	}
	for _, s := range open {
		parts = append(parts, label.Clip(label.Clean(s.Name), 50))
	}
	return strings.Join(parts, " > ")
}
