package summary

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// A Table is a table of sums that another tool has made: kernels, calls,
// ranges, functions and what each cost, without when. (Input, Number) is its
// key. It has no window, so nothing in it says when a device was idle or what
// ran at the same time.
//
// Tables of different inputs, and those of one, are never added up: one run's
// kernels may be in several of them.
type Table struct {
	Input  int    `json:"input"`
	Number int    `json:"number"`          // its place in the input, from 0
	Line   int    `json:"line,omitempty"`  // where it begins in the input
	Tool   string `json:"tool"`            // "nsys", "torch"
	Name   string `json:"name"`            // as its tool calls it: "cuda_gpu_kern_sum"
	Title  string `json:"title,omitempty"` // as its tool prints it
	Of     string `json:"of"`              // what a row is: see the constants
	Clock  string `json:"clock,omitempty"` // of its times: "wall", which goes on while a function waits, or "cpu"; absent if unknown

	// Run is what its tool calls the run that it measured, as "report1"; absent if
	// it does not say. Tables of one directory that have the same Run, in one input
	// or in several, tell of the same run.
	Run string `json:"run,omitempty"`

	Columns []TableColumn `json:"columns"`
	Rows    []TableRow    `json:"rows"` // the largest first, by the column that [Table.Rank] says

	// Rows that a limit left out: how many there are, and what they add up to in
	// the columns that add up.
	Left int64    `json:"left,omitempty"`
	Rest []*int64 `json:"rest,omitempty"`

	// Totals are what the tool itself says that each column adds up to, the rows
	// that it did not print included; null where it says nothing, or what the rows
	// add up to.
	Totals []*int64 `json:"totals,omitempty"`

	// Missing is what the tool said in the place of rows, as "x.sqlite does not
	// contain GPU memory data.".
	Missing string `json:"missing,omitempty"`
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

// The clocks of a table.
const (
	ClockWall = "wall"
	ClockCPU  = "cpu"
)

// A TableColumn says what the values at one index are.
type TableColumn struct {
	Name string `json:"name"` // "total", "count", "mean", "median", "min", "max", "stddev", "self", "bytes" or the tool's own
	Unit string `json:"unit"` // "ns", "bytes", "count"

	// Adds says what all values add up to: "self" is what all rows cost together,
	// "total" more than that, for rows have what other rows have too, and "each"
	// nothing, for a value tells of one run, as a mean does.
	Adds string `json:"adds"`
}

// The kinds of columns.
const (
	AddsSelf  = "self"
	AddsTotal = "total"
	AddsEach  = "each"
)

// A TableRow is one row. Rows may have equal names: tools cut them.
type TableRow struct {
	Name string `json:"name"`

	// Class, Category and Rule are those of a [Kernel] or [Copy]; absent of rows
	// that are nothing of a device.
	Class    string `json:"class,omitempty"`
	Category string `json:"category,omitempty"`
	Rule     string `json:"rule,omitempty"`

	Kind string `json:"kind,omitempty"` // of a call of a runtime or driver, as that of a [Call]

	Labels map[string]string `json:"labels,omitempty"` // what else the tool says: "style", "from", "to", "grid", ...
	Values []*int64          `json:"values"`           // one for each column; null where the tool has none
}

// Column returns the index of the first column of that name, or -1.
func (t *Table) Column(name string) int {
	return slices.IndexFunc(t.Columns, func(c TableColumn) bool { return c.Name == name })
}

// Rank returns the index of the column by which the rows are sorted: the total
// or, without one, the first that adds up; -1 if none does.
func (t *Table) Rank() int {
	if i := t.Column("total"); i >= 0 {
		return i
	}
	return slices.IndexFunc(t.Columns, func(c TableColumn) bool { return c.Adds == AddsSelf || c.Adds == AddsTotal })
}

// Value returns the value of a column, or false if there is none.
func (r *TableRow) Value(column int) (int64, bool) { return valueAt(r.Values, column) }

func valueAt(values []*int64, column int) (int64, bool) {
	if column < 0 || column >= len(values) || values[column] == nil {
		return 0, false
	}
	return *values[column], true
}

// Sum adds up a column, with the rows that were left out, or returns false if
// no row has a value there. It means nothing where Adds is "each".
func (t *Table) Sum(column int) (sum int64, known bool) {
	sum, known = valueAt(t.Rest, column)
	for i := range t.Rows {
		if n, ok := t.Rows[i].Value(column); ok {
			sum, known = Plus(sum, n), true
		}
	}
	return sum, known
}

// Whole returns what a column adds up to by the tool's own word, or, where it
// says nothing or less than its rows, what they add up to.
func (t *Table) Whole(column int) (sum int64, known bool) {
	sum, known = t.Sum(column)
	if said, ok := valueAt(t.Totals, column); ok && (!known || said > sum) {
		return said, true
	}
	return sum, known
}

// sortRows sorts the rows of t: the largest first, those without a value last.
func (t *Table) sortRows() {
	rank := t.Rank()
	slices.SortStableFunc(t.Rows, func(a, b TableRow) int {
		if c := cmp.Or(-compareValues(a.Values, b.Values, rank), cmp.Compare(a.Name, b.Name)); c != 0 {
			return c // comparing labels sorts them
		}
		return cmp.Or(compareLabels(a.Labels, b.Labels), compareRows(a.Values, b.Values))
	})
}

// compareValues compares two values of a column. One that is absent is less
// than any other.
func compareValues(a, b []*int64, column int) int {
	x, xKnown := valueAt(a, column)
	y, yKnown := valueAt(b, column)
	switch {
	case xKnown && !yKnown:
		return 1
	case yKnown && !xKnown:
		return -1
	}
	return cmp.Compare(x, y)
}

func compareRows(a, b []*int64) int {
	for i := range min(len(a), len(b)) {
		if c := compareValues(a, b, i); c != 0 {
			return -c
		}
	}
	return 0
}

func compareLabels(a, b map[string]string) int {
	if len(a) == 0 && len(b) == 0 {
		return 0
	}
	x, y := slices.Sorted(maps.Keys(a)), slices.Sorted(maps.Keys(b))
	text := func(m map[string]string) func(string) string {
		return func(key string) string { return key + "\x00" + m[key] }
	}
	return slices.CompareFunc(x, y, func(p, q string) int { return cmp.Compare(text(a)(p), text(b)(q)) })
}

// check returns the first promise that t breaks.
func (t *Table) check() error {
	for j, r := range t.Rows {
		if len(r.Values) != len(t.Columns) {
			return fmt.Errorf(".rows[%d].values: got %d, want %d, one for each column", j, len(r.Values), len(t.Columns))
		}
	}
	if t.Rest != nil && len(t.Rest) != len(t.Columns) {
		return fmt.Errorf(".rest: got %d, want %d, one for each column", len(t.Rest), len(t.Columns))
	}
	if t.Totals != nil && len(t.Totals) != len(t.Columns) {
		return fmt.Errorf(".totals: got %d, want %d, one for each column", len(t.Totals), len(t.Columns))
	}
	return nil
}
