package analyze

import (
	"strings"

	"assay/summary"
	"assay/trace"
)

// A link is one call of the host that launched device work, or, where calls
// were not recorded, the operator that did.
type link struct {
	call   *trace.Call // nil where calls were not recorded: see links.ops
	workNS int64       // sum of the durations of the device work launched
	work   int32       // pieces of it

	// What the walk along the threads finds out.
	context  contextID
	note     contextID // the innermost annotation
	forward  contextID // of the operator whose backward pass this is; 0 if none
	sequence trace.ID  // of that operator, until forward is known
	pass     pass
}

// links has the link of every piece of device work.
type links struct {
	list    []link
	of      []int32 // by the number of an activity in its table: an index of list, or -1
	calls   *callIndex
	first   []int32               // by the place of a correlation: its first link, plus 1
	byCall  map[*trace.Call]int32 // of all other calls
	byOp    map[*trace.Op]int32
	ops     map[int32]*trace.Op // of links without a call
	copied  map[int32]int64     // of links that copy or fill: when the last of it ended
	lost    losses              // launches without an activity
	without int64               // activities without a link
	double  int64               // activities whose correlation several calls have
	early   int64               // activities that started before their call began
	called  int64               // activities with a call
	surplus int64               // records beyond one of each launch: see surplusOf
	longest int64               // the longest time from the start of a call to the end of its work
}

// clockSlack is the time, in ns, by which work may start before its call without an
// issue: profilers align the clocks of host and device to about 1 µs.
const clockSlack = 2000

// time returns when the call of a link began and ended, and its thread.
func (l *links) time(i int32) (start, end int64, track trace.TrackID) {
	if c := l.list[i].call; c != nil {
		return c.Start, c.Start + c.Dur, c.Track
	}
	o := l.ops[i]
	return o.Start, o.Start + o.Dur, o.Track
}

// start returns when the call of a link began.
func (l *links) start(i int32) int64 {
	start, _, _ := l.time(i)
	return start
}

// linksOf links device work to what launched it: by correlation, which a
// profiler writes at both ends; where there is none, by the arrow (flow) from a
// call to the work; where calls were not recorded, by the External id of the
// operator. A launch of a graph has many pieces of work.
//
// A trace of several processes may use a correlation twice. Then the process whose
// label equals the device's counts ("[TP00] 4217" and "[TP00] 0"), or else the one
// that launched most of the device's other work. If that is not decisive, the last
// call that began before the work counts.
func linksOf(t *trace.Trace) *links {
	l := &links{
		of: make([]int32, 0, t.Activities.Len()), calls: callsByCorrelation(t),
		// What is never written takes no memory; growing would copy millions.
		list:   make([]link, 0, min(t.Activities.Len(), t.Calls.Len())),
		byCall: make(map[*trace.Call]int32), byOp: make(map[*trace.Op]int32),
		ops: make(map[int32]*trace.Op), copied: make(map[int32]int64),
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
			l.double++
		}
		switch {
		case call != nil:
			if a.Start < call.Start-clockSlack {
				l.early++
			}
			l.called++
			l.longest = max(l.longest, a.End()-call.Start)
			l.add(a, l.toCall(call))
		case a.External != 0:
			if ops == nil {
				ops = opsByExternal(t)
			}
			op, several := ops.launched(t, a)
			if several {
				l.double++
			}
			if op != nil {
				l.add(a, l.toOp(op))
				break
			}
			fallthrough
		default:
			l.of = append(l.of, -1)
			l.without++
		}
	}
	l.lost = lossesOf(t, l)
	l.surplus = surplusOf(t, l)
	l.calls.forget()
	return l
}

// toCall returns the link of a call, which it makes if there is none.
func (l *links) toCall(c *trace.Call) int32 {
	if i, ok := l.ofCall(c); ok {
		return i
	}
	i := int32(len(l.list))
	l.list = append(l.list, link{call: c})
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

// ofCall returns the link of a call, if it launched something.
func (l *links) ofCall(c *trace.Call) (int32, bool) {
	if at := l.calls.place(c.Correlation); at >= 0 && l.first != nil && l.first[at] != 0 && l.list[l.first[at]-1].call == c {
		return l.first[at] - 1, true
	}
	if len(l.byCall) == 0 {
		return 0, false
	}
	i, ok := l.byCall[c]
	return i, ok
}

func (l *links) toOp(o *trace.Op) int32 {
	i, ok := l.byOp[o]
	if !ok {
		i = int32(len(l.list))
		l.byOp[o], l.ops[i] = i, o
		l.list = append(l.list, link{})
	}
	return i
}

// add links an activity, the next in its table.
func (l *links) add(a *trace.Activity, i int32) {
	k := &l.list[i]
	k.work++
	k.workNS = summary.Plus(k.workNS, a.Dur)
	if a.Kind != trace.Kernel {
		if end, ok := l.copied[i]; !ok || a.End() > end {
			l.copied[i] = a.End()
		}
	}
	l.of = append(l.of, i)
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

// passArrows are the arrows from operators of the forward pass to those of the
// backward pass, by where they begin and end; nil where operators have sequence
// numbers, which say the same.
type passArrows map[arrowEnd]passArrow

type passArrow struct {
	id       trace.ID
	backward bool // it ends here
}

func passArrowsOf(t *trace.Trace) passArrows {
	if t.Flows.Len() == 0 {
		return nil
	}
	for o := range t.Ops.All() {
		if o.Sequence != 0 {
			return nil
		}
	}
	out := make(passArrows)
	for f := range t.Flows.All() {
		if t.Name(f.Category) == "fwdbwd" && f.ID != 0 {
			out[arrowEnd{f.Track, f.Start}] = passArrow{f.ID, f.Phase == 'f'}
		}
	}
	return out
}

// sequence returns the number that an operator of the forward pass shares with
// one of the backward pass, 0 if there is none, and whether it is the latter.
func (p passArrows) sequence(o *trace.Op) (id trace.ID, backward bool) {
	if p == nil {
		return o.Sequence, o.Forward != 0
	}
	a := p[arrowEnd{o.Track, o.Start}]
	return a.id, a.backward
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

// callKind says what a call of the runtime or driver does, by its name. CUDA,
// HIP and others use the same words.
func callKind(name string) string {
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(name, w) {
				return true
			}
		}
		return false
	}
	switch {
	case has("GraphLaunch"):
		return "graph-launch"
	case has("Launch", "runFunction"):
		return "launch"
	case has("Synchronize"):
		return "sync"
	case has("Memcpy"):
		return "copy"
	case has("Memset"):
		return "memset"
	case has("Malloc", "HostAlloc", "MemAlloc", "MemCreate", "MemMap", "HostRegister"):
		return "alloc"
	case has("Free", "MemRelease", "MemUnmap", "HostUnregister"):
		return "free"
	}
	return "other"
}
