package parquet

import (
	"math"
	"strconv"
)

// A Row is the current row of a scan. Its methods take the index of a column in the list that was passed to Scan. It is valid
// until each returns.
type Row struct{ cursors []*cursor }

// Num returns a number without its fraction, 0 if the value is null or a text.
func (r *Row) Num(column int) int64 {
	if c := r.cursors[column]; c != nil && !c.leaf.isText() {
		return c.number
	}
	return 0
}

// Null reports whether the value is null.
func (r *Row) Null(column int) bool { return r.cursors[column] == nil || r.cursors[column].null }

// NotNumber reports whether the value is a text.
func (r *Row) NotNumber(column int) bool { return !r.Null(column) && r.cursors[column].leaf.isText() }

// Text returns a text, or the digits of a number; none if the value is null.
func (r *Row) Text(column int) []byte {
	switch {
	case r.Null(column):
		return nil
	case r.NotNumber(column):
		return r.cursors[column].text
	}
	return strconv.AppendInt(nil, r.cursors[column].number, 10)
}

// integer returns a number of 32 bits by the type that its column states.
func (l *leaf) integer(n uint32) int64 {
	if l.unsigned == 0 {
		return int64(int32(n))
	}
	return int64(n & (math.MaxUint32 >> (32 - l.unsigned)))
}

// truncated returns a number without its fraction, as SQLite does.
func truncated(f float64) int64 {
	switch {
	case f != f:
		return 0
	case f >= math.MaxInt64:
		return math.MaxInt64
	case f <= math.MinInt64:
		return math.MinInt64
	}
	return int64(f)
}
