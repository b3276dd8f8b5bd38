package analyze

import (
	"math"
	"strings"

	"assay/summary"
	"assay/trace"
)

// A link is one call of the host that launched device work, or, where calls
// were not recorded, the operator that did.
type link struct {
	start int64 // of the call
	call  *trace.Call
	op    *trace.Op // instead of call

	workNS  int64 // sum of the durations of the device work launched
	lastEnd int64 // when the last of it ended
	work    int32 // pieces of it

	// What the walk along the threads finds out.
	context  contextID
	note     contextID // the innermost annotation
	forward  contextID // of the operator whose backward pass this is; 0 if none
	sequence trace.ID  // of that operator, until forward is known
	pass     pass
}

// end returns when the call was over.
func (k *link) end() int64 {
	if k.call != nil {
		return k.call.Start + k.call.Dur
	}
	return k.op.Start + k.op.Dur
}

// track returns the thread that made the call.
func (k *link) track() trace.TrackID {
	if k.call != nil {
		return k.call.Track
	}
	return k.op.Track
}

// links has the link of every piece of device work.
type links struct {
	list    []link
	of      []int32 // by the number of an activity in its table: an index of list, or -1
	calls   *callIndex
	byCall  map[*trace.Call]int32 // of calls that are not the first of their correlation
	byOp    map[*trace.Op]int32
	without int64 // activities without a link
	double  int64 // activities whose correlation several calls have
}

// linksOf links device work to what launched it: by correlation, which a
// profiler writes at both ends; where there is none, by the arrow (flow) from a
// call to the work; where calls were not recorded, by the External id of the
// operator. A launch of a graph has many pieces of work.
//
// A trace of several processes may use a correlation twice. Then the process
// counts that has the label of the device's ("[TP00] 4217" and "[TP00] 0"), or
// else the one that launched most of the device's other work; and if that does
// not tell, the call that began last before the work did.
func linksOf(t *trace.Trace) *links {
	l := &links{
		of: make([]int32, 0, t.Activities.Len()), calls: callsByCorrelation(t),
		byCall: make(map[*trace.Call]int32), byOp: make(map[*trace.Op]int32),
	}
	var ops map[trace.ID]*trace.Op
	var arrows map[arrowEnd]*trace.Call
	l.calls.findOwners()
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
			l.add(a, l.toCall(call))
		case a.External != 0:
			if ops == nil {
				ops = opsByExternal(t)
			}
			if op := ops[a.External]; op != nil {
				l.add(a, l.toOp(op))
				break
			}
			fallthrough
		default:
			l.of = append(l.of, -1)
			l.without++
		}
	}
	return l
}

// toCall returns the link of a call, which it makes if there is none.
func (l *links) toCall(c *trace.Call) int32 {
	if i, ok := l.ofCall(c); ok {
		return i
	}
	i := int32(len(l.list))
	l.list = append(l.list, link{start: c.Start, call: c})
	if slot := l.calls.slot(c.Correlation); slot != nil && l.calls.t.Calls.At(slot.call) == c {
		slot.link = i + 1
	} else {
		l.byCall[c] = i
	}
	return i
}

// ofCall returns the link of a call, if it launched something.
func (l *links) ofCall(c *trace.Call) (int32, bool) {
	if slot := l.calls.slot(c.Correlation); slot != nil && slot.link != 0 && l.list[slot.link-1].call == c {
		return slot.link - 1, true
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
		l.byOp[o] = i
		l.list = append(l.list, link{start: o.Start, op: o})
	}
	return i
}

// add links an activity, the next in its table.
func (l *links) add(a *trace.Activity, i int32) {
	k := &l.list[i]
	k.work++
	k.workNS = summary.Plus(k.workNS, a.Dur)
	k.lastEnd = max(k.lastEnd, a.End())
	l.of = append(l.of, i)
}

// A callIndex finds calls by their correlation.
type callIndex struct {
	t     *trace.Trace
	first trace.ID   // the smallest correlation
	dense []callSlot // by correlation less first, where they are about as many as their range
	few   map[trace.ID]*callSlot
	more  map[trace.ID][]*trace.Call // further calls of a correlation
	owner map[int64]string           // by device: the pid that launched most of what is clear
}

// A callSlot is the first call of a correlation.
type callSlot struct {
	call trace.Ref
	used bool
	link int32 // index of its link plus 1, or 0
}

