// Package diff makes the document of a comparison of two runs.
package diff

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/compare"
	"assay/compare/phases"
	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/doc"
	"assay/report/pictures"
	"assay/report/plot"
	"assay/report/words"
	"assay/summary/view"
)

// The largest numbers of rows of a comparison on the screen and in the report.
const (
	screenMovers  = 5
	screenRemarks = 4
	screenColumns = 2 // of a table of totals
	screenPhases  = 10
	screenRanks   = 8
	screenLayers  = 2
	maxRanks      = 64
	screenMetrics = 12
	screenResults = 3
	screenFigures = 10
	maxMovers     = 40
	maxMetrics    = 200
)

// A differ makes the sections of one comparison.
type differ struct {
	*compare.Comparison
	charts map[string]plot.Chart

	baseName, newName string
}

// Doc makes the document of a comparison, and its pictures in the order of their places.
// The document shares the memory of the comparison.
func Doc(c *compare.Comparison) (doc.Doc, []plot.Chart) {
	b := &differ{Comparison: c, charts: map[string]plot.Chart{}}
	b.baseName, b.newName = sideNames(c.Base, c.New)
	charts := pictures.OfComparison(c)
	for _, chart := range charts {
		b.charts[chart.File()] = chart
	}
	d := doc.Doc{Title: "Comparison: " + b.baseName + " → " + b.newName}
	d.Screen = doc.Present(slices.Concat([]doc.Section{b.screenHead(), b.sides(screenRemarks), b.leadingSteps(),
		b.screenRanks(screenRanks), b.screenBudget(), b.stepKinds(), b.layers(screenLayers), b.screenEstimates()},
		b.movers(screenMovers, true), b.results(screenResults, screenFigures,
			true), []doc.Section{b.metrics(screenMetrics, true)}, b.sums(screenMovers, screenColumns))...)
	d.Sections = doc.Present(slices.Concat([]doc.Section{b.remarks(), b.hostSteps(maxMovers), b.ranks(maxRanks, 4),
		b.budget(), b.cells(), b.estimates(), b.steps(), stepKindTable(b.StepKinds)},
		b.movers(maxMovers, false), []doc.Section{layerTable(b.Layers), b.efficiency(), b.shapes(), b.figures()},
		b.results(maxMovers, maxMovers, false), []doc.Section{b.metrics(maxMetrics, false)},
		b.sums(maxMovers, maxMovers), []doc.Section{b.copies()})...)
	d.Brief = b.brief()
	return d, doc.InPlace(charts, d.Sections)
}

// screenHead returns the headline.
func (b *differ) screenHead() doc.Section {
	return doc.Section{Title: "What changed", Lead: doc.Sentence(doc.ShortenQuoted(b.Headline, doc.BriefQuote))}
}

func (b *differ) head() doc.Section {
	return doc.Section{Title: "What changed", Blocks: []doc.Block{doc.Paragraph{Text: doc.Capital(doc.Sentence(b.Headline)) + ".", Strong: true}}}
}

// remarks returns all remarks on comparability, if the page has only some.
func (b *differ) remarks() doc.Section {
	if len(b.Reasons) <= briefRemarks {
		return doc.Section{}
	}
	s := b.sides(len(b.Reasons))
	s.Title, s.Lead, s.Blocks = "Remarks", "", s.Blocks[1:]
	return s
}

// sides returns both sides, the basis of the times, and remarks on comparability.
func (b *differ) sides(reasons int) doc.Section {
	s := doc.Section{Title: "Compared"}
	var base, new *phases.Side
	if b.Steps != nil {
		base, new = &b.Steps.Base, &b.Steps.New
	}
	s.Blocks = append(s.Blocks, doc.List{
		{Mark: "baseline", Text: b.side(b.Base, b.baseName, base)}, {Mark: "new", Text: b.side(b.New, b.newName, new)},
	})
	switch b.Per {
	case compare.PerStep:
		s.Lead = "times per step and GPU, mean over all steps"
	case compare.PerWindow:
		s.Lead = "times per window and GPU, because the captures have no common steps"
	default:
		s.Lead = "totals without a timeline"
		switch {
		case b.Steps != nil:
			s.Lead = "times per step on the host, mean over the steps after warm-up"
		case len(b.Tables)+len(b.Counters) == 0 && len(b.Benchmarks) > 0:
			s.Lead = "results as they were reported"
		case len(b.Tables)+len(b.Counters) == 0 && len(b.Series) > 0:
			s.Lead = "values that were logged"
		}
	}
	var list doc.List
	for i, r := range b.Reasons {
		if i == reasons {
			list = append(list, doc.Item{Text: label.Plural(int64(len(b.Reasons)-i), "more remark")})
			break
		}
		mark := r.Level.String()
		if r.Level == compare.Refuse {
			mark = "forced" // or there was no comparison
		}
		list = append(list, doc.Item{Mark: mark, Text: doc.Brief(r.Text)})
	}
	if list != nil {
		s.Blocks = append(s.Blocks, list)
	}
	return s
}

