package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"assay/summary"
	"assay/unit"
)

// A tableKind says how the report speaks of the tables of one kind of rows.
type tableKind struct {
	of    string
	file  string // the picture of the largest of them
	title string // of a table whose tool printed none
	row   string // what a row is
	rows  string // what rows are
	time  string // what their times add up to
}

// tableKinds are in the order of the report: what devices did comes before what
// the host did, and calls of the operating system come last, for they sum up how
// long threads slept.
func tableKinds() []tableKind {
	return []tableKind{
		{summary.OfKernel, "table-kernels", "Kernels", "kernel", "kernels", "kernel time"},
		{summary.OfDeviceOp, "table-device-work", "Device work", "device work", "kinds of device work", "device work"},
		{summary.OfCopy, "table-copies", "Copies and memsets", "copy", "kinds of copies", "copy and memset time"},
		{summary.OfOp, "table-operators", "Operators", "operator", "operators", "operator time"},
		{summary.OfFunction, "table-functions", "Functions", "function", "functions", "time in functions"},
		{summary.OfThread, "table-threads", "Threads", "thread", "threads", "time of threads"},
		{summary.OfCall, "table-calls", "Calls", "call", "calls", "time in calls"},
		{summary.OfRange, "table-ranges", "Ranges", "range", "ranges", "time in ranges"},
		{summary.OfRow, "table-rows", "Rows", "row", "rows", "the total"},
		{summary.OfOSCall, "table-os-calls", "Calls of the operating system", "call", "calls", "time in calls"},
	}
}

// A toolTable is a table of another tool with what its columns mean.
type toolTable struct {
	summary.Table
	kind  tableKind
	order int   // of the kind
	rank  int   // the column that sorts the rows, or -1
	part  int   // the column of which rows have shares, or -1: all of it is what the rows cost together
	sum   int64 // of the rows, or more if the tool has said so
	rows  int64 // of the rows
}

// viewTables returns the tables that have rows: those of devices first, of a kind
// those with the most first.
func viewTables(s *summary.Summary) []toolTable {
	var out []toolTable
	for _, t := range s.Tables {
		if len(t.Rows) == 0 && t.Left == 0 || t.Of == summary.OfEdge { // who called whom is for findings
			continue
		}
		out = append(out, viewOf(t))
	}
	slices.SortStableFunc(out, func(a, b toolTable) int {
		return cmp.Or(cmp.Compare(a.order, b.order), cmp.Compare(b.size(), a.size()))
	})
	return out
}

func viewOf(t summary.Table) toolTable {
	kinds := tableKinds()
	at := slices.IndexFunc(kinds, func(k tableKind) bool { return k.of == t.Of })
	if at < 0 { // of a later version of the schema
		at = slices.IndexFunc(kinds, func(k tableKind) bool { return k.of == summary.OfRow })
	}
	v := toolTable{Table: t, kind: kinds[at], order: at, rank: t.Rank(), part: -1}
	if v.rank >= 0 {
		v.part = slices.IndexFunc(t.Columns, func(c summary.TableColumn) bool {
			return c.Adds == summary.AddsSelf && c.Unit == t.Columns[v.rank].Unit
		})
		if self := t.Column("self"); self >= 0 && t.Columns[self].Adds == summary.AddsSelf && t.Columns[self].Unit == t.Columns[v.rank].Unit {
			v.part = self // before the number of calls, which may have the same unit
		}
		if t.Columns[v.rank].Adds == summary.AddsSelf {
			v.part = v.rank
		}
	}
	if v.part >= 0 {
		v.rows, _ = t.Sum(v.part)
		v.sum, _ = t.Whole(v.part)
	}
	return v
}

// size orders tables of one kind: those of times come before all others.
func (v toolTable) size() int64 {
	if v.rank < 0 || v.Columns[v.rank].Unit != "ns" {
		return -1
	}
	n, _ := v.Table.Sum(v.rank)
	return n
}

// heading is what the table is called.
func (v toolTable) heading() string {
	title := v.kind.title
	if v.rank >= 0 && v.Columns[v.rank].Unit == "bytes" {
		title += " by size"
	}
	return clip(clean(cmp.Or(v.Title, title)), 70)
}

// whole is what the shares of rows are of, with the sum.
func (v toolTable) whole() string {
	text := v.printed(v.part, v.sum)
	if v.Of != summary.OfFunction || v.Columns[v.part].Unit != "bytes" {
		text += " " + v.of()
	}
	if n := v.sum - v.rows; n > 0 {
		text += ", " + v.printed(v.part, n) + " of it in rows that were not printed"
	}
	return text
}

// of is what the shares of rows are of.
func (v toolTable) of() string {
	if v.part < 0 || v.Columns[v.part].Unit == "ns" {
		return v.kind.time
	}
	switch {
	case v.Of == summary.OfFunction && v.Columns[v.part].Unit == "bytes":
		return "all bytes"
	case v.Of == summary.OfFunction:
		return "samples"
	case v.Columns[v.part].Unit == "bytes":
		return "in all"
	}
	return "of all " + v.kind.rows
}

