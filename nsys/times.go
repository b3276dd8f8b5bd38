package nsys

import (
	"fmt"

	"assay/internal/diag"
	"assay/trace"
)

// span returns the start and duration of a row, and whether it has any.
func (l *loader) span(r row) (start, dur int64, ok bool) {
	start, end := r.Num(0), r.Num(1)
	switch {
	case start == 0 && r.Null(0) || end == 0 && r.Null(1) || l.oddTime(r, start, end) || end > start && (end-start > trace.MaxDuration || end-start < 0):
		l.bad("event-bad-time", "")
		return 0, 0, false
	case end < start || end-start < 0:
		l.bad("event-negative-duration", "Rows that end before they start were skipped. The clock of the profiler went backwards. Record again.")
		return 0, 0, false
	}
	l.seen.lastEnd = max(l.seen.lastEnd, end)
	return start, end - start, true
}

// SQLite reads a text instead of a number as its leading digits, most often 0.
// Checking the type of every value takes a fortieth of the reading time, so it is
// checked only for times that a text could give: times under likelyTime, and times
// far from those of the previous row.
const (
	likelyTime = 10_000_000 // ns
	nearTime   = 1 << 40    // ns, 18 minutes
)

// oddTime reports whether a row has a start or end that is not a number.
func (l *loader) oddTime(r row, start, end int64) bool {
	near := func(t int64) bool { return t >= likelyTime && t-l.lastStart < nearTime && l.lastStart-t < nearTime }
	notNumber := !near(start) && r.NotNumber(0) || !near(end) && r.NotNumber(1)
	if !notNumber {
		l.lastStart = start
	}
	return notNumber
}

// bad counts the current row as unusable. With an empty help, the issue has the help text
// that is registered for the code.
func (l *loader) bad(code, help string) {
	l.out.Issue(diag.Issue{Code: code, Severity: diag.DataLoss, Help: help,
		First: diag.Pos{File: l.file, Path: fmt.Sprintf("%s[%d]", l.here.table, l.here.row)}}, 1)
}