// side describes one side.
func (b *differ) side(s compare.Side, name string, host *phases.Side) string {
	parts := []string{name}
	if s.Name != "" {
		parts = append(parts, label.Clip(label.Clean(s.Name), 60))
	}
	if s.Devices > 0 {
		parts = append(parts, label.Plural(s.Devices, "GPU window"))
	}
	if text := words.Runs(s.Runs, view.Evidence(s.RunsBy)); text != "" {
		parts = append(parts, text)
	}
	if text := words.Copies(len(s.Copies)); text != "" {
		parts = append(parts, text)
	}
	if n := int64(len(s.Walls)); b.Per == compare.PerStep && n > 0 {
		parts = append(parts, fmt.Sprintf("%s: median %s, %s to %s", label.Plural(n, "step"), unit.FineDuration(s.MedianNS),
			unit.FineDuration(s.Walls[0]), unit.FineDuration(s.Walls[n-1])))
	}
	if b.Per == compare.PerNone && host != nil {
		parts = append(parts, hostText(*host))
	}
	return strings.Join(parts, ", ")
}

// hostText describes the steps on the host of a side.
func hostText(s phases.Side) string {
	of := map[string]string{phases.FromLog: " of a log", phases.FromTrace: " of a trace"}[s.From]
	text := fmt.Sprintf("%s%s: median %s, %s to %s", label.Plural(s.Count, "step"), of, unit.FineDuration(s.MedianNS),
		unit.FineDuration(s.MinNS), unit.FineDuration(s.MaxNS))
	if s.WarmUp > 0 {
		text += ", without " + label.Plural(s.WarmUp, "warm-up step")
	}
	return text
}

// copies lists the inputs that were left out.
func (b *differ) copies() doc.Section {
	var list doc.List
	for _, side := range []struct {
		name   string
		copies []compare.Input
	}{{"baseline", b.Base.Copies}, {"new", b.New.Copies}} {
		for i, in := range side.copies {
			if i == maxMovers {
				list = append(list, doc.Item{Mark: side.name, Text: label.Plural(int64(len(side.copies)-i), "more input")})
				break
			}
			list = append(list, doc.Item{Mark: side.name, Code: label.Clip(label.Clean(in.Path), 200)})
		}
	}
	if list == nil {
		return doc.Section{}
	}
	return doc.Section{Title: "Inputs left out", Lead: "An earlier input of the same side has the same content.",
		Blocks: []doc.Block{list}}
}

// whole returns the name of the time that the breakdown splits.
func (b *differ) whole() string {
	if b.Per == compare.PerStep {
		return "step"
	}
	return "window"
}

// each returns the basis of a time for a sentence: "per step" or "per window".
func (b *differ) each() string {
	if b.Per == compare.PerStep {
		return "per step"
	}
	return "per window"
}

// budget compares the time breakdown of both sides.
func (b *differ) budget() doc.Section {
	if b.Per == compare.PerNone {
		return doc.Section{}
	}
	s := doc.Section{Title: "GPU time breakdown",
		Lead:   "per " + b.whole() + "; parts and deltas sum to the " + b.whole(),
		Blocks: []doc.Block{b.parts(b.Budget, "part")}}
	s.Blocks = append(s.Blocks, b.pictures("diff-budget", "diff-waterfall")...)
	return s
}

// screenBudget is budget without the shares, because a terminal has no room for them.
func (b *differ) screenBudget() doc.Section {
	s := b.budget()
	if len(s.Blocks) == 0 {
		return s
	}
	t := s.Blocks[0].(doc.Table)
	t.Columns = t.Columns[:5]
	for i := range t.Rows {
		t.Rows[i].Cells = t.Rows[i].Cells[:5]
	}
	s.Blocks = []doc.Block{t}
	return s
}

// parts returns a table of rows that sum to the step or window.
func (b *differ) parts(p compare.Part, title string) doc.Table {
	scale := doc.ScaleOf(p.BaseNS, p.NewNS)
	t := doc.Table{Title: title + "s", Columns: []doc.Column{
		doc.Col(title, doc.Text), doc.Col(scale.Head("baseline"), doc.Number), doc.Col(scale.Head("new"), doc.Number),
		doc.Col(scale.Head("delta"), doc.Number), doc.Col("delta %", doc.Number),
		doc.Col("baseline %", doc.Number), doc.Col("new %", doc.Number),
	}}
	row := func(name string, base, new, delta int64) doc.Row {
		return doc.Row{Cells: []string{
			name, scale.Text(base), scale.Text(new), scale.Signed(delta), compare.SignedShare(delta, base),
			unit.Share(base, p.BaseNS), unit.Share(new, p.NewNS),
		}}
	}
	for _, r := range p.Rows {
		t.Rows = append(t.Rows, row(r.Name, r.BaseNS, r.NewNS, r.DeltaNS))
	}
	t.Rows = append(t.Rows, row(b.whole(), p.BaseNS, p.NewNS, p.DeltaNS))
	return t
}