// printed prints a value of a column by itself.
func (v toolTable) printed(column int, n int64) string {
	switch u := v.Columns[column].Unit; u {
	case "ns":
		return unit.Duration(n)
	case "bytes":
		return unit.Bytes(n)
	case "count", "":
		return unit.Count(n)
	default:
		return unit.Count(n) + " " + clip(clean(u), 20)
	}
}

// sumsOnly reports whether tables of other tools are all there is: then nothing
// says when a device was idle, and the report must not ask for GPU events.
func (b *builder) sumsOnly() bool {
	return len(b.Tables) > 0 && len(b.Devices) == 0 && len(b.Spans) == 0 && len(b.Counters) == 0
}

// source says whose table it is and, where that is not plain, of which input.
func (b *builder) source(t summary.Table) string {
	text := clip(clean(t.Name), 60)
	if t.Tool != "" {
		text += " of " + clip(clean(t.Tool), 30)
	}
	if t.Line > 0 {
		text += fmt.Sprintf(", line %d", t.Line)
	}
	if len(b.Inputs) > 1 && t.Input >= 0 && t.Input < len(b.Inputs) {
		text += ", from " + clip(clean(b.below(b.Inputs[t.Input].Path)), 60)
	}
	return text
}

// maxTables is how many tables of other tools the report shows.
const maxTables = 40

// tables has a section for each table of another tool.
func (b *builder) tables() (out []Section) {
	views := tableViews(b.Summary)
	for _, v := range views[:min(maxTables, len(views))] {
		s := Section{Title: v.heading(), Lead: sentence("Table " + b.source(v.Table) + "."), Blocks: b.tablePictures(v)}
		before, after := b.functionBlocks(v)
		s.Blocks = slices.Concat(s.Blocks, before, []Block{v.table(maxKernels)}, after)
		if t, ok := v.categories(); ok {
			s.Blocks = append(s.Blocks, t)
		}
		out = append(out, s)
	}
	if rest := len(views) - len(out); rest > 0 {
		more := Section{Title: "More tables", Lead: plural(int64(rest), "more table") + " of other tools: the JSON has them."}
		for _, v := range views[len(out):] {
			more.Blocks = append(more.Blocks, b.tablePictures(v)...)
		}
		out = append(out, more)
	}
	return append(out, b.missingTables())
}

// tablePictures returns the picture of a table, if it has one: the largest of
// each kind does.
func (b *builder) tablePictures(v tableView) []Block {
	if first, ok := largestOf(b.Summary, v.kind.of); !ok || first.Input != v.Input || first.Number != v.Number {
		return nil
	}
	return b.pictures(v.kind.file + ".png")
}

// table sets all columns of at most the given number of rows.
func (v tableView) table(most int) Table {
	shown := v.Rows[:min(most, len(v.Rows))]
	t := Table{Title: v.kind.rows, Columns: []Column{{v.kind.row, v.nameKind()}}}
	if v.part >= 0 {
		t.Columns = append(t.Columns, Column{"share", Number})
		t.More = Rest{Total: v.sum, Of: v.of()}
	}
	print := v.printers(shown)
	for i := range v.Columns {
		t.Columns = append(t.Columns, Column{print[i].head(v.columnTitle(i)), Number})
	}
	keys := labelKeys(shown)
	t.Columns = append(t.Columns, Column{"class", Text}, Column{"category", Text}, Column{"kind", Text})
	for _, key := range keys {
		t.Columns = append(t.Columns, Column{clip(clean(key), 30), Name})
	}
	several := v.severalClasses()
	for _, r := range shown {
		cells := []string{r.Name}
		if v.part >= 0 {
			cells = append(cells, v.share(r))
		}
		for i := range v.Columns {
			cell := ""
			if n, ok := v.value(r, i); ok {
				cell = print[i].text(n)
			}
			cells = append(cells, cell)
		}
		class := ""
		if several {
			class = clip(clean(r.Class), 20)
		}
		cells = append(cells, class, clip(clean(r.Category), 24), clip(clean(r.Kind), 20))
		for _, key := range keys {
			cells = append(cells, r.Labels[key])
		}
		t.Rows = append(t.Rows, Row{Cells: cells, Weight: v.weight(r)})
	}
	t.More = v.rest(t.More, shown)
	t.Note = v.note()
	return t.withoutEmpty()
}

// share is what a row has of what all rows cost together; empty where that is
// not known.
func (v tableView) share(r summary.TableRow) string {
	n, ok := r.Value(v.part)
	if !ok {
		return ""
	}
	return unit.Share(n, v.sum)
}

// rest counts the rows that are not shown, those that are not in the summary
// among them.
func (v tableView) rest(more Rest, shown []summary.TableRow) Rest {
	more.Rows = len(v.Rows) - len(shown) + int(max(0, min(v.Left, 1<<30)))
	if v.part < 0 {
		return more
	}
	more.Weight = v.rows
	for _, r := range shown {
		more.Weight = summary.Plus(more.Weight, -max(v.weight(r), -math.MaxInt64))
	}
	return more
}

