package report

import (
	"fmt"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/report/doc"
	"assay/report/section"
	"assay/report/words"
	"assay/summary"
	"assay/summary/view"
	"assay/unit"
)

// inputKey lists the inputs by their numbers.
func inputKey(s *summary.Summary, shown []int) (out doc.List) {
	list, rest := view.NumberedInputs(s, shown)
	for _, in := range list {
		out = append(out, doc.Item{Mark: in.Number, Text: in.Path})
	}
	if rest > 0 {
		out = append(out, doc.Item{Text: label.Plural(int64(rest), "more input")})
	}
	return out
}

// inputs returns the table of inputs.
func inputs(ctx *section.Context) doc.Table {
	paths, dir := view.ShortPaths(ctx.Summary)
	records := "events"
	if ctx.SumsOnly() {
		records = "rows"
	}
	numbered := view.Numbered(ctx.Summary)
	t := doc.Table{Title: "inputs", Columns: []doc.Column{
		doc.Col("input", doc.Text), doc.Col("path", doc.Name), doc.Col("format", doc.Text), doc.Col("compression", doc.Text), doc.Col("size", doc.Number), doc.Col(records, doc.Number),
		doc.Col("rank", doc.Number), doc.Col("rank from", doc.Text), doc.Col("complete", doc.Text),
	}}
	for i, in := range ctx.Inputs {
		complete := "yes"
		if !in.Complete {
			complete = "no"
		}
		number := ""
		if numbered {
			number = view.InputNumber(i)
		}
		t.Rows = append(t.Rows, doc.Row{Cells: []string{
			number, label.Clean(paths[i]), words.Format(in.Format), label.Clip(label.Clean(in.Compression), 30), unit.FineBytes(in.Bytes), unit.Count(in.Events),
			fmt.Sprint(in.Rank), label.Clip(label.Clean(in.RankFrom), 30), complete,
		}})
	}
	if text := groupingLine(ctx.Summary); text != "" {
		t.Note = text + ". "
	}
	if dir != "" {
		t.Note += "Paths are relative to " + label.Clip(label.Clean(dir), 200) + "."
	}
	if numbered {
		t.Note = strings.TrimSpace(t.Note + " GPU names have the number of their input, because several inputs have the same rank and GPU.")
		return t.Cut(64)
	}
	t.Columns = t.Columns[1:]
	for i := range t.Rows {
		t.Rows[i].Cells = t.Rows[i].Cells[1:]
	}
	return t.Cut(64)
}

// groupingLine returns where the ranks of several inputs come from, and which runs the
// inputs are, and how the ranks divide the work. The totals of a report include all inputs, copies too. It is "" for one
// input, and if nothing is known.
func groupingLine(s *summary.Summary) string {
	var topologies []string
	for _, t := range s.Topologies {
		if text := words.Topology(t); text != "" {
			topologies = append(topologies, text)
		}
	}
	if len(s.Inputs) < 2 {
		return doc.Capital(strings.Join(topologies, "; "))
	}
	g := view.Runs(view.Captures(s))
	var parts []string
	runs := words.Runs(len(g.Runs), g.From)
	if runs != "" && slices.ContainsFunc(s.Inputs, func(in summary.Input) bool { return in.SHA256 == "" && in.Run == "" }) {
		runs = "up to " + runs // without digests, copies count as runs
	}
	for _, text := range []string{words.RanksFrom(s.Inputs), runs} {
		if text != "" {
			parts = append(parts, text)
		}
	}
	parts = append(parts, topologies...)
	if n := len(g.Copies); n > 0 {
		parts = append(parts, label.Plural(int64(n), "input")+" with the content of another one, included in all totals")
	}
	return doc.Capital(strings.Join(parts, "; "))
}
