// Package history makes the document of "assay history": what changed over many runs, with a picture
// of the metrics.
package history

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"assay/compare/history"
	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/doc"
	"assay/report/plot"
	"assay/report/words"
)

// The most rows of a list on the screen.
const (
	screenChanges = 4
	screenMetrics = 12
	screenNewest  = 3
	mostColumns   = 60 // of the name of a row
)

// Doc makes the document of a history, and its pictures.
func Doc(h *history.History) (doc.Doc, []plot.Chart) {
	d := doc.Doc{Title: "History of " + label.Plural(int64(len(h.Runs)), "run")}
	chart, drawn := picture(h)
	v := view{h}
	d.Screen = doc.Present(v.head(), v.changes(screenChanges, false), v.drifts(false), v.newest(screenNewest), v.metrics(screenMetrics))
	curves := doc.Section{Title: "Metrics over runs"}
	var charts []plot.Chart
	if drawn {
		charts = []plot.Chart{chart}
		curves.Blocks = []doc.Block{doc.Picture{Chart: chart}}
	}
	d.Sections = doc.Present(v.head(), v.changes(len(h.Changes), true), v.drifts(true), v.newest(len(h.Newest)), curves, v.metrics(len(h.Metrics)), v.skipped(), v.runs())
	return d, charts
}

type view struct{ *history.History }

func (v view) head() doc.Section {
	s := doc.Section{Title: "History", Blocks: []doc.Block{doc.Paragraph{Text: doc.Capital(doc.Sentence(v.Headline)) + ".", Strong: true}}}
	for _, note := range v.notes() {
		s.Blocks = append(s.Blocks, doc.Paragraph{Text: doc.Sentence(note) + "."})
	}
	return s
}

// notes say what limits the answer.
func (v view) notes() (out []string) {
	if v.OrderedBy == history.ByName && len(v.Runs) > 1 {
		out = append(out, "Runs are in the order of their names, because not all captures state when they were recorded")
	}
	if n := len(v.Copies); n > 0 {
		out = append(out, label.Plural(int64(n), "run")+" left out: the captures are copies of those of other runs")
	}
	for _, m := range v.Missing[:min(1, len(v.Missing))] {
		text := fmt.Sprintf("The newest %s no value of %s: %s", map[bool]string{true: "run has", false: fmt.Sprintf("%d runs have", m.Runs)}[m.Runs == 1], m.Metric, m.Why)
		if more := len(v.Missing) - 1; more > 0 {
			text += fmt.Sprintf(" (and of %s)", label.Plural(int64(more), "more metric"))
		}
		out = append(out, text)
	}
	return out
}

// drifts lists the metrics that move steadily.
func (v view) drifts(all bool) doc.Section {
	var list doc.List
	for _, d := range v.Drifts {
		list = append(list, doc.Item{Text: doc.Capital(doc.Sentence(d.Text())), Sub: cause(d.Cause, all)})
	}
	if len(list) == 0 {
		return doc.Section{}
	}
	return doc.Section{Title: "Drifts", Lead: "a line explains the values better than levels do", Blocks: []doc.Block{list}}
}

// changes lists the changes, the newest first.
func (v view) changes(most int, all bool) doc.Section {
	s := doc.Section{Title: "Changes", Lead: "shifts in level; family-wise confidence 99%"}
	var list doc.List
	for i := range v.Changes {
		if i == most {
			list = append(list, doc.Item{Text: label.Plural(int64(len(v.Changes)-most), "earlier change") + " in the report"})
			break
		}
		c := &v.Changes[len(v.Changes)-1-i]
		item := doc.Item{Text: doc.Capital(doc.Sentence(v.ChangeText(c)))}
		if c.First < c.Last {
			item.Sub = append(item.Sub, doc.Item{Mark: "place", Text: fmt.Sprintf("between %s and %s (confidence 95%%)", v.name(c.First), v.name(c.Last))})
		}
		if more := v.others(c); more != "" {
			item.Sub = append(item.Sub, doc.Item{Mark: "also", Text: more})
		}
		item.Sub = append(item.Sub, cause(c.Cause, all)...)
		list = append(list, item)
	}
	if len(list) == 0 {
		return doc.Section{}
	}
	s.Blocks = []doc.Block{list}
	return s
}

// others names the other metrics that changed.
func (v view) others(c *history.Change) string {
	var out []string
	said := v.ChangeText(c)
	for _, m := range c.Metrics {
		if !strings.Contains(said, m.Text()) {
			out = append(out, m.Text())
		}
	}
	return strings.Join(out, "; ")
}

