// Package doc is the model of a document, with its renderers for a terminal and for Markdown, and the
// printing of names and numbers. It does not know summaries, so every command can use it.
//
// A [Doc] has sections, a section has blocks: paragraphs, lists, tables, pictures. text.go renders for
// a terminal and markdown.go for Markdown; grid.go draws tables with lines; scale.go chooses units,
// shorten.go shortens names and sentences, and escape.go makes names safe.
//
// All times of a column have one unit, which is in the column head, and the same number of decimals,
// so that they can be compared by eye. A time that is not zero never prints as zero ("<0.001"). Tables
// count the rows that they leave out, with their share.
//
// Names come from the program under test and may contain anything. Every renderer escapes what would
// have a meaning to its reader: Markdown and HTML in Markdown, control characters in a terminal,
// missing glyphs in pictures.
package doc

import (
	"cmp"
	"slices"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/plot"
)

// InPlace sorts charts into their order in the sections and returns them.
func InPlace(charts []plot.Chart, sections []Section) []plot.Chart {
	at := map[string]int{}
	for _, s := range sections {
		for _, block := range s.Blocks {
			if p, ok := block.(Picture); ok {
				at[p.Chart.Name] = len(at)
			}
		}
	}
	slices.SortStableFunc(charts, func(a, b plot.Chart) int { return cmp.Compare(at[a.Name], at[b.Name]) })
	return charts
}

// Present returns the sections that have content.
func Present(sections ...Section) []Section {
	return slices.DeleteFunc(sections, func(s Section) bool { return len(s.Blocks) == 0 && s.Lead == "" })
}

// A Doc is a report as data. Its strings are plain text without control characters, which renderers escape
// and wrap. Only cells of the kinds [Name], [KernelName] and [LineName] are unprocessed names from the
// input.
type Doc struct {
	Title    string
	Screen   []Section // the one-screen summary
	Brief    []Section // the page for a pull request, with which the report begins; see [Doc.BriefMarkdown]
	Sections []Section // the report after that page

	Pictures plot.Form // which files of the pictures Markdown links
}

// A Section is a part of a Doc under one heading.
type Section struct {
	Title  string
	Lead   string // a caption or a denominator; the screen prints it after the title
	Blocks []Block
	Fold   bool // Markdown shows it on a click
	Drawn  bool // the HTML page shows it in another form
}

// A Block is a [Paragraph], a [List], a [Table] or a [Picture].
type Block interface{ block() }

// A Paragraph is running text.
type Paragraph struct {
	Text   string
	Strong bool // the most important sentence
}

// A List is a list of points.
type List []Item

// An Item is one point of a list, with points of its own.
type Item struct {
	Mark string // the kind of the point, or ""
	Text string
	Code string // a name or path that follows the text, or ""
	Sub  List

	Ticks bool // backticks in Text enclose code

	Source Source // where it comes from; only Markdown shows it
}

// A Source is a page of documentation.
type Source struct{ Title, URL string }

// A Table is a table. It may leave out rows.
type Table struct {
	Title   string // what the rows are, in plural: "kernels"
	Columns []Column
	Rows    []Row
	More    Rest   // the rows that were left out
	Left    int    // how many columns Narrow left out
	Narrows bool   // on a screen, columns that do not fit are left out
	Note    string // explains columns and denominators
}

// Narrow returns t without its last columns, as many as necessary for lines of the given number of terminal
// columns. The table is indented by two columns, and two separate its cells.
func (t Table) Narrow(width int) Table {
	used, keep := 0, 0
	for i, c := range t.Columns {
		widest := label.Width(c.Title)
		for _, r := range t.Rows {
			widest = max(widest, label.Width(r.Cells[i]))
		}
		if used += 2 + widest; used > width {
			break
		}
		keep++
	}
	left := len(t.Columns) - keep
	if keep == 0 || left == 0 {
		return t
	}
	rows := make([]Row, len(t.Rows))
	for i, r := range t.Rows {
		rows[i] = r
		rows[i].Cells = r.Cells[:keep:keep]
	}
	t.Columns, t.Rows = t.Columns[:keep:keep], rows
	t.Left += left
	return t
}

