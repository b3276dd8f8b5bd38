package trace

import "iter"

// A Table holds the events of one kind, in the order of the file. Its rows lie
// in segments that are never moved, so a table grows without copying, and hold
// no pointers, so the garbage collector does not look at them.
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

// A Ref is the place of a row in its table, in half the room of a pointer.
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

// At returns the row at a Ref.
func (t *Table[T]) At(r Ref) *T { return &t.segments[r/segmentRows][r%segmentRows] }

// add appends rows that were filled elsewhere, without copying them.
func (t *Table[T]) add(segments [][]T) {
	for _, seg := range segments {
		if len(seg) > 0 {
			t.segments = append(t.segments, seg)
			t.n += len(seg)
		}
	}
}

// A column fills the rows of one table for one builder: a run of segments, the
// last of which has room.
type column[T any] struct {
	done [][]T // since the last cut: full segments
	open []T   // the rows since the last cut in the segment that has room
}

// segmentRows is how many rows a segment has room for: few enough that the
// unused rest of the last one does not matter, many enough that allocating
// does not.
const segmentRows = 4096

// next returns a new row to fill.
func (c *column[T]) next() *T {
	if len(c.open) == cap(c.open) {
		if len(c.open) > 0 {
			c.done = append(c.done, c.open)
		}
		c.open = make([]T, 0, segmentRows)
	}
	c.open = c.open[:len(c.open)+1]
	return &c.open[len(c.open)-1]
}

// cut returns the rows since the last cut and leaves the rest of the room to
// those that follow.
func (c *column[T]) cut() [][]T {
	out := append(c.done, c.open)
	c.done, c.open = nil, c.open[len(c.open):]
	return out
}
