package interval

import (
	"fmt"
	"iter"
	"math"
)

// MaxLayers is the maximum number of sets for [Partition] and [Pieces].
const MaxLayers = 8

// Partition cuts the window by which layers are active. Bit i of a mask
// represents layers[i]; cell[mask] is the length of the part of the window that
// exactly the layers of the mask cover, so cell[0] is the time that no layer
// covers. There are 1<<len(layers) cells. They do not overlap and sum to
// window.Len() exactly, and the cells of adjoining windows add up to the cells
// of the whole.
//
// The cost is a binary search per layer and one step per boundary within the
// window. Partition panics if there are more than [MaxLayers] layers.
func Partition(window Span, layers ...Set) []int64 {
	pieces := Pieces(window, layers...)
	cells := make([]int64, 1<<len(layers))
	for piece, mask := range pieces {
		cells[mask] = plus(cells[mask], piece.Len())
	}
	return cells
}

// Pieces returns, in order, the intervals of the window during which the set of
// active layers does not change, with that set as a mask: bit i represents
// layers[i]. The pieces adjoin each other, none is empty, neighbors differ in
// their masks, and together they cover the window. Pieces with mask 0 are
// therefore the gaps. Pieces panics if there are more than [MaxLayers] layers.
func Pieces(window Span, layers ...Set) iter.Seq2[Span, uint] {
	if len(layers) > MaxLayers {
		panic(fmt.Sprintf("interval: %d layers, at most %d", len(layers), MaxLayers))
	}
	return func(yield func(Span, uint) bool) {
		if window.Empty() {
			return
		}
		var c cursors
		c.start(window.Start, layers)
		for at := window.Start; at < window.End; {
			mask, end := c.mask, min(c.nextEdge(), window.End)
			if !yield(Span{at, end}, mask) {
				return
			}
			c.cross(end)
			at = end
		}
	}
}

// cursors walk the boundaries of several sets at once. They are fixed arrays so
// that a walk does not allocate.
type cursors struct {
	n    int
	mask uint
	rest [MaxLayers][]Span // spans that have not ended
	edge [MaxLayers]int64  // when each layer switches next
}

// never is the next edge of a layer without further edges. No piece extends
// past it, so a span that ends there needs no special case.
const never = math.MaxInt64

// start moves the cursors to time t.
func (c *cursors) start(t int64, layers []Set) {
	c.n = len(layers)
	for i, l := range layers {
		c.rest[i] = l.spans[l.from(t):]
		if len(c.rest[i]) > 0 && c.rest[i][0].Start <= t {
			c.mask |= 1 << i
			c.edge[i] = c.rest[i][0].End
		} else {
			c.edge[i] = c.begin(i)
		}
	}
}

// begin returns the time when layer i, now inactive, becomes active.
func (c *cursors) begin(i int) int64 {
	if len(c.rest[i]) == 0 {
		return never
	}
	return c.rest[i][0].Start
}

// nextEdge returns the time when the first layer switches.
func (c *cursors) nextEdge() int64 {
	next := int64(never)
	for _, t := range c.edge[:c.n] {
		next = min(next, t)
	}
	return next
}

// cross switches the layers that have an edge at t. The spans of a set do not
// touch, so a layer switches at most once at any time.
func (c *cursors) cross(t int64) {
	for i := range c.n {
		if c.edge[i] != t || len(c.rest[i]) == 0 {
			continue
		}
		c.mask ^= 1 << i
		if c.mask&(1<<i) != 0 {
			c.edge[i] = c.rest[i][0].End
		} else {
			c.rest[i] = c.rest[i][1:]
			c.edge[i] = c.begin(i)
		}
	}
}