// weight is what a row adds to the sum that shares are of.
func (v tableView) weight(r summary.TableRow) int64 {
	n, _ := r.Value(v.part)
	return n
}

// nameKind returns how the names of rows are set.
func (v tableView) nameKind() Kind {
	switch v.nameForm() {
	case kernelForm:
		return KernelName
	case lineForm:
		return LineName
	}
	return Name
}

// nameForm returns how the names of rows are shortened.
func (v toolTable) nameForm() nameForm {
	switch v.Of {
	case summary.OfKernel, summary.OfDeviceOp:
		return kernelForm
	case summary.OfFunction:
		return lineForm
	}
	return plainForm
}

// A tableView is a table of another tool as the report prints it.
type tableView struct{ toolTable }

// tableViews returns the tables that have rows, in the order of the report.
func tableViews(s *summary.Summary) (out []tableView) {
	for _, t := range viewTables(s) {
		out = append(out, tableView{t})
	}
	return out
}

// severalClasses reports whether a column of classes tells rows apart.
func (v tableView) severalClasses() bool {
	for _, r := range v.Rows {
		if r.Class != v.Rows[0].Class {
			return true
		}
	}
	return false
}

// labelKeys returns what else the tool says of the rows.
func labelKeys(rows []summary.TableRow) []string {
	keys := map[string]bool{}
	for _, r := range rows {
		for key := range r.Labels {
			keys[key] = true
		}
	}
	sorted := slices.Sorted(maps.Keys(keys))
	return sorted[:min(6, len(sorted))]
}

// note says what the shares are of, and what must not be added up.
func (v tableView) note() string {
	var parts []string
	if v.part >= 0 {
		parts = append(parts, fmt.Sprintf("Shares are of %s, the sum of the column %q.", v.whole(), v.columnTitle(v.part)))
	}
	if slices.ContainsFunc(v.Columns, func(c summary.TableColumn) bool { return c.Adds == summary.AddsTotal && c.Unit == "ns" }) {
		parts = append(parts, "Rows may lie within other rows, whose totals then have their time, too: totals are not to be added up.")
	}
	return strings.Join(parts, " ")
}

// categories groups the rows of kernels by what they do.
func (v tableView) categories() (Table, bool) {
	type group struct {
		category, class    string
		total, runs, names int64
	}
	if v.part < 0 || v.Columns[v.part].Unit != "ns" || v.nameKind() != KernelName {
		return Table{}, false
	}
	count := v.Column("count")
	var groups []group
	for _, r := range v.Rows {
		key := group{category: clip(clean(cmp.Or(r.Category, r.Class)), 24), class: clip(clean(r.Class), 20)}
		at := slices.IndexFunc(groups, func(g group) bool { return g.category == key.category && g.class == key.class })
		if at < 0 {
			at = len(groups)
			groups = append(groups, key)
		}
		total, _ := r.Value(v.part)
		runs, _ := r.Value(count)
		g := &groups[at]
		g.total, g.runs, g.names = summary.Plus(g.total, total), summary.Plus(g.runs, runs), g.names+1
	}
	if len(groups) < 2 {
		return Table{}, false
	}
	slices.SortFunc(groups, func(a, b group) int {
		return cmp.Or(cmp.Compare(b.total, a.total), cmp.Compare(a.category, b.category), cmp.Compare(a.class, b.class))
	})
	scale := scaleOf(groups[0].total)
	t := Table{Title: "categories", More: Rest{Total: v.sum, Of: v.of()}, Columns: []Column{
		{"category", Text}, {"class", Text}, {"share", Number}, {scale.head("total"), Number}, {"count", Number}, {"names", Number},
	}}
	for _, g := range groups {
		runs := ""
		if count >= 0 {
			runs = unit.Count(g.runs)
		}
		t.Rows = append(t.Rows, Row{Weight: g.total, Cells: []string{
			g.category, g.class, unit.Share(g.total, v.sum), scale.text(g.total), runs, unit.Count(g.names),
		}})
	}
	t.Note = "The same rows by what they do, as far as their names tell."
	if v.Left > 0 {
		t.Note += " Rows that were left out are in no category."
	}
	return t.cut(maxKernels).withoutEmpty(), true
}

// missingTables says which tables the tool had nothing for.
func (b *builder) missingTables() Section {
	var list List
	for _, t := range b.Tables {
		switch {
		case t.Missing != "":
			list = append(list, Item{Mark: clip(clean(t.Name), 60), Text: sentence(t.Missing)})
		case len(t.Rows) == 0 && t.Left == 0:
			list = append(list, Item{Mark: clip(clean(t.Name), 60), Text: "it has no rows"})
		}
	}
	if list == nil {
		return Section{}
	}
	if rest := len(list) - maxTables; rest > 0 {
		list = append(list[:maxTables:maxTables], Item{Text: plural(int64(rest), "more table")})
	}
	return Section{Title: "Tables without rows", Lead: "What the tool said in their place.", Blocks: []Block{list}}
}
