package tables

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/internal/stat"
	"assay/internal/unit"
	"assay/report/doc"
	"assay/report/section"
	"assay/summary"
)

// A columnPrinter prints all values of a column in one unit.
type columnPrinter struct {
	scale doc.Scale
	unit  string // printed after values without a scale, or ""
	plain bool
}

func (p columnPrinter) head(title string) string {
	switch {
	case !p.plain:
		return p.scale.Head(title)
	case p.unit == "":
		return title
	}
	return title + " (" + p.unit + ")"
}

func (p columnPrinter) text(n int64) string {
	if p.plain {
		return unit.Count(n)
	}
	return p.scale.Text(n)
}

// printers returns how each column is printed. Columns that are compared with each other, for example mean,
// median and minimum, share a scale. For a column that adds up, the scale is chosen by its largest value.
// Other columns have values from nanoseconds to minutes, so their scale is chosen by the middle value.
func (v tableView) printers(rows []summary.TableRow) []columnPrinter {
	values := map[string][]int64{}
	for i, c := range v.Columns {
		key := v.scaleGroup(i)
		for _, r := range rows {
			n, ok := r.Value(i)
			switch {
			case !ok || n <= 0:
			case c.Adds != summary.AddsEach && len(values[key]) > 0:
				values[key][0] = max(values[key][0], n)
			default:
				values[key] = append(values[key], n)
			}
		}
	}
	out := make([]columnPrinter, len(v.Columns))
	for i, c := range v.Columns {
		typical := typicalOf(values[v.scaleGroup(i)])
		switch c.Unit {
		case "ns":
			out[i].scale = doc.ScaleOf(typical)
		case "bytes":
			out[i].scale = doc.SizeScaleOf(typical)
		case "count", "":
			out[i].plain = true
		default:
			out[i] = columnPrinter{unit: label.Clip(label.Clean(c.Unit), 20), plain: true}
		}
	}
	return out
}

// typicalOf returns the value that chooses the unit of a column, or 0. It is the lower of the middle two
// values and not their mean: the mean of 400 ms and 143 µs would choose ms, in which the latter prints as
// 0.14.
func typicalOf(values []int64) int64 {
	if len(values) == 0 {
		return 0
	}
	low, _ := stat.Middle(slices.Sorted(slices.Values(values)))
	return low
}

// scaleGroup returns the key of the scale that a column shares with others.
func (v tableView) scaleGroup(column int) string {
	c := v.Columns[column]
	for _, end := range []string{"mean", "median", "min"} {
		if prefix, ok := strings.CutSuffix(c.Name, end); ok {
			return c.Unit + " " + prefix + "mean"
		}
	}
	return fmt.Sprint(c.Unit, " ", column)
}

// The limits of the one-screen summary on tables of other tools.
const (
	screenTables = 3
	screenRows   = 6 // rows of the first table
	fewRows      = 3 // rows of the other tables
)

// Screen returns the first tables with their largest rows.
func Screen(ctx *section.Context) (out []doc.Section) {
	views := tableViews(ctx.Summary)
	// Tables with times come first.
	slices.SortStableFunc(views, func(a, b tableView) int { return cmp.Compare(min(0, b.Size()), min(0, a.Size())) })
	rows := screenRows
	if len(ctx.Devices) > 0 {
		rows = fewRows
	}
	headings := map[string]int{}
	for _, v := range views {
		headings[v.Heading()]++
	}
	for _, v := range views[:min(screenTables, len(views))] {
		s := doc.Section{Title: v.Heading(), Blocks: []doc.Block{v.screen(rows)}}
		if v.Of == summary.OfFunction && v.ShareColumn >= 0 && v.ShareColumn != v.RankColumn &&
			(len(v.Rows) > rows || v.Left > 0) {
			s.Blocks = append(s.Blocks, v.ownOrder().screen(rows))
		}
		if v.ShareColumn >= 0 {
			s.Lead = "% of " + v.ShareOfText()
		}
		if len(ctx.Inputs) > 1 || headings[v.Heading()] > 1 {
			s.Lead = strings.TrimPrefix(s.Lead+"; table "+source(ctx, v.Table), "; ")
		}
		out = append(out, s)
		rows = fewRows
	}
	if rest := views[len(out):]; len(rest) > 0 {
		out = append(out, doc.Section{Title: label.Plural(int64(len(rest)), "more table"),
			Lead: label.Clip(strings.Join(tableNames(rest), ", "), 200)})
	}
	return out
}

