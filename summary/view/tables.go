package view

import (
	"cmp"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/summary"
)

// A TableKind says how the report speaks of the tables of one kind of rows.
type TableKind struct {
	Of     string
	File   string // the picture of the largest of them
	title  string // of a table whose tool printed none
	Noun   string // what a row is
	Plural string // what rows are
	time   string // what their times add up to
}

// TableKinds returns the kinds in the order of the report: GPU before CPU. Calls of the
// operating system are last, because they include the time that threads slept.
func TableKinds() []TableKind {
	return []TableKind{
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

// A ToolTable is a table of another tool with what its columns mean.
type ToolTable struct {
	summary.Table
	Kind        TableKind
	order       int   // of the kind
	RankColumn  int   // the column that sorts the rows, or -1
	ShareColumn int   // the column of which rows have shares, or -1: all of it is what the rows cost together
	ShareTotal  int64 // of the rows, or more if the tool has said so
	RowsTotal   int64 // of the rows
}

// Tables returns the tables that have rows: those of devices first, of a kind
// those with the most first.
func Tables(s *summary.Summary) []ToolTable {
	var out []ToolTable
	for _, t := range s.Tables {
		if len(t.Rows) == 0 && t.Left == 0 || t.Of == summary.OfEdge { // who called whom is for findings
			continue
		}
		out = append(out, viewOf(t))
	}
	slices.SortStableFunc(out, func(a, b ToolTable) int {
		return cmp.Or(cmp.Compare(a.order, b.order), cmp.Compare(b.Size(), a.Size()))
	})
	return out
}

func viewOf(t summary.Table) ToolTable {
	kinds := TableKinds()
	at := slices.IndexFunc(kinds, func(k TableKind) bool { return k.Of == t.Of })
	if at < 0 { // of a later version of the schema
		at = slices.IndexFunc(kinds, func(k TableKind) bool { return k.Of == summary.OfRow })
	}
	v := ToolTable{Table: t, Kind: kinds[at], order: at, RankColumn: t.Rank()}
	v.ShareColumn = CostColumn(&t)
	if v.ShareColumn >= 0 {
		v.RowsTotal, _ = t.Sum(v.ShareColumn)
		v.ShareTotal, _ = t.Whole(v.ShareColumn)
	}
	return v
}

// CostColumn returns the index of the column whose sum over the rows is what they cost
// together, in the unit by which the table is sorted: the time of functions without the
// functions that they call. It is -1 if there is none.
func CostColumn(t *summary.Table) int {
	rank := t.Rank()
	if rank < 0 {
		return -1
	}
	adds := func(i int) bool {
		return t.Columns[i].Adds == summary.AddsSelf && t.Columns[i].Unit == t.Columns[rank].Unit
	}
	if adds(rank) {
		return rank
	}
	if self := t.Column("self"); self >= 0 && adds(self) { // before the number of calls, which may have the same unit
		return self
	}
	for i := range t.Columns {
		if adds(i) {
			return i
		}
	}
	return -1
}

// Size orders tables of one kind: those of times come before all others.
func (v ToolTable) Size() int64 {
	if v.RankColumn < 0 || v.Columns[v.RankColumn].Unit != "ns" {
		return -1
	}
	n, _ := v.Table.Sum(v.RankColumn)
	return n
}

// Heading is what the table is called.
func (v ToolTable) Heading() string {
	title := v.Kind.title
	if v.RankColumn >= 0 && v.Columns[v.RankColumn].Unit == "bytes" {
		title += " by size"
	}
	return label.Clip(label.Clean(cmp.Or(v.Title, title)), 70)
}

// ShareOfText names what the shares of rows are of, with its total.
func (v ToolTable) ShareOfText() string {
	text := v.Printed(v.ShareColumn, v.ShareTotal)
	if v.Of != summary.OfFunction || v.Columns[v.ShareColumn].Unit != "bytes" {
		text += " " + v.ShareOf()
	}
	if n := v.ShareTotal - v.RowsTotal; n > 0 {
		text += ", " + v.Printed(v.ShareColumn, n) + " of it in rows that were not printed"
	}
	return text
}

// ShareOf names what the shares of rows are of.
func (v ToolTable) ShareOf() string {
	if v.ShareColumn < 0 || v.Columns[v.ShareColumn].Unit == "ns" {
		return v.Kind.time
	}
	switch {
	case v.Of == summary.OfFunction && v.Columns[v.ShareColumn].Unit == "bytes":
		return "all bytes"
	case v.Of == summary.OfFunction:
		return "samples"
	case v.Columns[v.ShareColumn].Unit == "bytes":
		return "in all"
	}
	return "of all " + v.Kind.Plural
}

// Printed prints a value of a column by itself.
func (v ToolTable) Printed(column int, n int64) string {
	switch u := v.Columns[column].Unit; u {
	case "ns":
		return unit.FineDuration(n)
	case "bytes":
		return unit.FineBytes(n)
	case "count", "":
		return unit.Count(n)
	default:
		return unit.Count(n) + " " + label.Clip(label.Clean(u), 20)
	}
}

// NameForm returns how the names of rows are shortened.
func (v ToolTable) NameForm() label.Form {
	switch v.Of {
	case summary.OfKernel, summary.OfDeviceOp:
		return label.Kernel
	case summary.OfFunction:
		return label.Line
	}
	return label.Plain
}

// ColumnTitle is the name of a column in words.
func (v ToolTable) ColumnTitle(column int) string {
	return strings.ReplaceAll(label.Clip(label.Clean(v.Columns[column].Name), 30), "_", " ")
}

// LargestTable returns the table of a kind that has a picture: the first of them
// that has times.
func LargestTable(s *summary.Summary, of string) (ToolTable, bool) {
	for _, v := range Tables(s) {
		if v.Kind.Of == of && v.Size() > 0 {
			return v, true
		}
	}
	return ToolTable{}, false
}
