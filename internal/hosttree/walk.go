package hosttree

import "math"

// A Visitor is told what happens on a thread, in the order of time. T is what
// it keeps with each open event.
type Visitor[T any] interface {
	// Enter is called when the last event of open starts; its Data is the zero T.
	Enter(open []Open[T])
	// Leave is called when the last event of open ends, when the last of those
	// inside it does if that is a little later, or when one starts that outlives it.
	Leave(open []Open[T])
	// Between is called for every stretch of time between two such moments, from
	// the beginning of time to its end, with what is open then, innermost last.
	// The stretch belongs to the innermost.
	Between(from, to int64, open []Open[T])
}

// An Open is an event that has started and not been left.
type Open[T any] struct {
	Frame
	Data T
}

// maxDepth is how many events may be open at once. Programs that nest deeper
// are none: Python stops at a thousand calls.
const maxDepth = 4096

// Walk goes along the thread. It returns how many events were left out because
// too many others were open.
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
			w.open = append(w.open, Open[T]{Frame: *f})
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

// advance goes on to a later time and leaves what ends by then. An event below
// another that ended is left when that one is.
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

// tolerance is by how much an event may outlive the one that it is in. More, and
// it is beside it: clocks of whole microseconds, and Python functions that
// PyTorch's profiler closes a little late, look like that.
const tolerance = 1000

// outlived leaves the events that the one that starts now is not in, because it
// outlives them.
func (w *walk[T]) outlived(end int64) {
	for len(w.open) > 0 && w.open[len(w.open)-1].End < end-tolerance {
		w.v.Leave(w.open)
		w.open = w.open[:len(w.open)-1]
	}
}