// usualWidth is the number of columns of text where no other is given.
const usualWidth = 80

// fitted returns t as it fits into lines of the given number of columns.
func (t Table) fitted(columns int) Table {
	if t.Narrows {
		return t.Narrow(columns)
	}
	return t
}

// leftText states how many columns are left out, or returns "".
func (t Table) leftText() string {
	if t.Left == 0 {
		return ""
	}
	return label.Plural(int64(t.Left), "more column") + " in the report"
}

// A Column has the title and the kind of its cells.
type Column struct {
	Title string
	Kind  Kind
}

// Col returns a column.
func Col(title string, kind Kind) Column { return Column{title, kind} }

// A Kind is the kind of the cells of a column.
type Kind uint8

// The kinds. Numbers are aligned right, all others left. A name comes from the input:
// it is set as code in Markdown, and shortened where it does not
// fit.
const (
	Text Kind = iota
	Number
	Name       // keeps its beginning when shortened
	KernelName // may lose namespaces and arguments when shortened
	LineName   // may lose directories when shortened
)

// A Row is one row of a table.
type Row struct {
	Cells  []string
	Weight int64 // contribution of the row to More.Total
}

// A Rest describes rows that are not shown.
type Rest struct {
	Rows   int
	Weight int64  // weight of these rows
	Total  int64  // weight of all rows, shown or not; 0 if rows have no weight
	Of     string // what Total is, for example "total kernel time"
}

// A Picture is the position of a chart in a section.
type Picture struct{ Chart plot.Chart }

func (Paragraph) block() {}

func (List) block() {}

func (Table) block() {}

func (Picture) block() {}

// WithoutEmpty returns t without the columns that are empty in all rows.
func (t Table) WithoutEmpty() Table {
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

// Cut returns t with at most n rows; the others are counted in More.
func (t Table) Cut(n int) Table {
	if len(t.Rows) <= n {
		return t
	}
	for _, r := range t.Rows[n:] {
		t.More.Rows++
		t.More.Weight = unit.Plus(t.More.Weight, r.Weight)
	}
	t.Rows = t.Rows[:n:n]
	return t
}

// Say replaces words in all texts of a document but names, which come from the input. A nil function changes nothing.
func (d *Doc) Say(words func(string) string) {
	if words == nil {
		return
	}
	for _, sections := range [][]Section{d.Screen, d.Brief, d.Sections} {
		for i := range sections {
			s := &sections[i]
			s.Title, s.Lead = words(s.Title), words(s.Lead)
			for k, b := range s.Blocks {
				s.Blocks[k] = said(b, words)
			}
		}
	}
}

// said returns a block with words replaced.
func said(b Block, words func(string) string) Block {
	switch b := b.(type) {
	case Paragraph:
		b.Text = words(b.Text)
		return b
	case List:
		sayList(b, words)
	case Table:
		b.Title, b.Note = words(b.Title), words(b.Note)
		for _, row := range b.Rows {
			for i := range min(len(row.Cells), len(b.Columns)) {
				if !b.Columns[i].Kind.isName() || b.Columns[i].Title == "GPU" {
					row.Cells[i] = words(row.Cells[i])
				}
			}
		}
		b.Columns = slices.Clone(b.Columns)
		for i := range b.Columns {
			b.Columns[i].Title = words(b.Columns[i].Title)
		}
		return b
	}
	return b
}

func sayList(list List, words func(string) string) {
	for i := range list {
		list[i].Text = words(list[i].Text)
		if list[i].Mark == "GPU" {
			list[i].Mark = words(list[i].Mark)
		}
		sayList(list[i].Sub, words)
	}
}
