package check

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"assay/gate"
	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/doc"
	"assay/report/words"
	"assay/summary"
)

// A Report prints the results of gates.
type Report struct {
	// Version is the version of assay. GatesFile is the file of the gates, or "" for the
	// built-in gates.
	Version, GatesFile string

	// Inconclusive returns what an inconclusive gate counts as: a failure, an error, a
	// warning or a pass.
	Inconclusive func(gate.Outcome) gate.Result

	// New and Baseline are how the inputs of each side were sorted into runs.
	New, Baseline gate.Group

	// Accepted are the baselines that were accepted.
	Accepted []Accepted

	*gate.Report
}

// An Accepted is a baseline that was accepted.
type Accepted struct {
	Text    string // when and why it was accepted, and its origin
	Expired string // why it cannot be compared with the new runs any more, or ""
}

// verdict returns the number of gates with each result: "1 failed, 7 passed".
func (c Report) verdict() string {
	var parts []string
	for _, r := range []struct {
		result gate.Result
		word   string
	}{{gate.Fail, "failed"}, {gate.Error, "not evaluated"}, {gate.Inconclusive, "inconclusive"}, {gate.Pass,
		"passed"}, {gate.Warn, "warning"}, {gate.Skipped, "not measured"}} {
		n := c.Count(r.result)
		if r.result == gate.Skipped && c.builtIn() {
			continue
		}
		switch {
		case n > 0 && r.result == gate.Warn:
			parts = append(parts, label.Plural(int64(n), r.word))
		case n > 0:
			parts = append(parts, unit.Count(int64(n))+" "+r.word)
		}
	}
	return strings.Join(parts, ", ")
}

// builtIn reports whether the gates are the built-in ones and at least one was evaluated. Built-in gates
// without a metric are not listed, because the user did not ask for them.
func (c Report) builtIn() bool { return c.GatesFile == "" && c.Result != gate.Skipped }

// runs returns the number of runs on each side. Several runs are compared by their medians.
func (c Report) runs() string {
	now, base := len(c.Now), len(c.Base)
	of := func(n int) string {
		if n == 1 {
			return "1 run"
		}
		return fmt.Sprintf("the median of %d runs", n)
	}
	switch {
	case base == 0:
		return label.Plural(int64(now), "run") + ", no baseline"
	case now == base && now == 1:
		return "1 run per side"
	case now == base:
		return fmt.Sprintf("medians of %d runs per side", now)
	}
	return of(now) + " against " + of(base)
}

// grouping returns how the runs of each side were separated and what was left out, or "".
func (c Report) grouping() string {
	var sides []string
	for _, side := range []struct {
		name  string
		group gate.Group
	}{{"new", c.New}, {"baseline", c.Baseline}} {
		var parts []string
		runs := words.Runs(len(side.group.Runs), side.group.By)
		if side.group.By == "" {
			runs = "" // the first line has their number
		}
		for _, text := range []string{runs, words.Copies(len(side.group.Copies))} {
			if text != "" {
				parts = append(parts, text)
			}
		}
		if parts != nil {
			sides = append(sides, side.name+": "+strings.Join(parts, ", "))
		}
	}
	return doc.Capital(strings.Join(sides, "; "))
}

// Title is the complete result in one line.
func (c Report) Title() string {
	return fmt.Sprintf("Gates: %s (%s; %s)", c.Result, c.verdict(), c.runs())
}

// doc returns the report as data.
func (c Report) doc() doc.Doc {
	d := doc.Doc{Title: "Gates: " + c.Result.String()}
	d.Screen = []doc.Section{{Title: "Gates", Lead: c.Result.String() + "; " + c.verdict() + "; " + c.runs(),
		Blocks: []doc.Block{c.list(gate.Skipped, doc.Brief)}}}
	if text := c.grouping(); text != "" {
		d.Screen[0].Blocks = append(d.Screen[0].Blocks, doc.Paragraph{Text: text + "."})
	}
	first := []doc.Block{doc.Paragraph{Text: doc.Capital(c.verdict()) + "; " + c.runs() + ".", Strong: true}}
	for _, a := range c.Accepted {
		if a.Expired != "" {
			p := doc.Paragraph{Text: doc.Sentence(doc.Capital(a.Expired) + ".")}
			d.Screen[0].Blocks, first = slices.Insert(d.Screen[0].Blocks, 0, doc.Block(p)), append(first, p)
		}
	}
	if c.Apart != "" {
		p := doc.Paragraph{Text: doc.Sentence("Not comparable: " + c.Apart + ".")}
		d.Screen[0].Blocks, first = slices.Insert(d.Screen[0].Blocks, 0, doc.Block(p)), append(first, p)
	}
	d.Sections = doc.Present(
		doc.Section{Blocks: first},
		doc.Section{Blocks: []doc.Block{c.table()}},
		c.reasons(),
		c.inputs())
	return d
}

// list returns an item for each outcome, the most severe first. Outcomes with the result without are left
// out, because the title counts them.
func (c Report) list(without gate.Result, prepare func(string) string) doc.List {
	var l doc.List
	for _, o := range c.ByImpact() {
		if o.Result != without {
			l = append(l, doc.Item{Mark: words.Outcome(o.Result), Text: prepare(o.Gate.Text + " " + cmp.Or(o.Short, o.Why))})
		}
	}
	return l
}

