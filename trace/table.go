package trace

import "iter"

// A Table holds the events of one kind in the order of the file. Its rows are
// stored in segments that are never moved, so a table grows without copying.
// Rows contain no pointers, so the garbage collector does not scan them.
type Table[T any] struct {
	segments [][]T
	n        int
}

// Len returns the number of rows.
func (t *Table[T]) Len() int { return t.n }

// All returns the rows in order. The caller must not modify them.
func (t *Table[T]) All() iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for _, seg := range t.segments {
			for i := range seg {
				if !yield(&seg[i]) {
					return
				}
			}
		}
	}
}

// A Ref is the index of a row in its table, in half the size of a pointer.
type Ref uint32

// Refs returns the rows in order, each with its Ref.
func (t *Table[T]) Refs() iter.Seq2[Ref, *T] {
	return func(yield func(Ref, *T) bool) {
		for s, seg := range t.segments {
			for i := range seg {
				if !yield(Ref(s*segmentRows+i), &seg[i]) {
					return
				}
			}
		}
	}
}

// Parts returns the rows in order, in slices, each with the Ref of its first row. A loop over
// slices is faster than one over [Table.Refs]. The caller must not modify the rows.
func (t *Table[T]) Parts() iter.Seq2[Ref, []T] {
	return func(yield func(Ref, []T) bool) {
		for s, seg := range t.segments {
			if !yield(Ref(s*segmentRows), seg) {
				return
			}
		}
	}
}

// Bound returns a number that is greater than every Ref, as the length of a slice indexed by
// Ref. It can be a few times the number of rows. That wastes no memory, because the operating
// system provides pages of a large slice only when they are written.
func (t *Table[T]) Bound() int { return len(t.segments) * segmentRows }

// At returns the row with the given Ref.
func (t *Table[T]) At(r Ref) *T { return &t.segments[r/segmentRows][r%segmentRows] }

// filter returns a table of the wanted rows, in order.
func filter[T any](t *Table[T], wanted func(*T) bool) Table[T] {
	var c column[T]
	for row := range t.All() {
		if wanted(row) {
			*c.next() = *row
		}
	}
	return tableOf(&c)
}

// has reports whether any row of a table is wanted.
func has[T any](t *Table[T], wanted func(*T) bool) bool {
	for row := range t.All() {
		if wanted(row) {
			return true
		}
	}
	return false
}

// tableOf returns a table of the rows of a column.
func tableOf[T any](c *column[T]) Table[T] {
	var out Table[T]
	out.add(c.cut())
	return out
}

// add appends filled segments without copying them. It divides those with more rows than a
// [Ref] can name.
func (t *Table[T]) add(segments [][]T) {
	for _, seg := range segments {
		for len(seg) > 0 {
			n := min(len(seg), segmentRows)
			t.segments = append(t.segments, seg[:n:n])
			t.n += n
			seg = seg[n:]
		}
	}
}

// A column fills the rows of one table for one builder: a sequence of segments,
// of which only the last has free rows.
type column[T any] struct {
	done [][]T // since the last cut: full segments
	open []T   // the rows since the last cut in the segment with free rows
	size int   // of the last segment, in rows
}

// segmentRows is the largest number of rows of a segment: small enough that the
// unused rest of the last one does not matter, large enough that the cost of
// allocation does not matter. The first segments have fewer rows, because many
// traces are small.
const (
	segmentRows = 4096
	firstRows   = 64
)

// next returns a new row to fill.
func (c *column[T]) next() *T {
	if len(c.open) == cap(c.open) {
		if len(c.open) > 0 {
			c.done = append(c.done, c.open)
		}
		c.size = min(segmentRows, max(firstRows, 8*c.size))
		c.open = make([]T, 0, c.size)
	}
	c.open = c.open[:len(c.open)+1]
	return &c.open[len(c.open)-1]
}

// cut returns the rows since the last cut and keeps the rest of the segment for
// the rows that follow.
func (c *column[T]) cut() [][]T {
	out := append(c.done, c.open)
	c.done, c.open = nil, c.open[len(c.open):]
	return out
}