func callsByCorrelation(t *trace.Trace) *callIndex {
	x := &callIndex{t: t, first: math.MaxUint32, more: make(map[trace.ID][]*trace.Call), few: make(map[trace.ID]*callSlot)}
	top := trace.ID(0)
	for c := range t.Calls.All() {
		if c.Correlation != 0 {
			top = max(top, c.Correlation)
			x.first = min(x.first, c.Correlation)
		}
	}
	if top >= x.first && int64(top-x.first) < 4*int64(t.Calls.Len())+1024 {
		x.dense = make([]callSlot, top-x.first+1)
	}
	for ref, c := range t.Calls.Refs() {
		switch slot := x.slot(c.Correlation); {
		case c.Correlation == 0:
		case slot != nil && slot.used:
			x.more[c.Correlation] = append(x.more[c.Correlation], c)
		case slot != nil:
			slot.call, slot.used = ref, true
		default:
			x.few[c.Correlation] = &callSlot{call: ref, used: true}
		}
	}
	return x
}

// slot returns the slot of a correlation, or nil.
func (x *callIndex) slot(id trace.ID) *callSlot {
	if i := int64(id) - int64(x.first); i >= 0 && i < int64(len(x.dense)) {
		return &x.dense[i]
	}
	return x.few[id]
}

// launched returns the call that launched a, or nil, and whether calls of
// several processes might have.
func (x *callIndex) launched(a *trace.Activity) (call *trace.Call, several bool) {
	slot := x.slot(a.Correlation)
	if a.Correlation == 0 || slot == nil || !slot.used {
		return nil, false
	}
	call = x.t.Calls.At(slot.call)
	if len(x.more) == 0 {
		return call, false
	}
	for _, c := range x.more[a.Correlation] {
		switch within := c.Track == call.Track && c.Start < call.Start+call.Dur && call.Start < c.Start+c.Dur; {
		case within: // the runtime's call and the driver's call inside it
			if c.Start < call.Start || c.Start == call.Start && c.Dur > call.Dur {
				call = c
			}
		default:
			several = true
			if x.fits(c, a) > x.fits(call, a) || x.fits(c, a) == x.fits(call, a) && c.Start <= a.Start && (call.Start > a.Start || c.Start > call.Start) {
				call = c
			}
		}
	}
	return call, several
}

// fits says how well the process of a call fits the device of some work: 2 if
// both have the same label, 1 if it launched most of the device's work.
func (x *callIndex) fits(c *trace.Call, a *trace.Activity) int {
	device, pid := &x.t.Tracks[a.Track], x.t.Tracks[c.Track].PID
	mine, theirs := processLabel(pid), processLabel(device.PID)
	switch {
	case mine != "" && mine == theirs:
		return 2
	case x.owner[device.Device] == pid:
		return 1
	}
	return 0
}

// processLabel returns what programs that put traces together write before the
// number of a process: "TP00" of "[TP00] 4217".
func processLabel(pid string) string {
	if label, _, ok := strings.Cut(pid, "]"); ok && strings.HasPrefix(label, "[") {
		return label[1:]
	}
	return ""
}

// findOwners finds the process that launched most of the work of each device
// whose correlation only one process has.
func (x *callIndex) findOwners() {
	if len(x.more) == 0 {
		return
	}
	type vote struct {
		device int64
		pid    string
	}
	votes := make(map[vote]int)
	for a := range x.t.Activities.All() {
		if slot := x.slot(a.Correlation); a.Correlation != 0 && slot != nil && slot.used && x.more[a.Correlation] == nil {
			votes[vote{x.t.Tracks[a.Track].Device, x.t.Tracks[x.t.Calls.At(slot.call).Track].PID}]++
		}
	}
	x.owner = make(map[int64]string)
	best := make(map[int64]int)
	for v, n := range votes {
		if n > best[v.device] || n == best[v.device] && v.pid < x.owner[v.device] {
			x.owner[v.device], best[v.device] = v.pid, n
		}
	}
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

func opsByExternal(t *trace.Trace) map[trace.ID]*trace.Op {
	out := make(map[trace.ID]*trace.Op, t.Ops.Len())
	for o := range t.Ops.All() {
		if o.External != 0 {
			out[o.External] = o
		}
	}
	return out
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