// cause says what the runs on both sides of a change do differently.
func cause(c *history.Cause, all bool) (out []doc.Item) {
	switch {
	case c == nil:
		return nil
	case c.Refused != "":
		return []doc.Item{{Mark: "cause", Text: "not known: " + doc.Sentence(c.Refused)}}
	}
	out = append(out, doc.Item{Mark: "cause", Text: doc.Sentence(c.Headline)})
	for _, r := range c.Rows {
		out = append(out, doc.Item{Mark: r.Of, Text: rowText(r)})
		if !all {
			break // the headline has the rest
		}
	}
	if all {
		out = append(out, doc.Item{Mark: "compared", Text: strings.Join(c.Base, ", ") + " with " + strings.Join(c.New, ", ")})
	}
	for _, r := range c.Recorded {
		out = append(out, doc.Item{Mark: "recorded", Text: r})
	}
	for i, r := range c.Reasons {
		if i == 2 && !all {
			break
		}
		out = append(out, doc.Item{Mark: "note", Text: doc.Sentence(r)})
	}
	return out
}

// rowText is "flash_bwd: 4.1 ms to 5.4 ms (+31.2%)".
func rowText(r history.Row) string {
	name := label.Clip(r.Name, mostColumns)
	if r.Of == "idle" {
		name = words.Cause(r.Name, r.State, "")
	}
	text := fmt.Sprintf("%s: %s to %s", name, unit.Duration(r.BaseNS), unit.Duration(r.NewNS))
	if r.BaseNS > 0 {
		text += fmt.Sprintf(" (%+.1f%%)", 100*(float64(r.NewNS)/float64(r.BaseNS)-1))
	}
	return text
}

func (v view) name(run int) string { return label.Clip(label.Clean(v.Runs[run].Name), 40) }

func (v view) newest(most int) doc.Section {
	texts := v.NewestText()
	if len(texts) == 0 {
		return doc.Section{}
	}
	var list doc.List
	for _, t := range texts[:min(most, len(texts))] {
		list = append(list, doc.Item{Text: doc.Capital(doc.Sentence(t))})
	}
	return doc.Section{Title: "Newest runs stand out", Lead: "too few for a change of level: measure again", Blocks: []doc.Block{list}}
}

// metrics lists the level of each metric now, and what it was before: those that changed, then those that
// vary, then those that are the same in all runs.
func (v view) metrics(most int) doc.Section {
	t := doc.Table{Title: "metrics", Columns: []doc.Column{doc.Col("metric", doc.Text), doc.Col("before", doc.Number), doc.Col("level now", doc.Number),
		doc.Col("lowest", doc.Number), doc.Col("highest", doc.Number), doc.Col("runs", doc.Number), doc.Col("since", doc.Text)}}
	same := 0
	for i := range v.Metrics {
		m := &v.Metrics[i]
		if m.Steady() {
			same++
			continue
		}
		l := m.Levels[len(m.Levels)-1]
		row := doc.Row{Cells: []string{m.Metric, "", m.Of.Text(l.Median), m.Of.Text(l.Low), m.Of.Text(l.High), strconv.Itoa(l.Runs), ""}}
		if n := len(m.Levels); n > 1 {
			row.Cells[1], row.Cells[6] = m.Of.Text(m.Levels[n-2].Median), v.name(l.First)
			row.Weight = 1
		}
		t.Rows = append(t.Rows, row)
	}
	slices.SortStableFunc(t.Rows, func(a, b doc.Row) int { return int(b.Weight - a.Weight) })
	for i := range t.Rows {
		t.Rows[i].Weight = 0
	}
	if same > 0 {
		t.Note = label.Plural(int64(same), "metric") + " with the same value in all runs left out."
	}
	if len(t.Rows) == 0 && same == 0 {
		return doc.Section{}
	}
	t.Narrows = most < len(v.Metrics) || most == screenMetrics
	s := doc.Section{Title: "Metrics", Lead: "medians of runs", Blocks: []doc.Block{t.WithoutEmpty().Cut(most)}}
	if len(t.Rows) == 0 {
		s.Blocks = []doc.Block{doc.Paragraph{Text: t.Note}}
	}
	return s
}

func (v view) skipped() doc.Section {
	t := doc.Table{Title: "metrics", Columns: []doc.Column{doc.Col("metric", doc.Text), doc.Col("runs", doc.Number), doc.Col("why", doc.Text)}}
	for _, s := range v.Skipped {
		if s.Runs > 0 {
			t.Rows = append(t.Rows, doc.Row{Cells: []string{s.Metric, strconv.Itoa(s.Runs), doc.Sentence(s.Why)}})
		}
	}
	if len(t.Rows) == 0 {
		return doc.Section{}
	}
	return doc.Section{Title: "Not searched", Blocks: []doc.Block{t}}
}

func (v view) runs() doc.Section {
	t := doc.Table{Title: "runs", Columns: []doc.Column{doc.Col("run", doc.Name), doc.Col("recorded", doc.Text), doc.Col("file", doc.Name)}}
	for i := range v.Runs {
		r, at := &v.Runs[i], ""
		if r.Time != nil {
			at = r.Time.Format("2006-01-02 15:04")
		}
		t.Rows = append(t.Rows, doc.Row{Cells: []string{r.Name, at, r.Path}})
	}
	return doc.Section{Title: "Runs", Lead: "in the order of their " + v.OrderedBy, Fold: true, Blocks: []doc.Block{t.WithoutEmpty()}}
}
