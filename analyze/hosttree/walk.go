package hosttree

import (
	"math"
	"slices"

	"assay/trace"
)

// A Visitor receives the events of a thread in the order of time. T is the data that it attaches
// to each open event. It must not keep the slices.
type Visitor[T any] interface {
	// Enter is called when the last event of open starts; its Data is the zero T.
	Enter(open []Open[T])
	// Leave is called when the last event of open ends. If an event nested in it ends slightly
	// later, Leave is called then. If an event starts that outlives it, Leave is called then.
	Leave(open []Open[T])
	// Between is called for the time between two changes, from the smallest to the largest
	// time of the trace, with the open events, innermost last. The time is self time of the
	// innermost event.
	Between(from, to int64, open []Open[T])
}

// An Open is an event that has been entered and not left.
type Open[T any] struct {
	Frame
	Data T
}

// maxDepth is the maximum number of open events. Real programs do not nest deeper: Python's limit
// is a thousand calls.
const maxDepth = 4096

// Walk visits the events of a thread. It returns the number of events that were left out because
// maxDepth others were open.
func Walk[T any](th *Thread, v Visitor[T]) (tooDeep int64) {
	_, tooDeep = WalkUntil(th, v, math.MaxInt64)
	return tooDeep
}

// WalkUntil visits the events of a thread, all of which must start before t, up to time t. It also
// returns the events that are open at t, without calling Leave for them.
func WalkUntil[T any](th *Thread, v Visitor[T], t int64) (open []Open[T], tooDeep int64) {
	w := walk[T]{v: v, now: math.MinInt64}
	w.along(th)
	w.advance(t)
	return w.open, w.tooDeep
}

// A Resumer is a Visitor that can start in the middle of a thread.
type Resumer[T any] interface {
	Visitor[T]
	// Resume is called instead of Enter for an event that was open at the start.
	Resume(open []Open[T])
}

// WalkFrom visits the events of a thread, none of which may start before t, from time t on. open
// are the events that are open at t, outermost first; Leave is called for them too.
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

// along visits the events of a thread. Events that are open when the last one starts stay open.
func (w *walk[T]) along(th *Thread) {
	for batch := range th.frames() {
		for i := range batch {
			f := &batch[i]
			w.enter(th, f)
			if len(w.open) == maxDepth {
				w.tooDeep++
				continue
			}
			w.push(f)
			w.v.Enter(w.open)
		}
	}
}

// enter moves to the start of an event and leaves the events that it is not nested in.
func (w *walk[T]) enter(th *Thread, f *Frame) {
	w.advance(f.Start)
	n := len(w.open)
	if n == 0 {
		return
	}
	if w.open[n-1].IsCall() {
		w.ended(f.Start)
		n = len(w.open)
	}
	if n > 0 && w.open[n-1].End < f.End-tolerance && !(f.IsCall() && w.keeps(th, f)) {
		w.outlived(f.End)
	}
}

// push opens an event. It writes the fields in place, because the copy of a new Open would stall
// on the writes to its fields.
func (w *walk[T]) push(f *Frame) {
	n := len(w.open)
	w.open = slices.Grow(w.open, 1)[:n+1]
	top, none := &w.open[n], *new(T)
	top.Frame, top.Data = *f, none
}

// advance moves to a later time and leaves the events that end by then. An event that ends later
// than the event around it is left together with that one.
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
		w.leave()
	}
	if to > w.now {
		w.v.Between(w.now, to, w.open)
		w.now = to
	}
}

// tolerance is the time, in ns, by which an event may outlive the event that it is nested in.
// Times in whole microseconds cause such overlaps, and PyTorch's profiler closes Python functions
// slightly late. With a longer overlap the event is not nested.
const tolerance = 1000

// callTolerance is the same for runtime and driver calls. The profilers of AMD and Intel time calls
// with another clock than operators, so calls seem to end as much as 10 µs after their operator.
const callTolerance = 100_000

// outlived leaves the open events that end before the event that starts now, because it cannot be
// nested in them.
func (w *walk[T]) outlived(end int64) {
	for len(w.open) > 0 && w.open[len(w.open)-1].End < end-tolerance {
		w.leave()
	}
}

// keeps reports whether a call that ends later than the innermost open event is nested in it all the
// same: it ends little later, or the operator with its External id is open.
func (w *walk[T]) keeps(th *Thread, call *Frame) bool {
	if w.open[len(w.open)-1].End >= call.End-callTolerance {
		return true
	}
	id := th.t.Calls.At(call.Row).External
	return id != 0 && slices.ContainsFunc(w.open, func(o Open[T]) bool {
		return o.Kind == trace.CPUOp && th.t.Ops.At(o.Row).External == id
	})
}

// ended leaves a call that keeps events open for longer than tolerance after their end, together
// with these events: a thread starts no operator within a call, so the call has ended too.
func (w *walk[T]) ended(now int64) {
	n := len(w.open)
	if n < 2 || !w.open[n-1].IsCall() || w.open[n-2].End > now || w.open[n-1].End <= w.open[n-2].End+tolerance {
		return
	}
	for len(w.open) > 1 && w.open[len(w.open)-2].End <= now {
		w.leave()
	}
	w.leave()
}

func (w *walk[T]) leave() {
	w.v.Leave(w.open)
	w.open = w.open[:len(w.open)-1]
}
