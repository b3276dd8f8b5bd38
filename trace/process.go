package trace

// OfProcess returns the events of one process: those on its threads and on the streams that it uses. The result
// shares the names, tracks and details of t.
func (t *Trace) OfProcess(pid string) *Trace {
	on := func(track TrackID) bool { return t.Tracks[track].PID == pid }
	out := *t
	out.Activities = filter(&t.Activities, func(a *Activity) bool { return on(a.Track) })
	out.Ops = filter(&t.Ops, func(o *Op) bool { return on(o.Track) })
	out.Calls = filter(&t.Calls, func(c *Call) bool { return on(c.Track) })
	out.Collectives = filter(&t.Collectives, func(c *CollectiveCall) bool { return on(c.Track) })
	out.Python = filter(&t.Python, func(c *PythonCall) bool { return on(c.Track) })
	out.Spans = filter(&t.Spans, func(s *HostSpan) bool { return on(s.Track) })
	out.Syncs = filter(&t.Syncs, func(s *SyncRecord) bool { return on(s.Track) })
	out.Flows = filter(&t.Flows, func(f *FlowEnd) bool { return on(f.Track) })
	return &out
}
