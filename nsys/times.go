package nsys

import (
	"fmt"

	"assay/diag"
)

// span returns the start and duration of a row, and whether it has any.
func (l *loader) span(r row) (start, dur int64, ok bool) {
	start, end := r.num(0), r.num(1)
	switch {
	case start == 0 && r.null(0) || end == 0 && r.null(1) || l.oddTime(r, start, end):
		l.bad("event-bad-time", "rows without a usable time were skipped; their time is missing from every sum")
		return 0, 0, false
	case end < start || end-start < 0:
		l.bad("event-negative-duration", "rows that end before they start were skipped; the profiler's clock went backwards")
		return 0, 0, false
	}
	l.seen.lastEnd = max(l.seen.lastEnd, end)
	return start, end - start, true
}

// A text in the place of a number reads as the digits that it begins with, most
// often 0. To ask for the type of each value takes a fortieth of the time of an
// export, so only times that a text could read as are asked: those under likelyTime
// and those that lie far from the row before.
const (
	likelyTime = 10_000_000 // ns
	nearTime   = 1 << 40    // ns, 18 minutes
)

// oddTime reports whether a row has a start or end that is no number.
func (l *loader) oddTime(r row, start, end int64) bool {
	near := func(t int64) bool { return t >= likelyTime && t-l.lastStart < nearTime && l.lastStart-t < nearTime }
	odd := !near(start) && r.odd(0) || !near(end) && r.odd(1)
	if !odd {
		l.lastStart = start
	}
	return odd
}

// bad notes that the row being read is not usable.
func (l *loader) bad(code, help string) {
	l.out.Issue(diag.Issue{Code: code, Severity: diag.DataLoss, Help: help,
		First: diag.Pos{File: l.file, Path: fmt.Sprintf("%s[%d]", l.here.table, l.here.row)}}, 1)
}
