// Package hosttree nests the events of each host thread: annotations, Python functions, operators
// and runtime calls. A walk reports what is open on a thread at any time.
//
// Profilers write the events of a thread in any order and rarely record which event called which.
// Times tell: an event is nested in the event that was open on its thread when it started, unless
// it ends more than a microsecond later than that one.
//
// Start with threads.go (Thread, Frame) and walk.go (Walk, Visitor). merge.go merges the tables of
// a trace in the order of time; cut.go divides a thread for two cores. Package attribute has the
// most important Visitor.
package hosttree

import (
	"cmp"
	"sync"

	"assay/internal/runsort"
	"assay/trace"
)

// A Frame is one event of a host thread: an operator, a runtime or driver call, a Python function,
// or a span of another kind. It has no pointers, because a walk copies each event several times.
type Frame struct {
	Start, End int64
	Name       trace.Sym
	Row        trace.Ref // in the table of its kind
	Kind       trace.Kind
}

// IsCall reports whether the event is a runtime or driver call: Row is in the table of calls.
func (f *Frame) IsCall() bool { return f.Kind == trace.Runtime || f.Kind == trace.Driver }

// A Thread is a track of the host with its events by start, outer events first.
type Thread struct {
	Track trace.TrackID
	t     *trace.Trace
	rows  [sources][]trace.Ref
}

// The tables with events of the host. Of events with equal times, those of earlier tables are outer.
const (
	spans = iota
	python
	ops
	calls
	sources
)

// Threads returns the threads of a trace that have events, in the order of their tracks. It leaves
// out events on the tracks of devices.
func Threads(t *trace.Trace) []*Thread {
	all := make([]Thread, len(t.Tracks))
	for i := range all {
		all[i].Track, all[i].t = trace.TrackID(i), t
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		bucket(all, spans, &t.Spans, func(s *trace.HostSpan) trace.TrackID { return s.Track }, timesOfSpan,
			func(s *trace.HostSpan) bool { return ofThread.Has(s.Kind) })
	})
	wg.Go(func() {
		bucket(all, python, &t.Python, func(p *trace.PythonCall) trace.TrackID { return p.Track }, timesOfPython, nil)
	})
	wg.Go(func() { bucket(all, ops, &t.Ops, func(o *trace.Op) trace.TrackID { return o.Track }, timesOfOp, nil) })
	wg.Go(func() {
		bucket(all, calls, &t.Calls, func(c *trace.Call) trace.TrackID { return c.Track }, timesOfCall, nil)
	})
	wg.Wait()
	var out []*Thread
	for i := range all {
		if th := &all[i]; th.Len() > 0 && !t.Tracks[i].OnDevice {
			out = append(out, th)
		}
	}
	return out
}

// ofThread holds the kinds of spans that describe what a thread does.
var ofThread = trace.Of(trace.Annotation, trace.OtherKind, trace.Overhead, trace.OSCall, trace.OffCPU)

// bucket distributes the rows of one table to their threads, by start: those for which wanted is
// true, or all if it is nil. It counts first, so that each list is allocated once. Of events with
// equal times, the one with the lower id comes first.
func bucket[T any](all []Thread, source int, table *trace.Table[T], trackOf func(*T) trace.TrackID,
	timesOf func(*T) times, wanted func(*T) bool) {
	count := make([]int, len(all))
	for _, part := range table.Parts() {
		for i := range part {
			if wanted == nil || wanted(&part[i]) {
				count[trackOf(&part[i])]++
			}
		}
	}
	lists := make([]list, len(all))
	for i, n := range count {
		if n > 0 {
			lists[i].refs = make([]trace.Ref, 0, n)
		}
	}
	for first, part := range table.Parts() {
		for i := range part {
			if wanted == nil || wanted(&part[i]) {
				lists[trackOf(&part[i])].add(first+trace.Ref(i), timesOf(&part[i]))
			}
		}
	}
	for i := range lists {
		th, l := &all[i], &lists[i]
		if th.rows[source] = l.refs; len(l.ends) > 0 {
			runsort.Merge(l.refs, append(l.ends, len(l.refs)),
				func(a, b trace.Ref) int { return th.times(source, a).compare(th.times(source, b)) })
		}
	}
}

// A list has the rows of a thread. It consists of sorted parts, which are merged at the end.
type list struct {
	refs []trace.Ref
	last times
	ends []int // ends of the parts, without the last
}

func (l *list) add(ref trace.Ref, at times) {
	if at.start <= l.last.start && len(l.refs) > 0 && l.last.compare(at) > 0 {
		l.ends = append(l.ends, len(l.refs))
	}
	l.refs, l.last = append(l.refs, ref), at
}

// Len returns the number of events.
func (th *Thread) Len() (n int) {
	for _, rows := range th.rows {
		n += len(rows)
	}
	return n
}

// Release drops the thread's events. The thread is empty afterwards.
func (th *Thread) Release() { th.rows = [sources][]trace.Ref{} }

// Annotations returns the number of annotations.
func (th *Thread) Annotations() (n int) {
	for _, r := range th.rows[spans] {
		if th.t.Spans.At(r).Kind == trace.Annotation {
			n++
		}
	}
	return n
}

// Calls returns the number of runtime and driver calls.
func (th *Thread) Calls() int { return len(th.rows[calls]) }

// times returns the times of the event in row r of table source.
func (th *Thread) times(source int, r trace.Ref) times {
	switch source {
	case ops:
		return timesOfOp(th.t.Ops.At(r))
	case calls:
		return timesOfCall(th.t.Calls.At(r))
	case python:
		return timesOfPython(th.t.Python.At(r))
	}
	return timesOfSpan(th.t.Spans.At(r))
}

func timesOfOp(o *trace.Op) times             { return times{o.Start, o.Dur, o.External} }
func timesOfCall(c *trace.Call) times         { return times{c.Start, c.Dur, c.Correlation} }
func timesOfPython(p *trace.PythonCall) times { return times{p.Start, p.Dur, p.ID} }
func timesOfSpan(s *trace.HostSpan) times     { return times{s.Start, s.Dur, 0} }

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

// frame sets f to the event in row r of table source.
func (th *Thread) frame(f *Frame, source int, r trace.Ref) {
	f.Row = r
	switch source {
	case ops:
		o := th.t.Ops.At(r)
		f.Start, f.End, f.Name, f.Kind = o.Start, o.Start+o.Dur, o.Name, trace.CPUOp
	case calls:
		c := th.t.Calls.At(r)
		f.Start, f.End, f.Name, f.Kind = c.Start, c.Start+c.Dur, c.Name, c.Kind
	case python:
		p := th.t.Python.At(r)
		f.Start, f.End, f.Name, f.Kind = p.Start, p.Start+p.Dur, p.Name, trace.Python
	default:
		s := th.t.Spans.At(r)
		f.Start, f.End, f.Name, f.Kind = s.Start, s.Start+s.Dur, s.Name, s.Kind
	}
}
