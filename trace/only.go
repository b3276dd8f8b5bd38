package trace

import "slices"

// Work says which work of GPUs is meant. An empty list means all.
type Work struct{ Devices, Streams []int64 }

// All reports whether all work is meant.
func (w Work) All() bool { return len(w.Devices) == 0 && len(w.Streams) == 0 }

// has reports whether work on a row of the timeline is meant. Rows of the host are.
func (w Work) has(t *Track) bool {
	return !t.OnDevice || (len(w.Devices) == 0 || slices.Contains(w.Devices, t.Device)) && (len(w.Streams) == 0 || slices.Contains(w.Streams, t.Stream))
}

// Only returns the trace with no other work of GPUs than that which is meant, and without
// the launches of the other work. Host events stay. The trace shares the names, tracks and
// details of t.
func (t *Trace) Only(work Work) *Trace {
	if work.All() {
		return t
	}
	c := t.choiceOf(work)
	out := *t
	out.Activities = filter(&t.Activities, c.activity)
	out.Calls = filter(&t.Calls, c.call)
	out.CopySizes = filter(&t.CopySizes, func(s *CopySize) bool { return !c.dropped.has(s.Correlation) })
	out.Collectives = filter(&t.Collectives, func(k *CollectiveCall) bool { return c.on(k.Track) })
	out.Spans = filter(&t.Spans, func(s *HostSpan) bool { return c.on(s.Track) })
	out.Flows = filter(&t.Flows, c.flow)
	return &out
}

// A choice decides which events [Trace.Only] keeps.
type choice struct {
	t       *Trace
	work    Work
	dropped idSet // correlations of no work that is meant
}

func (t *Trace) choiceOf(work Work) *choice {
	c := &choice{t: t, work: work, dropped: make(idSet)}
	if work.All() {
		return c
	}
	kept := make(idSet)
	for a := range t.Activities.All() {
		if c.activity(a) {
			kept.add(a.Correlation)
		}
	}
	for a := range t.Activities.All() {
		if !kept.has(a.Correlation) {
			c.dropped.add(a.Correlation)
		}
	}
	return c
}

func (c *choice) on(track TrackID) bool { return c.work.has(&c.t.Tracks[track]) }

func (c *choice) activity(a *Activity) bool { return c.on(a.Track) }

func (c *choice) call(k *Call) bool { return !c.dropped.has(k.Correlation) }

// flow reports whether an arrow may lead to work that is meant. Profilers number arrows by
// the correlation of the work.
func (c *choice) flow(f *FlowEnd) bool {
	return c.work.All() || c.t.Name(f.Category) == backwardFlow || !c.dropped.has(f.ID)
}

// Without returns the trace without the events of the host, or without the calls of Python
// functions.
func (t *Trace) Without(host, python bool) *Trace {
	out := *t
	if python || host {
		out.Python = Table[PythonCall]{}
	}
	if host {
		out.Ops, out.Calls, out.CopySizes, out.Flows, out.Memory, out.Async = Table[Op]{}, Table[Call]{}, Table[CopySize]{}, Table[FlowEnd]{}, Table[MemoryEvent]{}, nil
		out.Spans = filter(&t.Spans, func(s *HostSpan) bool { return t.Tracks[s.Track].OnDevice })
		out.Collectives = filter(&t.Collectives, func(c *CollectiveCall) bool { return t.Tracks[c.Track].OnDevice })
	}
	return &out
}

// Starting returns the trace with the work, calls and spans that start in its window only.
// Launches before it and what they launched in it are no longer linked.
func (t *Trace) Starting() *Trace {
	w := t.Window
	if w == nil {
		return t
	}
	out := *t
	out.Activities = filter(&t.Activities, func(a *Activity) bool { return w.Starts(a.Start) })
	out.Calls = filter(&t.Calls, func(c *Call) bool { return w.Starts(c.Start) })
	out.Ops = filter(&t.Ops, func(o *Op) bool { return w.Starts(o.Start) })
	out.Python = filter(&t.Python, func(p *PythonCall) bool { return w.Starts(p.Start) })
	out.Spans = filter(&t.Spans, func(s *HostSpan) bool { return w.Starts(s.Start) })
	out.Async = slices.DeleteFunc(slices.Clone(t.Async), func(s HostSpan) bool { return !w.Starts(s.Start) })
	return &out
}
