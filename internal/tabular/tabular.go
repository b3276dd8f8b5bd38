// Package tabular is the model of a flat table for other programs: typed columns, and rows that are made one after
// another. It knows neither where rows come from nor how they are written.
package tabular

import (
	"math"
	"strconv"
)

// A Type is the type of the cells of a column.
type Type uint8

// The types. Structured cells are texts in JSON, for what a flat table cannot hold: maps, and lists within lists.
const (
	Text Type = iota
	Int
	Float
	Bool
	Structured
)

// String returns the name of the type.
func (t Type) String() string {
	return [...]string{"text", "int", "float", "bool", "json"}[t]
}

// A Column describes the cells at one index of all rows.
type Column struct {
	Name     string
	Type     Type
	List     bool // each cell is a list of values of the type
	Optional bool // cells can be null

	Unit   string // "ns", "bytes", "share", ...; "" for counts, numbers and texts
	Of     string // what a share is of, or the column that this is a part of; "" if nothing is known
	Alias  string // another name: that of a key in tables for people, "launched by"
	Named  bool   // a key that comes from the input, so that rows with different values have different names
	Nested bool   // a measure whose sum over rows of different names has no meaning, because they contain each other

	Role string // "key", or how rows are added up: "sum", "min", "max"; "" if the rows are not added up
	Says string // what it is, in one sentence
}

// A Cell is one value. The zero Cell is null.
type Cell struct {
	Known bool
	Int   int64 // also of a Bool: 0 or 1
	Float float64
	Text  string // also of Structured
	List  []Cell // of a column that is a list
}

// Of returns the cell of a text.
func Of(text string) Cell { return Cell{Known: true, Text: text} }

// Number returns the cell of a whole number.
func Number(n int64) Cell { return Cell{Known: true, Int: n} }

// Scalar returns the value of a cell that is no list: nil, string, int64, float64 or bool.
func (c *Cell) Scalar(t Type) any {
	switch {
	case !c.Known:
		return nil
	case t == Int:
		return c.Int
	case t == Float:
		return c.Float
	case t == Bool:
		return c.Int != 0
	}
	return c.Text
}

// String returns the text of a cell that is no list, "" for null.
func (c *Cell) String(t Type) string {
	switch {
	case !c.Known:
		return ""
	case t == Int:
		return strconv.FormatInt(c.Int, 10)
	case t == Float:
		if a := math.Abs(c.Float); a != 0 && (a < 1e-6 || a >= 1e21) { // as in JSON
			return strconv.FormatFloat(c.Float, 'e', -1, 64)
		}
		return strconv.FormatFloat(c.Float, 'f', -1, 64)
	case t == Bool:
		return strconv.FormatBool(c.Int != 0)
	}
	return c.Text
}

// A Mean is a measure of sums of rows: the sum of one column divided by that of another.
type Mean struct{ Name, Over, Under string }

// A Table is a list of rows with the same columns.
type Table struct {
	Name    string
	Says    string // what a row is
	Columns []Column
	Plain   string // why rows cannot be added up; "" if they can
	Means   []Mean
	// Each calls yield with every row, until it returns false. The slice is valid until yield returns.
	Each func(yield func([]Cell) bool) error
}

// Find returns the index of a column, or -1.
func (t *Table) Find(name string) int {
	for i := range t.Columns {
		if t.Columns[i].Name == name {
			return i
		}
	}
	return -1
}