func (b *differ) cells() doc.Section {
	if b.Per == compare.PerNone {
		return doc.Section{}
	}
	t := b.parts(b.Cells, "set")
	t.Note = "Time with exactly these classes of work on the GPU. The sets do not overlap; the parts of the breakdown are sums of them."
	return doc.Section{Title: "Overlap of classes", Blocks: []doc.Block{t}}
}

// estimates returns medians, intervals and significance of repeated runs.
func (b *differ) estimates() doc.Section {
	if len(b.Estimates) == 0 {
		return doc.Section{}
	}
	var all []int64
	for _, e := range b.Estimates {
		all = append(all, e.Base.MedianNS, e.New.MedianNS)
	}
	scale := doc.ScaleOf(all...)
	t := doc.Table{Title: "figures", Columns: []doc.Column{
		doc.Col("figure", doc.Text), doc.Col(scale.Head("baseline"), doc.Number), doc.Col("", doc.Text),
		doc.Col(scale.Head("new"), doc.Number), doc.Col("", doc.Text), doc.Col("delta %", doc.Number),
		doc.Col("p", doc.Number), doc.Col("", doc.Text),
	}}
	warnings := doc.List{}
	for _, e := range b.Estimates {
		differs := "~"
		if e.Differs() {
			differs = "significant"
		}
		t.Rows = append(t.Rows, doc.Row{Cells: []string{
			e.Name, scale.Text(e.Base.MedianNS), spread(scale, e.Base), scale.Text(e.New.MedianNS), spread(scale, e.New),
			compare.SignedShare(e.New.MedianNS-e.Base.MedianNS, e.Base.MedianNS), fmt.Sprintf("%.3f", e.P), differs,
		}})
	}
	for _, w := range b.Estimates[0].Warnings {
		warnings = append(warnings, doc.Item{Mark: "note", Text: doc.Sentence(w)})
	}
	t.Note = "Each run gives one value: the mean over its steps. Medians over the runs with 95% confidence intervals. " +
		"p: Mann-Whitney test; ~: not significant."
	s := doc.Section{Title: "Repeated runs", Lead: fmt.Sprintf("medians of %d and %d runs with 95%% confidence intervals", b.Base.Runs, b.New.Runs), Blocks: []doc.Block{t.WithoutEmpty()}}
	if len(warnings) > 0 {
		s.Blocks = append(s.Blocks, warnings)
	}
	return s
}

// screenEstimates is estimates without the intervals, which the report has.
func (b *differ) screenEstimates() doc.Section {
	s := b.estimates()
	if len(s.Blocks) == 0 {
		return s
	}
	t := s.Blocks[0].(doc.Table)
	keep := func(i int, c doc.Column) bool { return c.Title != "" || i == len(t.Columns)-1 }
	var columns []doc.Column
	for i, c := range t.Columns {
		if keep(i, c) {
			columns = append(columns, c)
		}
	}
	for j, r := range t.Rows {
		var cells []string
		for i, c := range t.Columns {
			if keep(i, c) {
				cells = append(cells, r.Cells[i])
			}
		}
		t.Rows[j].Cells = cells
	}
	t.Columns = columns
	s.Lead = fmt.Sprintf("medians of %d and %d runs", b.Base.Runs, b.New.Runs)
	s.Blocks[0] = t
	return s
}

// spread returns a confidence interval: "7.9 to 8.3".
func spread(scale doc.Scale, i compare.Interval) string {
	if i.LowNS == nil || i.HighNS == nil {
		return ""
	}
	return scale.Text(*i.LowNS) + " to " + scale.Text(*i.HighNS)
}

func (b *differ) steps() doc.Section {
	if p := b.pictures("diff-steps"); p != nil {
		return doc.Section{Title: "Steps", Blocks: p}
	}
	return doc.Section{}
}

// pictures returns those that exist.
func (b *differ) pictures(names ...string) (blocks []doc.Block) {
	for _, name := range names {
		if c, ok := b.charts[plot.Chart{Name: name}.File()]; ok {
			blocks = append(blocks, doc.Picture{Chart: c})
		}
	}
	return blocks
}

// bySize sorts parts by the size of their changes, the largest first.
func bySize(list []moved) {
	slices.SortStableFunc(list, func(a, b moved) int { return cmp.Compare(b.moved(), a.moved()) })
}