// reasons explains the gates that did not pass, and those that passed although a change exceeds their
// limit.
func (c Report) reasons() doc.Section {
	s := doc.Section{Title: "Reasons"}
	var l doc.List
	for _, o := range c.ByImpact() {
		if o.Result == gate.Skipped && c.builtIn() {
			continue
		}
		if o.Result != gate.Pass || o.Floored {
			l = append(l, doc.Item{Mark: words.Outcome(o.Result),
				Text: doc.Sentence(o.Gate.Text + " " + cmp.Or(o.Short, o.Why))})
		}
	}
	if l != nil {
		s.Blocks = []doc.Block{l}
	}
	return s
}

func (c Report) table() doc.Table {
	t := doc.Table{Title: "gates", Columns: []doc.Column{
		doc.Col("result", doc.Text), doc.Col("gate", doc.Name), doc.Col("limit", doc.Text), doc.Col("baseline", doc.Number),
		doc.Col("new", doc.Number), doc.Col("change", doc.Number),
	}}
	for _, o := range c.ByImpact() {
		if o.Result == gate.Skipped && c.builtIn() {
			continue
		}
		t.Rows = append(t.Rows, doc.Row{Cells: []string{
			words.Outcome(o.Result), o.Gate.Text, o.Gate.Limit(), printed(&o, o.Base), printed(&o, o.Now), o.Change(),
		}})
	}
	if len(c.Base) == 0 {
		return t.WithoutEmpty()
	}
	return t
}

func printed(o *gate.Outcome, s *gate.Sample) string {
	if s == nil {
		return ""
	}
	return o.Gate.Metric.Unit.Text(s.Center)
}

// inputs lists the files of both sides with their digests.
func (c Report) inputs() doc.Section {
	t := doc.Table{Title: "inputs", Columns: []doc.Column{doc.Col("side", doc.Text), doc.Col("run", doc.Number),
		doc.Col("rank", doc.Number), doc.Col("input", doc.LineName), doc.Col("SHA-256", doc.Text)}}
	for _, side := range []struct {
		name   string
		runs   []gate.Run
		copies []summary.Input
	}{{"new", c.Now, c.New.Copies}, {"baseline", c.Base, c.Baseline.Copies}} {
		add := func(run string, in summary.Input) {
			t.Rows = append(t.Rows, doc.Row{Cells: []string{side.name, run, fmt.Sprint(in.Rank), in.Path,
				in.SHA256[:min(12, len(in.SHA256))]}})
		}
		for i, r := range side.runs {
			for _, in := range r.Summary.Inputs {
				add(fmt.Sprint(i+1), in)
			}
		}
		for _, in := range side.copies {
			add("copy", in)
		}
	}
	var baselines doc.List
	for _, a := range c.Accepted {
		baselines = append(baselines, doc.Item{Mark: "baseline", Text: doc.Sentence(a.Text)})
	}
	s := doc.Section{Title: "Inputs", Lead: c.grouping(), Blocks: []doc.Block{t}, Fold: true}
	if baselines != nil {
		s.Blocks = append(s.Blocks, baselines)
	}
	return s
}

// Text writes the outcomes for a terminal.
func (c Report) Text(w io.Writer, columns int) error { return c.doc().Text(w, columns) }

// Markdown writes the outcomes with their numbers.
func (c Report) Markdown(w io.Writer) error { return c.doc().Markdown(w) }

// StepSummary returns the Markdown in at most limit bytes. It counts what it omits. If
// nothing else fits, it returns the verdict alone, or "".
func (c Report) StepSummary(limit int) string {
	text := c.doc().Within(limit)
	if text == "" {
		text = "# Gates: " + c.Result.String() + "\n"
	}
	if len(text) > limit {
		return ""
	}
	return text
}

// counts returns the result that an outcome counts as.
func (c Report) counts(o gate.Outcome) gate.Result {
	if o.Result == gate.Inconclusive {
		return c.Inconclusive(o)
	}
	return o.Result
}

// Outputs returns the outputs of a workflow step: the result, and how many gates have each.
func (c Report) Outputs() [][2]string {
	return [][2]string{
		{"result", c.Result.String()},
		{"failed", fmt.Sprint(c.Count(gate.Fail))},
		{"not-evaluated", fmt.Sprint(c.Count(gate.Error))},
		{"inconclusive", fmt.Sprint(c.Count(gate.Inconclusive))},
		{"warnings", fmt.Sprint(c.Count(gate.Warn))},
	}
}

// maxAnnotations is the number of annotations that GitHub shows for a step. It silently drops the others.
const maxAnnotations = 10

// Annotations returns GitHub workflow commands for the gates that did not pass, the most
// severe first.
func (c Report) Annotations() []string {
	var lines []string
	for _, o := range c.ByImpact() {
		kind := "error"
		switch c.counts(o) {
		case gate.Fail, gate.Error:
		case gate.Warn:
			kind = "warning"
		default:
			continue
		}
		place := ""
		if c.GatesFile != "" {
			place = fmt.Sprintf("file=%s,line=%d,", escapeProperty(label.Clean(c.GatesFile)), o.Gate.Line)
		}
		title := label.Clip(label.Clean(o.Gate.Text), 60) + ": " + o.Result.String()
		lines = append(lines, fmt.Sprintf("::%s %stitle=%s::%s", kind, place, escapeProperty(title),
			escapeData(doc.Sentence(o.Gate.Text+" "+o.Why))))
	}
	if more := len(lines) - maxAnnotations; more > 0 {
		lines = append(lines[:maxAnnotations-1], fmt.Sprintf("::warning title=assay check::%d more gates did not pass; see the job summary", more+1))
	}
	return lines
}

// escapeData and escapeProperty escape messages and properties of commands as GitHub's
// toolkit does.
func escapeData(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func escapeProperty(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(s)
}
