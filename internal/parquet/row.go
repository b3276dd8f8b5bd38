package parquet

import "math"

// A Row is the current row of a scan. Its methods take the index of a column in the list that was passed to Scan. It is valid
// until each returns.
type Row struct{ cursors []*cursor }

// Num returns a number, 0 if the value is null or a text.
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

// Text returns a text; none if the value is null or a number.
func (r *Row) Text(column int) []byte {
	if !r.NotNumber(column) {
		return nil
	}
	return r.cursors[column].text
}

// integer returns a number of 32 bits by the type that its column states.
func (l *leaf) integer(n uint32) int64 {
	if l.unsigned == 0 {
		return int64(int32(n))
	}
	return int64(n & (math.MaxUint32 >> (32 - l.unsigned)))
}
