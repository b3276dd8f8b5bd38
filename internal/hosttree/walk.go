package hosttree

import (
	"math"
	"slices"
)

// A Visitor receives the events of a thread in the order of time. T is the data
// that it attaches to each open event.
type Visitor[T any] interface {
	// Enter is called when the last event of open starts; its Data is the zero T.
	Enter(open []Open[T])
	// Leave is called when the last event of open ends, when the last of the
	// events nested in it ends if that is slightly later, or when an event
	// starts that outlives it.
	Leave(open []Open[T])
	// Between is called for every stretch between two such times, from the
	// smallest to the largest time, with the events that are open then,
	// innermost last. The stretch belongs to the innermost.
	Between(from, to int64, open []Open[T])
}

// An Open is an event that has started and was not left yet.
type Open[T any] struct {
	Frame
	Data T
}

// maxDepth is the maximum number of events that are open at once. Real programs
// do not nest deeper: Python stops at a thousand calls.
const maxDepth = 4096

// Walk visits the events of the thread. It returns the number of events that
// were left out because too many others were open.
func Walk[T any](th *Thread, v Visitor[T]) (tooDeep int64) {
	w := walk[T]{v: v, now: math.MinInt64}
	for batch := range th.frames() {
		for i := range batch {
			f := &batch[i]
			w.advance(f.Start)
			w.outlived(f.End)
			if len(w.open) == maxDepth {
				tooDeep++
				continue
			}
			w.push(f)
			v.Enter(w.open)
		}
	}
	w.advance(math.MaxInt64)
	return tooDeep
}

type walk[T any] struct {
	v    Visitor[T]
	now  int64
	open []Open[T]
}

// push opens an event. It fills the place in the stack, because a copy of an Open would wait
// for its fields.
func (w *walk[T]) push(f *Frame) {
	n := len(w.open)
	w.open = slices.Grow(w.open, 1)[:n+1]
	top, none := &w.open[n], *new(T)
	top.Frame, top.Data = *f, none
}

// advance moves to a later time and leaves the events that end by then. An
// event nested in another that ended is left together with it.
func (w *walk[T]) advance(to int64) {
	for len(w.open) > 0 {
		top := &w.open[len(w.open)-1]
		if stop := min(top.End, to); stop > w.now {
			w.v.Between(w.now, stop, w.open)
			w.now = stop
		}
		if top.End > to {
			return
		}
		w.v.Leave(w.open)
		w.open = w.open[:len(w.open)-1]
	}
	if to > w.now {
		w.v.Between(w.now, to, w.open)
		w.now = to
	}
}

// tolerance is the time by which an event may outlive the event that it is
// nested in. Clocks with a resolution of microseconds, and Python functions
// that PyTorch's profiler closes slightly late, cause such overlaps. With a
// longer overlap the event is not nested.
const tolerance = 1000

// outlived leaves the open events that end before the starting event does,
// because it is not nested in them.
func (w *walk[T]) outlived(end int64) {
	for len(w.open) > 0 && w.open[len(w.open)-1].End < end-tolerance {
		w.v.Leave(w.open)
		w.open = w.open[:len(w.open)-1]
	}
}
