package report

import (
	"fmt"
	"strings"

	"assay/internal/label"
	"assay/report/words"
	"assay/summary"
	"assay/summary/view"
	"assay/unit"
)

// inputKey lists the inputs by their numbers.
func inputKey(s *summary.Summary, shown []int) (out List) {
	list, rest := view.NumberedInputs(s, shown)
	for _, in := range list {
		out = append(out, Item{Mark: in.Number, Text: in.Path})
	}
	if rest > 0 {
		out = append(out, Item{Text: label.Plural(int64(rest), "more input")})
	}
	return out
}

// inputs returns the table of inputs.
func (b *builder) inputs() Table {
	paths, dir := view.ShortPaths(b.Summary)
	records := "events"
	if b.sumsOnly() {
		records = "rows"
	}
	numbered := view.Numbered(b.Summary)
	t := Table{Title: "inputs", Columns: []Column{
		{"input", Text}, {"path", Name}, {"format", Text}, {"compression", Text}, {"size", Number}, {records, Number},
		{"rank", Number}, {"rank from", Text}, {"complete", Text},
	}}
	for i, in := range b.Inputs {
		complete := "yes"
		if !in.Complete {
			complete = "no"
		}
		number := ""
		if numbered {
			number = view.InputNumber(i)
		}
		t.Rows = append(t.Rows, Row{Cells: []string{
			number, label.Clean(paths[i]), words.Format(in.Format), label.Clip(label.Clean(in.Compression), 30), unit.FineBytes(in.Bytes), unit.Count(in.Events),
			fmt.Sprint(in.Rank), label.Clip(label.Clean(in.RankFrom), 30), complete,
		}})
	}
	if dir != "" {
		t.Note = "Paths are relative to " + label.Clip(label.Clean(dir), 200) + "."
	}
	if numbered {
		t.Note = strings.TrimSpace(t.Note + " GPU names have the number of their input, because several inputs have the same rank and GPU.")
		return t.cut(64)
	}
	t.Columns = t.Columns[1:]
	for i := range t.Rows {
		t.Rows[i].Cells = t.Rows[i].Cells[1:]
	}
	return t.cut(64)
}
