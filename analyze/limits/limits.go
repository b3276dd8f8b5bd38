// Package limits bounds how much is measured of one input. Damaged and hostile files contain
// implausible times, and more rows than any report shows. Rows over a limit are added up or left
// out, and an issue says so.
package limits

import (
	"cmp"
	"fmt"
	"slices"

	"assay/internal/diag"
	"assay/internal/interval"
	"assay/summary"
)

// maxWindow is the longest plausible window, step or capture, in ns: 100 hours. Profilers record
// seconds to hours, because each kernel takes about 300 bytes: 100 hours of a busy device would
// take terabytes. A longer window mixes two clocks, such as 0 and the time of day.
const maxWindow = summary.MaxWindow

// MaxRows is the default maximum number of rows of a table: ten times what the largest real
// traces of GPU programs need.
const MaxRows = 1 << 18

// RowText is the number of bytes of names per row that a full table may have on average.
// Without it, a few rows with very long names could take as much memory as all others.
const RowText = 256

// The names of rows that add up the rows over the limit, and the stream of such rows, which
// cover several streams.
const (
	OtherKernels = summary.PooledKernels
	OtherCopies  = "(other copies)"
	OtherSpans   = "(other spans)"
	OtherStream  = -1
)

// A Budget limits the rows of an input's tables. Events beyond the limit are pooled: added up in
// one row per kind, so all sums are correct.
type Budget struct {
	rows       int   // maximum of each table
	pooled     int64 // events in rows that add up others
	streams    int64 // streams left out: their busy times cannot be added up
	attributed int64 // rows of attribution left out
}

// NewBudget returns a budget for tables of at most rows rows each.
func NewBudget(rows int) *Budget { return &Budget{rows: rows} }

// Table returns an empty table.
func (r *Budget) Table() Table { return Table{budget: r} }

// Join adds the events that were pooled in another budget, less those of them that r counts
// already because another table has the same events.
func (r *Budget) Join(apart *Budget, counted int64) { r.pooled += max(0, apart.pooled-counted) }

// A Table counts the rows and the bytes of names that one table uses.
type Table struct {
	budget     *Budget
	rows, text int
}

// Take reserves a row with text bytes of names and reports whether the budget allows it. If not,
// it counts one pooled event.
func (t *Table) Take(text int) bool {
	if t.rows >= t.budget.rows || t.text+text > t.budget.rows*RowText {
		t.budget.pooled++
		return false
	}
	t.rows, t.text = t.rows+1, t.text+text
	return true
}

// KeepLargest returns the rows with the most time, as many as the budget allows. It is for tables
// whose rows do not add up, such as operators, so the rest cannot be pooled.
func KeepLargest[R any](r *Budget, rows []R, weight func(*R) (ns int64, name string)) []R {
	over := len(rows) - r.rows
	if over <= 0 {
		return rows
	}
	r.attributed += int64(over)
	// Rows are large and there may be millions, so sort their weights instead.
	type weighed struct {
		ns   int64
		name string
		row  int
	}
	order := make([]weighed, len(rows))
	for i := range rows {
		ns, name := weight(&rows[i])
		order[i] = weighed{ns, name, i}
	}
	slices.SortFunc(order, func(a, b weighed) int {
		return cmp.Or(cmp.Compare(b.ns, a.ns), cmp.Compare(a.name, b.name), cmp.Compare(a.row, b.row))
	})
	kept := make([]R, r.rows)
	for i := range kept {
		kept[i] = rows[order[i].row]
	}
	return kept
}

// KeepStreams returns the first streams that the budget allows. Busy times of streams do not add up, so
// the rest cannot be pooled.
func (r *Budget) KeepStreams(streams []summary.Stream) []summary.Stream {
	if over := len(streams) - r.rows; over > 0 {
		r.streams = int64(over)
		return streams[:r.rows]
	}
	return streams
}

// Note adds the issues of rows that were pooled or left out.
func (r *Budget) Note(issues *diag.Ledger) {
	issues.AddN(diag.Issue{Code: "too-many-rows", Severity: diag.DataLoss,
		Help: fmt.Sprintf("A table has %d rows per input at most. Further events are in rows named %q, %q or %q: sums are correct, but names are missing. Raise --max-memory.", r.rows, OtherKernels, OtherCopies, OtherSpans)}, r.pooled)
	issues.AddN(diag.Issue{Code: "rows-left-out", Severity: diag.DataLoss,
		Help: fmt.Sprintf("A table of operators, modules, lines, annotations, calls or graphs has %d rows per input at most. The rows with the least time were left out. Raise --max-memory.", r.rows)}, r.attributed)
	issues.AddN(diag.Issue{Code: "too-many-streams", Severity: diag.DataLoss,
		Help: fmt.Sprintf("The table of streams has %d rows per input at most. Further streams were left out of it; all other numbers are correct.", r.rows)}, r.streams)
}

// Implausible reports whether the span is longer than any real capture: see maxWindow.
func Implausible(s interval.Span) bool { return s.Len() > maxWindow }

// SumOverflow is the help text of the issue sum-overflow: see [summary.Plus].
const SumOverflow = "A sum has reached 9223372036854775807, the largest number that is kept. A time or a size in the input is wrong. Record again."
