// Package hosttree walks along the threads of a trace and reports what was open
// on each at any time: annotations, Python functions, operators and calls of
// the device's runtime, nested in each other.
//
// Profilers write the events of a thread in any order and record the caller of
// few of them. It follows from their times: an event is nested in the event
// that was open on its thread when it started, unless it ends later than that
// one by more than the microsecond by which clocks may differ.
package hosttree

import (
	"cmp"
	"slices"

	"assay/trace"
)

// A Frame is one event of a host thread. At most one of the last fields is set,
// depending on its Kind.
type Frame struct {
	Start, End int64
	Name       trace.Sym
	Row        trace.Ref // in its table
	Kind       trace.Kind

	Op   *trace.Op
	Call *trace.Call
	Span *trace.HostSpan // an annotation or any other span except a Python function
}

// A Thread is a track of the host with its events, in the order in which they
// start, outer ones first.
type Thread struct {
	Track trace.TrackID
	t     *trace.Trace
	rows  [sources][]trace.Ref
}

// The tables with events of the host, in the order in which events with equal
// times are nested.
const (
	spans = iota
	python
	ops
	calls
	sources
)

// Threads returns the threads of a trace that have events, in the order of
// their tracks. Events on tracks of devices are left out.
func Threads(t *trace.Trace) []*Thread {
	all := make([]Thread, len(t.Tracks))
	bucket(all, spans, t, &t.Spans, func(s *trace.HostSpan) (trace.TrackID, bool) {
		return s.Track, ofThread.Has(s.Kind)
	})
	bucket(all, python, t, &t.Python, func(p *trace.PythonCall) (trace.TrackID, bool) { return p.Track, true })
	bucket(all, ops, t, &t.Ops, func(o *trace.Op) (trace.TrackID, bool) { return o.Track, true })
	bucket(all, calls, t, &t.Calls, func(c *trace.Call) (trace.TrackID, bool) { return c.Track, true })
	var out []*Thread
	for i := range all {
		th := &all[i]
		th.Track, th.t = trace.TrackID(i), t
		if th.Len() > 0 && !t.Tracks[i].OnDevice {
			th.sort()
			out = append(out, th)
		}
	}
	return out
}

// ofThread lists the span kinds that describe a thread's activity.
var ofThread = trace.Of(trace.Annotation, trace.OtherKind, trace.Overhead, trace.OSCall, trace.OffCPU)

// bucket distributes the rows of one table to their threads. It counts them
// first, so that each thread's list is allocated once with the right size.
func bucket[T any](all []Thread, source int, t *trace.Trace, table *trace.Table[T], track func(*T) (trace.TrackID, bool)) {
	count := make([]int, len(all))
	for row := range table.All() {
		if id, ok := track(row); ok {
			count[id]++
		}
	}
	for i, n := range count {
		if n > 0 {
			all[i].rows[source] = make([]trace.Ref, 0, n)
		}
	}
	for ref, row := range table.Refs() {
		if id, ok := track(row); ok {
			all[id].rows[source] = append(all[id].rows[source], ref)
		}
	}
}

// Len returns how many events the thread has.
func (th *Thread) Len() (n int) {
	for _, rows := range th.rows {
		n += len(rows)
	}
	return n
}

// Release drops the thread's events. The thread is empty afterwards.
func (th *Thread) Release() { th.rows = [sources][]trace.Ref{} }

// Annotations returns how many annotations the thread has.
func (th *Thread) Annotations() (n int) {
	for _, r := range th.rows[spans] {
		if th.t.Spans.At(r).Kind == trace.Annotation {
			n++
		}
	}
	return n
}

// Calls returns how many calls of the runtime or driver the thread has.
func (th *Thread) Calls() int { return len(th.rows[calls]) }

// sort sorts each list that is not sorted already, as most are. For events with
// equal times their ids, if any, decide which began first.
func (th *Thread) sort() {
	for source, rows := range th.rows {
		sortRows(rows, func(r trace.Ref) times { return th.times(source, r) })
	}
}

// times returns the times of the event at a row of one of the tables.
func (th *Thread) times(source int, r trace.Ref) times {
	switch source {
	case ops:
		o := th.t.Ops.At(r)
		return times{o.Start, o.Dur, o.External}
	case calls:
		c := th.t.Calls.At(r)
		return times{c.Start, c.Dur, c.Correlation}
	case python:
		p := th.t.Python.At(r)
		return times{p.Start, p.Dur, p.ID}
	}
	s := th.t.Spans.At(r)
	return times{s.Start, s.Dur, 0}
}

// times has the values that determine the order of two events of one kind.
type times struct {
	start, dur int64
	id         trace.ID
}

func (a times) compare(b times) int {
	if a.start != b.start {
		return cmp.Compare(a.start, b.start)
	}
	return cmp.Or(cmp.Compare(b.dur, a.dur), cmp.Compare(a.id, b.id))
}

func sortRows(rows []trace.Ref, of func(trace.Ref) times) {
	sorted := true
	for i := 1; i < len(rows) && sorted; i++ {
		sorted = of(rows[i-1]).compare(of(rows[i])) <= 0
	}
	if !sorted {
		slices.SortStableFunc(rows, func(a, b trace.Ref) int { return of(a).compare(of(b)) })
	}
}

// frame returns the event at a row of one of the tables.
func (th *Thread) frame(source int, r trace.Ref) Frame {
	switch source {
	case ops:
		o := th.t.Ops.At(r)
		return Frame{Start: o.Start, End: o.Start + o.Dur, Name: o.Name, Row: r, Kind: trace.CPUOp, Op: o}
	case calls:
		c := th.t.Calls.At(r)
		return Frame{Start: c.Start, End: c.Start + c.Dur, Name: c.Name, Row: r, Kind: c.Kind, Call: c}
	case python:
		p := th.t.Python.At(r)
		return Frame{Start: p.Start, End: p.Start + p.Dur, Name: p.Name, Row: r, Kind: trace.Python}
	}
	s := th.t.Spans.At(r)
	return Frame{Start: s.Start, End: s.Start + s.Dur, Name: s.Name, Row: r, Kind: s.Kind, Span: s}
}
