package report

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/doc"
	"assay/report/section"
	"assay/report/words"
	"assay/summary"
	"assay/summary/view"
)

// inputKey lists the inputs by their numbers.
func inputKey(s *summary.Summary, shown []int) (out doc.List) {
	list, rest := view.NumberedInputs(s, shown)
	for _, in := range list {
		out = append(out, doc.Item{Mark: in.Number, Text: in.Path})
	}
	if logs, more := logKey(s); len(list) == 0 || len(logs) > len(out) { // the tables of logs number all inputs
		out, rest = logs, more
	}
	if rest > 0 {
		out = append(out, doc.Item{Text: label.Plural(int64(rest), "more input")})
	}
	return out
}

// logsNumbered reports whether the tables of logged values number their inputs.
func logsNumbered(s *summary.Summary) bool {
	return len(s.Inputs) > 1 && len(s.Series)+len(s.Benchmarks) > 0
}

// screenLogs is the largest number of logs whose numbers the screen explains.
const screenLogs = 8

// logKey lists the inputs with logged values by the numbers that the tables of these have. Of
// few inputs it lists all, so that no number is missing.
func logKey(s *summary.Summary) (out doc.List, rest int) {
	if !logsNumbered(s) {
		return nil, 0
	}
	logged := map[int]bool{}
	for i := range s.Series {
		logged[s.Series[i].Input] = true
	}
	for i := range s.Benchmarks {
		logged[s.Benchmarks[i].Input] = true
	}
	paths, _ := view.ShortPaths(s)
	labels := label.Short(label.Plain, paths, 66)
	for i := range labels {
		switch {
		case !logged[i] && len(labels) > screenLogs:
		case len(out) < screenLogs:
			out = append(out, doc.Item{Mark: "input " + strconv.Itoa(i+1), Text: labels[i]})
		default:
			rest++
		}
	}
	return out, rest
}

// mostInputs is the largest number of inputs that the report lists.
const mostInputs = 64

// inputs returns the table of inputs.
func inputs(ctx *section.Context) doc.Table {
	paths, dir := view.ShortPaths(ctx.Summary)
	records := "events"
	if ctx.SumsOnly() {
		records = "rows"
	}
	numbered, logs := view.Numbered(ctx.Summary), logsNumbered(ctx.Whole)
	t := doc.Table{Title: "inputs", Columns: []doc.Column{
		doc.Col("input", doc.Text), doc.Col("path", doc.Name), doc.Col("format", doc.Text), doc.Col("compression", doc.Text), doc.Col("size", doc.Number), doc.Col(records, doc.Number),
		doc.Col("rank", doc.Number), doc.Col("rank from", doc.Text), doc.Col("complete", doc.Text),
	}}
	for i, in := range ctx.Inputs {
		complete := "yes"
		if !in.Complete {
			complete = "no"
		}
		number := strconv.Itoa(i + 1)
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
		return t.Cut(mostInputs)
	}
	if logs {
		t.Note = strings.TrimSpace(t.Note + " Tables of logged values have the number of their input.")
		return t.Cut(mostInputs)
	}
	t.Columns = t.Columns[1:]
	for i := range t.Rows {
		t.Rows[i].Cells = t.Rows[i].Cells[1:]
	}
	return t.Cut(mostInputs)
}

// whyLeftOut has the reasons for which a file of a directory is not read.
var whyLeftOut = map[string]string{
	summary.LeftUnknown: "not recognized", summary.LeftEmpty: "empty", summary.LeftLink: "symbolic link, not followed",
	summary.LeftSpecial: "pipe, socket or device", summary.LeftSaved: "summary of assay beside captures",
	summary.LeftUntimed:  "execution trace without times; a trace of the same process takes its shapes",
	summary.LeftExported: "report of nsys, whose export is read",
}

// leftOut returns the files of directories that were not read, at most so many, or nothing.
func leftOut(ctx *section.Context, most int) []doc.Block {
	l := ctx.LeftOut
	if l == nil || l.Count == 0 {
		return nil
	}
	var list doc.List
	for _, f := range l.Files[:min(len(l.Files), most)] {
		list = append(list, doc.Item{Text: cmp.Or(whyLeftOut[f.Why], label.Clean(f.Why)) + ":", Code: label.Clip(label.Clean(ctx.Below(f.Path)), 200)})
	}
	if rest := l.Count - int64(len(list)); rest > 0 {
		list = append(list, doc.Item{Text: label.Plural(rest, "more file")})
	}
	return []doc.Block{doc.Paragraph{Text: "Left out of the directories: " + label.Plural(l.Count, "file") + "."}, list}
}

// groupingLine returns where the ranks of several inputs come from, and which runs the
// inputs are, and how the ranks divide the work. The totals of a report include all inputs, copies too. It is "" for one
// input, and if nothing is known.
func groupingLine(s *summary.Summary) string {
	var topologies []string
	one := !slices.ContainsFunc(s.Devices, func(d summary.Device) bool {
		return d.Input != s.Devices[0].Input || d.Rank != s.Devices[0].Rank
	})
	for _, t := range s.Topologies {
		if one {
			t.PeersFrom = "all" // the GPUs of one rank are no ranks
		}
		if text := words.Topology(t); text != "" {
			topologies = append(topologies, text)
		}
	}
	if len(s.Inputs) < 2 || s.OnlyMachines() { // a machine is not a rank
		return doc.Capital(strings.Join(topologies, "; "))
	}
	g := view.Runs(view.Captures(s))
	var parts []string
	runs := words.Runs(len(g.Runs), g.From)
	if runs != "" && s.Inputs[0].Run == "" && view.CopiesUnknown(s.Inputs) {
		runs = "up to " + runs // without digests, copies count as runs
	}
	for _, text := range []string{words.RanksFrom(s.Inputs), runs} {
		if text != "" {
			parts = append(parts, text)
		}
	}
	parts = append(parts, topologies...)
	once := int64(0)
	if is := s.Issue("input-copied"); is != nil {
		once = is.Count
		parts = append(parts, label.Plural(once, "copy")+" of other inputs, counted once")
	}
	forms, text := formsOf(s)
	if once += forms; text != "" {
		parts = append(parts, text)
	}
	if n := int64(len(g.Copies)) - once; n > 0 {
		parts = append(parts, label.Plural(n, "input")+" with the content of another one, included in all totals")
	}
	return doc.Capital(strings.Join(parts, "; "))
}

// mostForms is the number of inputs that the screen names as forms of other ones.
const mostForms = 4

// formsOf counts the inputs that have the capture of another one in another form, and names the first ones.
func formsOf(s *summary.Summary) (n int64, text string) {
	var names, kept []string
	for _, in := range s.Inputs {
		if in.SameAs == "" {
			continue
		}
		if n++; n > mostForms {
			continue
		}
		if of := short(in.SameAs); !slices.Contains(kept, of) {
			kept = append(kept, of)
		}
		names = append(names, short(in.Path))
	}
	if n > mostForms {
		names = append(names, fmt.Sprintf("%d more", n-mostForms))
	}
	if n > 0 {
		text = fmt.Sprintf("not counted: %s (the capture of %s in another form)", strings.Join(names, ", "), strings.Join(kept, ", "))
	}
	return n, text
}

// short returns the name of a file without its folders.
func short(file string) string { return label.Clip(label.Clean(path.Base(file)), 60) }
