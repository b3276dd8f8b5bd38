// Package limits bounds what is measured of one input. Damaged and hostile files have
// implausible times and more rows than any report shows: over these limits rows are
// added up or left out, and an issue says so.
package limits

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"assay/internal/diag"
	"assay/internal/interval"
	"assay/summary"
)

// maxWindow is the longest window, step or capture, in ns, that is plausible:
// 100 hours. Profilers of GPU work keep seconds to hours, because every kernel
// takes about 300 bytes: 100 hours of a busy device would take many terabytes. A
// longer window has timestamps of two clocks, such as 0 and the time of day.
const maxWindow = 100 * int64(time.Hour)

// MaxRows is how many rows each table of an input has by default: ten times
// those of the largest real traces of GPU programs.
const MaxRows = 1 << 18

// RowText is how many bytes of names a full table has for each row. Without it
// a few rows with very long names would be worth as much as all others.
const RowText = 256

// The names of rows that add up those over the limit, and their stream, because
// such rows cover several streams.
const (
	OtherKernels = summary.PooledKernels
	OtherCopies  = "(other copies)"
	OtherSpans   = "(other spans)"
	OtherStream  = -1
)

// A Room is the limit on the rows of an input's tables. Entries beyond the limit are
// added up in one row per kind, so all sums are correct.
type Budget struct {
	rows       int   // of each table
	pooled     int64 // events in rows that stand for others
	streams    int64 // streams left out, which cannot be pooled
	attributed int64 // rows of attribution left out
}

// NewRoom returns a room for tables of so many rows.
func NewBudget(rows int) *Budget { return &Budget{rows: rows} }

// Table returns an empty table.
func (r *Budget) Table() Table { return Table{budget: r} }

// Join adds the events that were pooled in a room of its own, whose events another table
// has too, less those that were counted before.
func (r *Budget) Join(apart *Budget, counted int64) { r.pooled += max(0, apart.pooled-counted) }

// A Table counts the rows and bytes that one table uses.
type Table struct {
	budget     *Budget
	rows, text int
}

// Take reports whether there is room for a row with so many bytes of names, and
// takes it. If there is not, an event is pooled.
func (t *Table) Take(text int) bool {
	if t.rows >= t.budget.rows || t.text+text > t.budget.rows*RowText {
		t.budget.pooled++
		return false
	}
	t.rows, t.text = t.rows+1, t.text+text
	return true
}

// KeepLargest cuts a table of attribution, whose rows do not add up, to the rows
// with the most time.
func KeepLargest[R any](r *Budget, rows []R, weight func(*R) (ns int64, name string)) []R {
	over := len(rows) - r.rows
	if over <= 0 {
		return rows
	}
	r.attributed += int64(over)
	// Rows are large, and there may be millions: their weights are sorted instead.
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

// Keep cuts a table of streams, whose busy times do not add up, to the room.
func (r *Budget) Keep(streams []summary.Stream) []summary.Stream {
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

// Implausible reports whether nothing can have lasted as long as the span.
func Implausible(s interval.Span) bool { return s.Len() > maxWindow }

const SumOverflow = "A sum has reached 9223372036854775807, the largest number that is kept. A time or a size in the input is wrong. Record again."
