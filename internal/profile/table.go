package profile

import (
	"fmt"

	"assay/internal/diag"
)

// A Table is a table of costs as a tool printed it. It differs from a [Profile]:
// cells may have no value, most columns do not add up, and several rows may have the
// same name, because the tool shortened their names.
type Table struct {
	Name  string // the tool's name of the table: "cuda_gpu_kern_sum"
	Title string // the title that the tool printed, or ""
	Of    string // the kind of its rows: one of the Of constants
	Run   string // the tool's name of the measured run, such as "report1"; "" if unknown
	Tool  string // the tool that printed it; "" for Tables.Tool
	Line  int    // line of the input on which it begins; 0 if unknown
	Clock string // the clock of its times: [ClockWall], [ClockCPU] or "" if unknown

	Columns []Heading
	Rows    []Row // in the order of the tool

	// The number of rows that a limit left out, and their sums, one cell per column.
	Left int64
	Rest []Cell

	// Totals are the totals that the tool printed, one cell per column; they include
	// rows that it did not print. A cell has a value only if it differs from the sum of
	// the rows by more than rounding. Nil if there is none.
	Totals []Cell

	// Missing is the message that the tool printed instead of rows, or "".
	Missing string
}

// The kinds of rows of a table.
const (
	OfKernel   = "kernel"   // a kernel of a device
	OfCopy     = "copy"     // a kind of memory copy or fill
	OfDeviceOp = "gpu-op"   // a kernel, or a kind of copy or fill
	OfCall     = "call"     // a call of a runtime or driver
	OfOSCall   = "os-call"  // a call of the operating system
	OfRange    = "range"    // a span that the program marked
	OfOp       = "op"       // an operator of a framework
	OfFunction = "function" // a function of the program
	OfEdge     = "edge"     // the calls of a function by one other, which the label "caller" names
	OfThread   = "thread"   // a thread of the program
	OfRow      = "row"      // unknown, or several of these
)

// The clocks of a table. Wall time includes the time for which a function waits; CPU
// time does not.
const (
	ClockWall = "wall"
	ClockCPU  = "cpu"
)

// A Heading describes the cells at one index.
type Heading struct {
	Name string // "total", "count", "mean", "median", "min", "max", "stddev", "self", "bytes" or the tool's own
	Unit string // "nanoseconds", "bytes", "count"
	Adds Adds
}

// Adds is the meaning of the sum of a column's cells.
type Adds uint8

// The kinds of columns.
const (
	Each  Adds = iota // cells do not add up: each is a value per run, such as an average
	Self              // cells add up to the total
	Total             // cells include the costs of other rows, so their sum exceeds the total
)

// A Row is one row.
type Row struct {
	Name   string
	Cells  []Cell  // one for each column
	Labels []Label // sorted
	Line   int     // line of the input; 0 if the row was made from several
}

// A Cell is a value, or a missing value.
type Cell struct {
	Value int64
	Known bool
}

// Known returns a cell with a value.
func Known(value int64) Cell { return Cell{value, true} }

// Plus adds two cells. A cell without a value adds nothing.
func (c Cell) Plus(d Cell) Cell {
	switch {
	case !c.Known:
		return d
	case !d.Known:
		return c
	}
	return Known(Plus(c.Value, d.Value))
}

// Column returns the index of the first column with the given name.
func (t *Table) Column(name string) (index int, ok bool) {
	for i, h := range t.Columns {
		if h.Name == name {
			return i, true
		}
	}
	return 0, false
}

// Sum returns the sum of a column over all rows, including those that a limit left out.
// It means nothing if the column's Adds is Each.
func (t *Table) Sum(column int) (sum Cell) {
	for i := range t.Rows {
		sum = sum.Plus(t.Rows[i].Cells[column])
	}
	if t.Rest != nil {
		sum = sum.Plus(t.Rest[column])
	}
	return sum
}

// Check returns an error if t is inconsistent.
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

// Tables has all tables of one input.
type Tables struct {
	Tool     string // the tool that printed them: "nsys", "torch"
	List     []*Table
	Records  int64 // number of rows that were read, usable or not
	Complete bool  // the input was read to its end
	Issues   []diag.Issue
}
