// Package show prints sums of rows as tables. Which columns a table has is a string; what they are
// called, in which unit they are and how they are printed follows from the description of the rows.
package show

import (
	"fmt"
	"strings"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/doc"
	"assay/summary/row"
)

// A View says what a table shows.
type View struct {
	// Columns has the names of columns, with semicolons: "kernel;%;total;launched by". "TITLE=NAME"
	// has another title. The names "%" and "%NAME" are shares: of the main measure, or of another
	// one; "#NAME" is how many values of a key the rows of the sum have, and "#" how many rows.
	Columns string
	Most    int                  // rows, 0 for all
	Title   string               // what the rows are, if not the name of the kind
	Whole   int64                // what shares are of, if not the main measure of all rows
	WholeOf func(*row.Row) int64 // what the share of the main measure of one row is of, if not Whole
	Of      string               // its name, if not that of the kind
	Per     int64                // sums of times are shown as means of so many GPUs; 0 is 1
	Cells   map[string]Cell      // of columns that the description does not have, or has otherwise
}

// A Cell makes the cells of a column.
type Cell struct {
	Kind doc.Kind
	Text func(*row.Row) string
}

// Limits of names in cells, in columns of a terminal.
const (
	nameColumns = 40 // of the value with the most
	mostNumbers = 4
)

// Table returns the table. All times that share a unit are printed in that of the longest one.
func (v View) Table(t *row.Table) doc.Table {
	if v.Whole == 0 && v.Of == "" {
		v.Whole = t.Whole
	}
	if v.Of == "" {
		v.Of = t.Of
	}
	if v.Title == "" {
		v.Title = t.Name
	}
	out := doc.Table{Title: v.Title, More: doc.Rest{Total: v.Whole, Of: v.Of}}
	shown := t.Rows
	if v.Most > 0 && v.Most < len(shown) {
		shown = shown[:v.Most]
	}
	for i := range t.Rows {
		if weight := t.Main(&t.Rows[i]); i < len(shown) {
			out.Rows = append(out.Rows, doc.Row{Weight: weight})
		} else {
			out.More.Rows++
			out.More.Weight += weight
		}
	}
	for item := range strings.SplitSeq(v.Columns, ";") {
		title, name, ok := strings.Cut(item, "=")
		if !ok {
			name = title
		}
		title, cell := v.column(t, shown, title, name)
		out.Columns = append(out.Columns, doc.Col(title, cell.Kind))
		for i := range shown {
			out.Rows[i].Cells = append(out.Rows[i].Cells, cell.Text(&shown[i]))
		}
	}
	return out
}

// column returns the title of a column with its unit, and what makes its cells.
func (v View) column(t *row.Table, shown []row.Row, title, name string) (string, Cell) {
	if cell, ok := v.Cells[name]; ok {
		return title, cell
	}
	number := func(text func(*row.Row) string) (string, Cell) { return title, Cell{doc.Number, text} }
	share, isShare := strings.CutPrefix(name, "%")
	of, isValues := strings.CutPrefix(name, "#")
	switch {
	case name == "%":
		if v.WholeOf != nil {
			return number(func(r *row.Row) string { return unit.Share(t.Main(r), v.WholeOf(r)) })
		}
		return number(func(r *row.Row) string { return unit.Share(t.Main(r), v.Whole) })
	case isShare:
		return number(func(r *row.Row) string { return unit.Share(t.Number(r, share), v.Whole) })
	case name == "#":
		return number(func(r *row.Row) string { return unit.Count(int64(len(r.Of))) })
	case isValues:
		return number(func(r *row.Row) string { return unit.Count(int64(len(t.Values(r, of)))) })
	}
	c := t.Column(name)
	switch {
	case c.Adds == row.Key:
		return title, key(t, c)
	case c.Unit == row.Bytes:
		return number(func(r *row.Row) string { return unit.FineBytes(t.Number(r, name)) })
	case c.Unit == row.Count:
		return number(func(r *row.Row) string { return unit.Count(t.Number(r, name)) })
	}
	scale := v.scale(t, shown, base(c))
	return scale.Head(title), Cell{doc.Number, func(r *row.Row) string { return scale.Text(v.time(t, r, c)) }}
}

// base returns the name of the column whose unit a column has.
func base(c *row.Column) string {
	if c.With != "" {
		return c.With
	}
	return c.Name
}

// scale returns the unit of the columns that share that of one.
func (v View) scale(t *row.Table, shown []row.Row, of string) doc.Scale {
	var times []int64
	for item := range strings.SplitSeq(v.Columns, ";") {
		name := item[strings.IndexByte(item, '=')+1:]
		if _, own := v.Cells[name]; own {
			continue
		}
		i, ok := t.Find(name)
		if c := &t.Columns[i]; ok && c.Unit == row.Time && base(c) == of {
			for j := range shown {
				times = append(times, v.time(t, &shown[j], c))
			}
		}
	}
	return doc.ScaleOf(times...)
}

// time returns a time of a row; sums are per GPU.
func (v View) time(t *row.Table, r *row.Row, c *row.Column) int64 {
	ns := t.Number(r, c.Name)
	if c.Adds == row.Sum && v.Per > 1 {
		ns = doc.Mean(ns, v.Per)
	}
	return ns
}

// kindOf returns the kind of the cells with keys of a form.
func kindOf(f row.Form) doc.Kind {
	return [...]doc.Kind{row.Word: doc.Text, row.Name: doc.Name, row.Symbol: doc.KernelName, row.Place: doc.LineName}[f]
}

// key returns the cells of a key. Of one by which rows are not apart they have the value with the most of the main
// measure, or the numbers.
func key(t *row.Table, c *row.Column) Cell {
	kind := kindOf(c.Form)
	apart, number := t.Apart(c.Name), t.IsNumber(c)
	switch {
	case number && apart:
		return Cell{doc.Number, func(r *row.Row) string { return t.Text(r, c.Name) }}
	case number:
		return Cell{doc.Text, func(r *row.Row) string { return numbers(t.Values(r, c.Name), c.Name) }}
	case !apart:
		return Cell{kind, func(r *row.Row) string { return most(t, r, c.Name) }}
	case c.Form == row.Word:
		return Cell{kind, func(r *row.Row) string { return label.Clip(label.Clean(t.Text(r, c.Name)), doc.WordColumns) }}
	}
	return Cell{kind, func(r *row.Row) string { return t.Text(r, c.Name) }}
}

// most returns the known value with the most, and its share if there are others.
func most(t *row.Table, r *row.Row, name string) string {
	values := t.Values(r, name)
	for _, v := range values {
		if v.Text == "" {
			continue
		}
		text := label.Clip(label.Clean(v.Text), nameColumns)
		if len(values) > 1 {
			text += fmt.Sprintf(" (%s)", unit.Share(v.Main, t.Main(r)))
		}
		return text
	}
	return ""
}

// numbers returns a few numbers, or how many there are.
func numbers(values []row.Value, noun string) string {
	if len(values) > mostNumbers {
		return label.Plural(int64(len(values)), noun)
	}
	var parts []string
	for _, v := range values {
		parts = append(parts, v.Text)
	}
	return strings.Join(parts, ", ")
}
