// Package linking links device work to the calls of the host that launched it, and finds
// where the two contradict each other: launches without work, work without a launch, more
// records than launches, and work at times at which it cannot have run.
package linking

import (
	"assay/summary"
	"assay/trace"
)

// A Link is one call of the host that launched device work, or, where calls
// were not recorded, the operator that did.
type Link struct {
	Call   *trace.Call // nil where calls were not recorded: see Links.ops
	WorkNS int64       // sum of the durations of the device work launched that starts in the window of the trace
	Work   int32       // pieces of it
}

// Links has the link of every piece of device work.
type Links struct {
	window *trace.Window

	List    []Link
	Of      []int32 // by the number of an activity in its table: an index of List, or -1
	calls   *callIndex
	first   []int32               // by the place of a correlation: its first link, plus 1
	byCall  map[*trace.Call]int32 // of all other calls
	ByOp    map[*trace.Op]int32
	ops     map[int32]*trace.Op // of links without a call
	Copied  map[int32]int64     // of links that copy or fill: when the last of it ended
	Lost    Losses              // launches without an activity
	Without int64               // activities without a link
	Double  int64               // activities whose correlation several calls have
	Early   int64               // activities that started before their call began
	Called  int64               // activities with a call
	surplus int64               // records beyond one of each launch: see surplusOf
	longest int64               // the longest time from the start of a call to the end of its work
}

// clockSlack is the time, in ns, by which work may start before its call without an
// issue: profilers align the clocks of host and device to about 1 µs.
const clockSlack = 2000

// Time returns when the call of a link began and ended, and its thread.
func (l *Links) Time(i int32) (start, end int64, track trace.TrackID) {
	if c := l.List[i].Call; c != nil {
		return c.Start, c.Start + c.Dur, c.Track
	}
	o := l.ops[i]
	return o.Start, o.Start + o.Dur, o.Track
}

// Start returns when the call of a link began.
func (l *Links) Start(i int32) int64 {
	start, _, _ := l.Time(i)
	return start
}

// Of links device work to what launched it: by correlation, which a
// profiler writes at both ends; where there is none, by the arrow (flow) from a
// call to the work; where calls were not recorded, by the External id of the
// operator. A launch of a graph has many pieces of work.
//
// A trace of several processes may use a correlation twice. Then the process whose
// label equals the device's counts ("[TP00] 4217" and "[TP00] 0"), or else the one
// that launched most of the device's other work. If that is not decisive, the last
// call that began before the work counts.
func Of(t *trace.Trace) *Links {
	l := &Links{
		window: t.Window,
		Of:     make([]int32, 0, t.Activities.Len()), calls: callsByCorrelation(t),
		// What is never written takes no memory; growing would copy millions.
		List:   make([]Link, 0, min(t.Activities.Len(), t.Calls.Len())),
		byCall: make(map[*trace.Call]int32), ByOp: make(map[*trace.Op]int32),
		ops: make(map[int32]*trace.Op), Copied: make(map[int32]int64),
	}
	var ops *opIndex
	var arrows map[arrowEnd]*trace.Call
	for a := range t.Activities.All() {
		call, several := l.calls.launched(a)
		if call == nil && a.Correlation == 0 && t.Flows.Len() > 0 {
			if arrows == nil {
				arrows = arrowsOf(t)
			}
			call = arrows[arrowEnd{a.Track, a.Start}]
		}
		if several {
			l.Double++
		}
		switch {
		case call != nil:
			if a.Start < call.Start-clockSlack {
				l.Early++
			}
			l.Called++
			l.longest = max(l.longest, a.End()-call.Start)
			l.add(a, l.toCall(call))
		case a.External != 0:
			if ops == nil {
				ops = opsByExternal(t)
			}
			op, several := ops.launched(t, a)
			if several {
				l.Double++
			}
			if op != nil {
				l.add(a, l.toOp(op))
				break
			}
			fallthrough
		default:
			l.Of = append(l.Of, -1)
			l.Without++
		}
	}
	l.Lost = lossesOf(t, l)
	l.surplus = surplusOf(t, l)
	l.calls.forget()
	return l
}

// toCall returns the link of a call, which it makes if there is none.
func (l *Links) toCall(c *trace.Call) int32 {
	if i, ok := l.OfCall(c); ok {
		return i
	}
	i := int32(len(l.List))
	l.List = append(l.List, Link{Call: c})
	if at := l.calls.place(c.Correlation); at >= 0 {
		if l.first == nil {
			l.first = make([]int32, l.calls.width)
		}
		if l.first[at] == 0 {
			l.first[at] = i + 1
			return i
		}
	}
	l.byCall[c] = i
	return i
}