// tableNames returns the names of tables, each name with its count.
func tableNames(views []tableView) (out []string) {
	count := map[string]int{}
	for _, v := range views {
		if count[v.Name]++; count[v.Name] == 1 {
			out = append(out, v.Name)
		}
	}
	for i, name := range out {
		out[i] = label.Clip(label.Clean(name), 40)
		if n := count[name]; n > 1 {
			out[i] += fmt.Sprintf(" ×%d", n)
		}
	}
	return out
}

// screen returns the columns that fit on a screen, with at most the given number of rows.
func (v tableView) screen(most int) doc.Table {
	shown := v.Rows[:min(most, len(v.Rows))]
	t := doc.Table{Title: v.Kind.Plural}
	if v.ShareColumn >= 0 {
		t.Columns = []doc.Column{doc.Col("%", doc.Number)}
		t.More = doc.Rest{Total: v.ShareTotal, Of: v.ShareOf()}
	}
	var values []int
	names := []string{"count", "mean", "python", "native"}
	if v.Of == summary.OfRow {
		names = append(names, "bytes", "compute", "exposed comm", "idle", "transfer", "wait") // the last are of Ascend's tables
	}
	columns := []int{v.ShareColumn, v.RankColumn}
	for _, name := range names {
		columns = append(columns, v.Column(name))
	}
	for _, i := range append(columns, v.rates()...) {
		if i >= 0 && !slices.Contains(values, i) {
			values = append(values, i)
			t.Columns = append(t.Columns, doc.Col(v.ColumnTitle(i), doc.Number))
		}
	}
	t.Columns = append(t.Columns, doc.Col("category", doc.Text), doc.Col(v.Kind.Noun, v.nameKind()))
	for _, r := range shown {
		row := doc.Row{Weight: v.weight(r)}
		if v.ShareColumn >= 0 {
			row.Cells = []string{v.share(r)}
		}
		for _, i := range values {
			row.Cells = append(row.Cells, v.screenValue(r, i))
		}
		row.Cells = append(row.Cells, label.Clip(label.Clean(r.Category), doc.WordColumns), v.nameAmong(r, shown))
		t.Rows = append(t.Rows, row)
	}
	t.More = v.rest(t.More, shown)
	return t.WithoutEmpty()
}

// nameAmong returns the name of a row, with its file if another of the rows has the same name.
func (v tableView) nameAmong(r summary.TableRow, shown []summary.TableRow) string {
	file := r.Labels["file"]
	if v.Of != summary.OfFunction || file == "" || !slices.ContainsFunc(shown, func(other summary.TableRow) bool { return other.Name == r.Name && other.Labels["file"] != file }) {
		return r.Name
	}
	return r.Name + " (" + file[strings.LastIndexAny(file, `/\`)+1:] + ")"
}

// mostRates is the number of columns with rates and shares on the screen.
const mostRates = 3

// rates returns the first columns of amounts per second and of shares, which the authors of programs state for their
// parts and counters measure.
func (v tableView) rates() (out []int) {
	for i, c := range v.Columns {
		if len(out) < mostRates && (strings.HasSuffix(c.Unit, "/s") || c.Unit == "%") && slices.ContainsFunc(v.Rows, func(r summary.TableRow) bool { n, ok := r.Value(i); return ok && n > 0 }) {
			out = append(out, i)
		}
	}
	return out
}

// screenValue returns a value as text, or "" if the row has none.
func (v tableView) screenValue(r summary.TableRow, column int) string {
	n, ok := v.value(r, column)
	switch {
	case !ok:
		return ""
	case v.Columns[column].Unit == "ns":
		return doc.FourDigits(n)
	}
	return v.Printed(column, n)
}

// value returns the value of a row in a column. A function with time but zero calls comes from stacks,
// which show only that it ran; its number of calls is unknown.
func (v tableView) value(r summary.TableRow, column int) (int64, bool) {
	n, ok := r.Value(column)
	if n == 0 && v.Of == summary.OfFunction && v.Columns[column].Name == "count" && v.RankColumn >= 0 {
		total, _ := r.Value(v.RankColumn)
		return n, ok && total == 0
	}
	return n, ok
}
