package profile

import (
	"fmt"

	"assay/internal/diag"
)

// A Table is a profile as a tool printed it: rows of one name each, in which
// cells may be empty and most columns do not add up. A [Profile] promises
// neither, so tables keep to themselves what it has no place for: two rows may
// have one name, where the tool has cut it, and stay two rows.
type Table struct {
	Name  string // as its tool calls it: "cuda_gpu_kern_sum"
	Title string // as its tool prints it; "" if it did not
	Of    string // what a row is: one of the Of constants
	Run   string // what its tool calls the run that it measured, as "report1"; "" if it does not say
	Tool  string // that printed it; "" for the tool of all tables of the input
	Line  int    // where it begins in the input; 0 if that is not known
	Clock string // what its times are measured with: [ClockWall], [ClockCPU] or "" if unknown

	Columns []Heading
	Rows    []Row // in the order of the tool

	// Rows that a limit left out: how many, and what they add up to, a cell for
	// each column.
	Left int64
	Rest []Cell

	// Totals are what the tool itself says that a column adds up to, the rows that
	// it did not print included; a cell for each column, known where that is more
	// than rounding apart from the rows. Nil if there is none.
	Totals []Cell

	// Missing is the message that the tool printed instead of rows, or "".
	Missing string
}

// What the rows of a table are.
const (
	OfKernel   = "kernel"   // a kernel of a device
	OfCopy     = "copy"     // a kind of memory copy or fill
	OfDeviceOp = "gpu-op"   // any of both
	OfCall     = "call"     // a call of a runtime or driver
	OfOSCall   = "os-call"  // a call of the operating system
	OfRange    = "range"    // a span that the program marked
	OfOp       = "op"       // an operator of a framework
	OfFunction = "function" // a function of the program
	OfEdge     = "edge"     // the calls of a function by one other, which the label "caller" names
	OfThread   = "thread"   // a thread of the program
	OfRow      = "row"      // not known, or several of these
)

// The clocks of a table. Wall time includes the time in which a function waits; CPU
// time does not.
const (
	ClockWall = "wall"
	ClockCPU  = "cpu"
)

// A Heading says what the cells at one index are.
type Heading struct {
	Name string // "total", "count", "mean", "median", "min", "max", "stddev", "self", "bytes" or the tool's own
	Unit string // "nanoseconds", "bytes", "count"
	Adds Adds
}

// Adds says what a column's cells add up to.
type Adds uint8

// The kinds of columns.
const (
	Each  Adds = iota // cells do not add up: each is a value per run, such as an average
	Self              // cells add up to the total
	Total             // cells include those of other rows, so they add up to more than the total
)

// A Row is one row.
type Row struct {
	Name   string
	Cells  []Cell  // one for each column
	Labels []Label // sorted
	Line   int     // where it is in the input; 0 if it was put together from several
}

// A Cell is a value, or none.
type Cell struct {
	Value int64
	Known bool
}

// Known returns the cell of a value.
func Known(value int64) Cell { return Cell{value, true} }

// Plus adds two cells. One without a value adds nothing.
func (c Cell) Plus(d Cell) Cell {
	switch {
	case !c.Known:
		return d
	case !d.Known:
		return c
	}
	return Known(plus(c.Value, d.Value))
}

// Column returns the index of the first column of that name.
func (t *Table) Column(name string) (index int, ok bool) {
	for i, h := range t.Columns {
		if h.Name == name {
			return i, true
		}
	}
	return 0, false
}

// Sum adds up a column over all rows, those left out too. It means nothing
// where the column's Adds is Each.
func (t *Table) Sum(column int) (sum Cell) {
	for i := range t.Rows {
		sum = sum.Plus(t.Rows[i].Cells[column])
	}
	if t.Rest != nil {
		sum = sum.Plus(t.Rest[column])
	}
	return sum
}

// Check reports what of t contradicts itself.
func (t *Table) Check() error {
	for i := range t.Rows {
		if n := len(t.Rows[i].Cells); n != len(t.Columns) {
			return fmt.Errorf("table %q: row %d has %d cells for %d columns", t.Name, i, n, len(t.Columns))
		}
	}
	if t.Rest != nil && len(t.Rest) != len(t.Columns) {
		return fmt.Errorf("table %q: the rest has %d cells for %d columns", t.Name, len(t.Rest), len(t.Columns))
	}
	if t.Totals != nil && len(t.Totals) != len(t.Columns) {
		return fmt.Errorf("table %q: the totals have %d cells for %d columns", t.Name, len(t.Totals), len(t.Columns))
	}
	return nil
}

// Tables is all that one input holds of them.
type Tables struct {
	Tool     string // that printed them: "nsys", "torch"
	List     []*Table
	Records  int64 // rows that were read, usable or not
	Complete bool  // the input was read to its end
	Issues   []diag.Issue
}
