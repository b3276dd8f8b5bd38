// Package report turns a summary and its judgment into something to read: a
// one-screen text, a Markdown report with pictures, a step summary for CI, and
// JSON. It sees no events: what is in the summary is all it can show.
//
// [Build] makes a [Doc], which is data; the methods of Doc print it. Equal
// input gives equal bytes: nothing here asks for the time, the locale or the
// terminal, and every sort is total.
//
// # Style
//
// The verdict comes first, then what may be wrong with the capture, then where
// the time went, then details by falling impact. A share names its denominator
// in the header of its column or in the note of its table. All times of a
// column have one unit, named in the header, and the same number of decimals,
// so that they can be compared by eye; a time that is not zero never prints as
// zero ("<0.001"). What a table leaves out is counted, with its share. Kernel
// names are shortened such that different names stay different; the JSON has
// them in full. A class of GPU work has one colour in all pictures.
//
// Names come from the program under test and may hold anything. Every renderer
// escapes what would have a meaning to its reader: Markdown and HTML in
// Markdown, control characters in a terminal, missing glyphs in pictures.
package report

import (
	"slices"

	"assay/compare"
	"assay/judge"
	"assay/report/plot"
	"assay/summary"
)

// A Doc is a report as data. Its strings are plain text without control
// characters, which renderers escape and wrap; only cells of the kinds [Name],
// [KernelName] and [LineName] are as the summary has them.
type Doc struct {
	Title    string
	Screen   []Section // the one-screen summary
	Sections []Section // the whole report

	summary *summary.Summary
	result  judge.Result
	charts  []plot.Chart
	madeBy  string // see [Doc.MadeBy]

	comparison *compare.Comparison // of two runs; there is no summary then
}

// A Section is a part of a Doc under one heading.
type Section struct {
	Title  string
	Lead   string // what stands beside the title: a caption, a denominator
	Blocks []Block
}

// A Block is a [Paragraph], a [List], a [Table] or a [Picture].
type Block interface{ block() }

// A Paragraph is running text.
type Paragraph struct {
	Text   string
	Strong bool // the sentence to read if only one is read
}

// A List is a list of points.
type List []Item

// An Item is one point of a list, with points of its own.
type Item struct {
	Mark string // a word that tells what kind of point it is, or ""
	Text string
	Code string // a name or path that follows the text, or ""
	Sub  List

	Source Source // where it comes from; only Markdown shows it
}

// A Source is a page of documentation.
type Source struct{ Title, URL string }

// A Table is a table of which perhaps not all rows are shown.
type Table struct {
	Title   string // what the rows are, in plural: "kernels"
	Columns []Column
	Rows    []Row
	More    Rest   // the rows that were left out
	Note    string // what the reader must know about columns and denominators
}

// A Column says how the cells below its title are set.
type Column struct {
	Title string
	Kind  Kind
}

// A Kind is the kind of the cells of a column.
type Kind uint8

// The kinds. Numbers are set right, all others left. A name came from outside:
// it is set as code where there is such a thing, and shortened where there is
// no room.
const (
	Text Kind = iota
	Number
	Name       // kept in front when cut
	KernelName // may lose namespaces and arguments when cut
	LineName   // may lose directories
)

// A Row is one row of a table.
type Row struct {
	Cells  []string
	Weight int64 // what the row adds to the total that More's share is of
}

// A Rest describes rows that are not shown.
type Rest struct {
	Rows   int
	Weight int64  // of these rows
	Total  int64  // weight of all rows, shown or not; 0 if rows have no weight
	Of     string // what Total is, as "kernel time"
}

// A Picture stands where a chart belongs.
type Picture struct{ Chart plot.Chart }

func (Paragraph) block() {}

func (List) block() {}

func (Table) block() {}

func (Picture) block() {}

// Charts returns the pictures of the report in the order of their places.
func (d Doc) Charts() []plot.Chart { return d.charts }

// Texts returns pointers to what the document says in texts of its own, for a caller
// that rewrites them before they are written. Those of the summary are the caller's.
func (d *Doc) Texts() []any { return []any{&d.result, &d.charts} }

// withoutEmpty returns t without the columns that have nothing in any row.
func (t Table) withoutEmpty() Table {
	var keep []int
	for i := range t.Columns {
		if slices.ContainsFunc(t.Rows, func(r Row) bool { return r.Cells[i] != "" }) {
			keep = append(keep, i)
		}
	}
	if len(t.Rows) == 0 || len(keep) == len(t.Columns) {
		return t
	}
	columns, rows := t.Columns, t.Rows
	t.Columns, t.Rows = nil, make([]Row, len(rows))
	for _, i := range keep {
		t.Columns = append(t.Columns, columns[i])
		for j, r := range rows {
			t.Rows[j].Weight = r.Weight
			t.Rows[j].Cells = append(t.Rows[j].Cells, r.Cells[i])
		}
	}
	return t
}

// cut returns t with at most n rows; the others are counted in More.
func (t Table) cut(n int) Table {
	if len(t.Rows) <= n {
		return t
	}
	for _, r := range t.Rows[n:] {
		t.More.Rows++
		t.More.Weight = summary.Plus(t.More.Weight, r.Weight)
	}
	t.Rows = t.Rows[:n:n]
	return t
}
