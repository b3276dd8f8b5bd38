package trace

import "slices"

// Work selects GPU work by device and stream. An empty list means all.
type Work struct{ Devices, Streams []int64 }

// All reports whether all GPU work is selected.
func (w Work) All() bool { return len(w.Devices) == 0 && len(w.Streams) == 0 }

// has reports whether the work of a track is selected. Tracks of the host always are.
func (w Work) has(t *Track) bool {
	return !t.OnDevice || (len(w.Devices) == 0 || slices.Contains(w.Devices, t.Device)) &&
		(len(w.Streams) == 0 || slices.Contains(w.Streams, t.Stream))
}

// Only returns the trace without the GPU work that is not selected and without the launches
// of that work. Other host events stay. The result shares the names, tracks and details of t.
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
	out.Syncs = filter(&t.Syncs, func(s *SyncRecord) bool { return c.on(s.Track) })
	out.Flows = filter(&t.Flows, c.flow)
	return &out
}

// A choice decides which events [Trace.Only] keeps.
type choice struct {
	t       *Trace
	work    Work
	dropped idSet // correlations of work that is not selected
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

// flow reports whether an arrow may lead to selected work. Profilers number arrows by the
// correlation of the work.
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
		out.Ops, out.Calls, out.CopySizes = Table[Op]{}, Table[Call]{}, Table[CopySize]{}
		out.Flows, out.Memory, out.Async = Table[FlowEnd]{}, Table[MemoryEvent]{}, nil
		out.Spans = filter(&t.Spans, func(s *HostSpan) bool { return t.Tracks[s.Track].OnDevice })
		out.Collectives = filter(&t.Collectives, func(c *CollectiveCall) bool { return t.Tracks[c.Track].OnDevice })
	}
	return &out
}

// Starting returns the trace without the work, calls and spans that start outside its window.
// Work in the window that was launched before it is then not linked to a launch.
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
