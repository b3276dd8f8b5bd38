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
	_, tooDeep = WalkUntil(th, v, math.MaxInt64)
	return tooDeep
}

// WalkUntil visits the events of a thread up to a time before which all of them start. It
// also returns the events that are open then, for which Leave was not called.
func WalkUntil[T any](th *Thread, v Visitor[T], t int64) (open []Open[T], tooDeep int64) {
	w := walk[T]{v: v, now: math.MinInt64}
	w.along(th)
	w.advance(t)
	return w.open, w.tooDeep
}

// A Resumer is a Visitor that can begin in the middle of a thread.
type Resumer[T any] interface {
	Visitor[T]
	// Resume is called instead of Enter for an event that was open before.
	Resume(open []Open[T])
}

// WalkFrom visits the events of a thread from a time on at which others were open, outermost
// first, and before which none of the thread starts. Leave is called for those, too.
func WalkFrom[T any](th *Thread, v Resumer[T], t int64, open []Frame) (tooDeep int64) {
	w := walk[T]{v: v, now: t}
	for i := range open {
		w.push(&open[i])
		v.Resume(w.open)
	}
	w.along(th)
	w.advance(math.MaxInt64)
	return w.tooDeep
}

type walk[T any] struct {
	v       Visitor[T]
	now     int64
	open    []Open[T]
	tooDeep int64
}

// along visits the events of a thread, but leaves open what was open when the last started.
func (w *walk[T]) along(th *Thread) {
	for batch := range th.frames() {
		for i := range batch {
			f := &batch[i]
			w.advance(f.Start)
			w.outlived(f.End)
			if len(w.open) == maxDepth {
				w.tooDeep++
				continue
			}
			w.push(f)
			w.v.Enter(w.open)
		}
	}
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
