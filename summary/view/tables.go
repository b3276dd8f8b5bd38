package view

import (
	"cmp"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/summary"
)

// A TableKind has the words with which the report presents the tables of one kind of rows.
type TableKind struct {
	Of     string
	File   string // name of the picture of the largest table
	title  string // heading if the tool printed none
	Noun   string // for one row
	Plural string // for several rows
	time   string // name of the sum of their times
}

// TableKinds returns the kinds in the order of the report: GPU before CPU. Calls of the operating system
// are last, because they include the time that threads slept.
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

// A ToolTable is a table of another tool with the meaning of its columns.
type ToolTable struct {
	summary.Table
	Kind        TableKind
	order       int   // position of the kind in TableKinds
	RankColumn  int   // the column that sorts the rows, or -1
	ShareColumn int   // the column whose sum is the denominator of shares, or -1
	ShareTotal  int64 // denominator of shares: the sum of the rows, or the tool's own sum if that is larger
	RowsTotal   int64 // sum of the rows in ShareColumn
}

// Tables returns the tables that have rows: tables of devices first, and within a kind the largest first.
func Tables(s *summary.Summary) []ToolTable {
	var out []ToolTable
	for _, t := range s.Tables {
		if len(t.Rows) == 0 && t.Left == 0 || t.Of == summary.OfEdge { // callers and callees are used by findings only
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
	if at < 0 { // a kind of a later version of the schema
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

// CostColumn returns the index of the column whose sum over the rows is their total cost, in the unit by
// which the table is sorted. For functions it is the self time, because total times include callees. It is
// -1 if there is no such column.
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
	if self := t.Column("self"); self >= 0 && adds(self) { // preferred to the count, whose unit may be the same
		return self
	}
	for i := range t.Columns {
		if adds(i) {
			return i
		}
	}
	return -1
}

// Size is the sort key of tables of one kind. Tables of times come before all others, whose size is -1.
func (v ToolTable) Size() int64 {
	if v.RankColumn < 0 || v.Columns[v.RankColumn].Unit != "ns" {
		return -1
	}
	n, _ := v.Table.Sum(v.RankColumn)
	return n
}

// Heading is the title of the table.
func (v ToolTable) Heading() string {
	title := v.Kind.title
	if v.RankColumn >= 0 && v.Columns[v.RankColumn].Unit == "bytes" {
		title += " by size"
	}
	return label.Clip(label.Clean(cmp.Or(v.Title, title)), 70)
}

// ShareOfText names the denominator of the rows' shares, with its value.
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

// ShareOf names the denominator of the rows' shares.
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

// Printed formats a value of a column, with its unit.
func (v ToolTable) Printed(column int, n int64) string {
	switch u := v.Columns[column].Unit; u {
	case "ns":
		return unit.FineDuration(n)
	case "bytes":
		return unit.FineBytes(n)
	case "GFLOP/s":
		return unit.FLOPRate(float64(n) * 1e9)
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

// ColumnTitle is the name of a column for display.
func (v ToolTable) ColumnTitle(column int) string {
	return strings.ReplaceAll(label.Clip(label.Clean(v.Columns[column].Name), 30), "_", " ")
}

// LargestTable returns the table of a kind that has a picture: the first one with times.
func LargestTable(s *summary.Summary, of string) (ToolTable, bool) {
	for _, v := range Tables(s) {
		if v.Kind.Of == of && v.Size() > 0 {
			return v, true
		}
	}
	return ToolTable{}, false
}
