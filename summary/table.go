package summary

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// A Table is a table of totals made by another tool: kernels, calls, ranges, functions and their cost.
// (Input, Number) is its key. It has no timeline, so it shows neither idle time nor overlap.
//
// Tables are never added up, neither those of one input nor those of several, because a kernel of one run
// may be in several of them.
type Table struct {
	Input  int    `json:"input"`
	Number int    `json:"number"`          // its index in the input, from 0
	Line   int    `json:"line,omitempty"`  // the line of the input where it begins
	Tool   string `json:"tool"`            // "nsys", "torch"
	Name   string `json:"name"`            // the tool's name of it: "cuda_gpu_kern_sum"
	Title  string `json:"title,omitempty"` // the title printed by the tool
	Of     string `json:"of"`              // the kind of its rows: see the constants
	Clock  string `json:"clock,omitempty"` // of its times: "wall" (includes waiting) or "cpu"; absent if unknown

	// Run is the tool's name of the measured run, such as "report1"; absent if
	// the tool gives none. Tables in one directory with the same Run, in one
	// input or in several, belong to the same run.
	Run string `json:"run,omitempty"`

	Columns []TableColumn `json:"columns"`
	Rows    []TableRow    `json:"rows"` // the largest first, by the column returned by [Table.Rank]

	// Left is the number of rows left out because of a limit, and Rest their sums in the columns that add
	// up.
	Left int64    `json:"left,omitempty"`
	Rest []*int64 `json:"rest,omitempty"`

	// Totals are the tool's own sums of each column, including rows that it did
	// not print; null if it gives none, or if they equal the sums of the rows.
	Totals []*int64 `json:"totals,omitempty"`

	// Idle is what a sampler found idle, in the unit of the column "self": no row has it.
	Idle int64 `json:"idle,omitempty"`

	// Missing is the tool's message instead of rows, such as "x.sqlite does not
	// contain GPU memory data.".
	Missing string `json:"missing,omitempty"`
}

// The kinds of rows of a table.
const (
	OfKernel   = "kernel"   // a kernel of a device
	OfCopy     = "copy"     // a kind of memory copy or fill
	OfDeviceOp = "gpu-op"   // any of these two
	OfCall     = "call"     // a call of a runtime or driver
	OfOSCall   = "os-call"  // a call of the operating system
	OfRange    = "range"    // a span that the program marked
	OfOp       = "op"       // an operator of a framework
	OfFunction = "function" // a function of the program
	OfEdge     = "edge"     // the calls of a function by one caller, named by the label "caller"
	OfThread   = "thread"   // a thread of the program
	OfRow      = "row"      // unknown, or several of these
)

// The clocks of a table.
const (
	ClockWall = "wall"
	ClockCPU  = "cpu"
)

// A TableColumn describes the values at one index.
type TableColumn struct {
	Name string `json:"name"` // "total", "count", "mean", "median", "min", "max", "stddev", "self", "bytes" or the tool's own name
	Unit string `json:"unit"` // "ns", "bytes", "count"

	// Adds is what the sum of all values means: for "self" it is the total cost; for "total" it is more
	// than that, because rows include the cost of others; for "each" it has no meaning, because each value
	// describes a single run, as a mean does.
	Adds string `json:"adds"`
}

// The kinds of columns.
const (
	AddsSelf  = "self"
	AddsTotal = "total"
	AddsEach  = "each"
)

// A TableRow is one row. Rows may have equal names, because tools shorten them.
type TableRow struct {
	Name string `json:"name"`

	// Class, Category and Rule are those of a [Kernel] or [Copy]; absent for
	// rows that are not device work.
	Class    string `json:"class,omitempty"`
	Category string `json:"category,omitempty"`
	Rule     string `json:"rule,omitempty"`

	Kind string `json:"kind,omitempty"` // kind of a call of a runtime or driver, as for a [Call]

	Labels map[string]string `json:"labels,omitempty"` // other properties given by the tool: "style", "from", "to", "grid", ...
	Values []*int64          `json:"values"`           // one for each column; null if the tool has none
}

// Column returns the index of the first column with that name, or -1.
func (t *Table) Column(name string) int {
	return slices.IndexFunc(t.Columns, func(c TableColumn) bool { return c.Name == name })
}

// Rank returns the index of the column by which the rows are sorted: the total
// or, without one, the first that adds up; -1 if there is none.
func (t *Table) Rank() int {
	if i := t.Column("total"); i >= 0 {
		return i
	}
	return slices.IndexFunc(t.Columns, func(c TableColumn) bool { return c.Adds == AddsSelf || c.Adds == AddsTotal })
}

// Value returns the value of a column, or false if it is missing.
func (r *TableRow) Value(column int) (int64, bool) { return valueAt(r.Values, column) }

func valueAt(values []*int64, column int) (int64, bool) {
	if column < 0 || column >= len(values) || values[column] == nil {
		return 0, false
	}
	return *values[column], true
}

// Sum returns the sum of a column, including the rows that were left out, or
// false if no row has a value in it. It has no meaning if Adds is "each".
func (t *Table) Sum(column int) (sum int64, known bool) {
	sum, known = valueAt(t.Rest, column)
	for i := range t.Rows {
		if n, ok := t.Rows[i].Value(column); ok {
			sum, known = Plus(sum, n), true
		}
	}
	return sum, known
}

// Whole returns the tool's own sum of a column. If the tool states none, or one that is less than the sum
// of the rows, it returns the sum of the rows.
func (t *Table) Whole(column int) (sum int64, known bool) {
	sum, known = t.Sum(column)
	if stated, ok := valueAt(t.Totals, column); ok && (!known || stated > sum) {
		return stated, true
	}
	return sum, known
}

// Doubted reports whether the rows of a table of device work take more time than the total that the
// tool printed. Then some rows are not kernels, and the sum of the rows has no meaning.
func (t *Table) Doubted() bool {
	at := t.Rank()
	said, printed := valueAt(t.Totals, at)
	sum, known := t.Sum(at)
	return t.Of == OfDeviceOp && printed && known && sum > said
}

// sortRows sorts the rows of t: the largest first, those without a value last.
func (t *Table) sortRows() {
	rank := t.Rank()
	slices.SortStableFunc(t.Rows, func(a, b TableRow) int {
		if c := cmp.Or(-compareValues(a.Values, b.Values, rank), cmp.Compare(a.Name, b.Name)); c != 0 {
			return c // labels are compared last, because comparing them sorts their keys
		}
		return cmp.Or(compareLabels(a.Labels, b.Labels), compareRows(a.Values, b.Values))
	})
}

// compareValues compares two values of a column. A missing value is less than
// any other.
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

// check returns the first violated constraint of t.
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