// OfCall returns the link of a call, if it launched something.
func (l *Links) OfCall(c *trace.Call) (int32, bool) {
	if at := l.calls.place(c.Correlation); at >= 0 && l.first != nil && l.first[at] != 0 && l.List[l.first[at]-1].Call == c {
		return l.first[at] - 1, true
	}
	if len(l.byCall) == 0 {
		return 0, false
	}
	i, ok := l.byCall[c]
	return i, ok
}

func (l *Links) toOp(o *trace.Op) int32 {
	i, ok := l.ByOp[o]
	if !ok {
		i = int32(len(l.List))
		l.ByOp[o], l.ops[i] = i, o
		l.List = append(l.List, Link{})
	}
	return i
}

// add links an activity, the next in its table.
func (l *Links) add(a *trace.Activity, i int32) {
	k := &l.List[i]
	if l.window.Starts(a.Start) {
		k.Work++
		k.WorkNS = summary.Plus(k.WorkNS, a.Dur)
	}
	if a.Kind != trace.Kernel {
		if end, ok := l.Copied[i]; !ok || a.End() > end {
			l.Copied[i] = a.End()
		}
	}
	l.Of = append(l.Of, i)
}

// An arrowEnd is where an arrow ends: at the start of some work.
type arrowEnd struct {
	track trace.TrackID
	start int64
}

// arrowsOf returns the call at the start of every arrow from the host to a
// device, by where it ends.
func arrowsOf(t *trace.Trace) map[arrowEnd]*trace.Call {
	at := make(map[arrowEnd]*trace.Call)
	for c := range t.Calls.All() {
		at[arrowEnd{c.Track, c.Start}] = c
	}
	from := make(map[trace.ID]*trace.Call)
	for f := range t.Flows.All() {
		if f.Phase == 's' && isLaunchFlow(t.Name(f.Category)) {
			if c := at[arrowEnd{f.Track, f.Start}]; c != nil {
				from[f.ID] = c
			}
		}
	}
	// The end of an arrow is an event of the host's tables, whose tracks are not
	// the device's: they are matched by pid and tid.
	type row struct{ pid, tid string }
	device := make(map[row]trace.TrackID)
	for i, track := range t.Tracks {
		if track.OnDevice {
			device[row{track.PID, track.TID}] = trace.TrackID(i)
		}
	}
	out := make(map[arrowEnd]*trace.Call)
	for f := range t.Flows.All() {
		if c := from[f.ID]; c != nil && f.Phase == 'f' && isLaunchFlow(t.Name(f.Category)) {
			track := &t.Tracks[f.Track]
			if id, ok := device[row{track.PID, track.TID}]; ok {
				out[arrowEnd{id, f.Start}] = c
			}
		}
	}
	return out
}

// isLaunchFlow reports whether arrows of this category lead from a launch to
// what it launched. Those of fwdbwd, which has numbers of its own, do not.
func isLaunchFlow(category string) bool {
	return category == "ac2g" || category == "async_cpu_to_gpu" || category == "async_gpu"
}

// An opIndex finds operators by their External id, which is unique in a process.
type opIndex struct {
	all     map[trace.ID]*trace.Op
	several map[trace.ID]bool // processes have it
	byLabel map[opKey]*trace.Op
}

type opKey struct {
	label string // of the process: see processLabel
	id    trace.ID
}

func opsByExternal(t *trace.Trace) *opIndex {
	x := &opIndex{make(map[trace.ID]*trace.Op, t.Ops.Len()), make(map[trace.ID]bool), make(map[opKey]*trace.Op)}
	for o := range t.Ops.All() {
		if o.External == 0 {
			continue
		}
		pid := t.Tracks[o.Track].PID
		if label := processLabel(pid); label != "" {
			x.byLabel[opKey{label, o.External}] = o
		}
		switch have := x.all[o.External]; {
		case have == nil:
			x.all[o.External] = o
		case t.Tracks[have.Track].PID != pid:
			x.several[o.External] = true
			if pid < t.Tracks[have.Track].PID {
				x.all[o.External] = o
			}
		}
	}
	return x
}

// launched returns the operator that launched a, or nil, and whether operators
// of several processes might have.
func (x *opIndex) launched(t *trace.Trace, a *trace.Activity) (op *trace.Op, several bool) {
	if op = x.byLabel[opKey{processLabel(t.Tracks[a.Track].PID), a.External}]; op == nil {
		op = x.all[a.External]
	}
	return op, x.several[a.External]
}
