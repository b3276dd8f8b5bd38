// Package launches links device work to the calls of the host that launched it, and finds
// where the two contradict each other: launches without work, work without a launch, more
// records than launches, and work at times at which it cannot have run.
package launches

import (
	"sync"

	"assay/internal/interval"
	"assay/summary"
	"assay/trace"
)

// A Link is one call of the host that launched device work, or, where calls
// were not recorded, the operator that did. There are millions, so it has no pointer,
// which the garbage collector would follow.
type Link struct {
	interval.Span               // of the call
	WorkNS        int64         // sum of the durations of the device work launched that starts in the window of the trace
	copied        int64         // when the last of the copies and fills launched ended
	row           trace.Ref     // of the call, or of the operator
	Track         trace.TrackID // of the call
	Work          int32         // pieces of work
	called        bool          // the call was recorded
	copies        bool          // it launched a copy or fill
}

// Copied returns when the last of the copies and fills of the link ended, and false if it
// launched none.
func (k *Link) Copied() (end int64, ok bool) { return k.copied, k.copies }

// Links has the link of every piece of device work.
type Links struct {
	t *trace.Trace

	List    []Link
	Of      []int32 // by the number of an activity in its table: an index of List, or -1
	calls   *callIndex
	byCall  []int32 // by the row of a call: its link, plus 1
	byOp    []int32 // by the row of an operator; nil if no operator is a link
	Without int64   // activities without a link
	Double  int64   // activities whose correlation several calls have
	Early   int64   // activities that started before their call began
	Called  int64   // activities with a call
	longest int64   // the longest time from the start of a call to the end of its work

	found   chan struct{} // is closed once the following are known
	lost    Losses
	surplus int64 // records beyond one of each launch: see surplusOf
}

// Lost returns the launches without an activity.
func (l *Links) Lost() *Losses {
	<-l.found
	return &l.lost
}

// clockSlack is the time, in ns, by which work may start before its call without an
// issue: profilers align the clocks of host and device to about 1 µs.
const clockSlack = 2000

// HasCall reports whether the call of a link was recorded.
func (l *Links) HasCall(i int32) bool { return l.List[i].called }

// Call returns the call of a link, or nil if calls were not recorded.
func (l *Links) Call(i int32) *trace.Call {
	if k := &l.List[i]; k.called {
		return l.t.Calls.At(k.row)
	}
	return nil
}

// Time returns when the call of a link began and ended.
func (l *Links) Time(i int32) interval.Span { return l.List[i].Span }

// Start returns when the call of a link began.
func (l *Links) Start(i int32) int64 { return l.List[i].Start }

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
	n := t.Activities.Len()
	l := &Links{
		t:  t,
		Of: make([]int32, 0, n), calls: callsByCorrelation(t),
		// What is never written takes no memory; growing would copy millions.
		List:   make([]Link, 0, min(n, t.Calls.Len())),
		byCall: make([]int32, t.Calls.Bound()),
		found:  make(chan struct{}),
	}
	// A page of memory that is read before it is written costs two faults, the second on all
	// cores. So the first access to a page writes.
	const page = 1024
	written := make([]bool, len(l.byCall)/page+1)
	arrows := arrowsOf(t)
	wanted := make(map[trace.ID]bool) // the numbers of operators of activities without a call
	for a := range t.Activities.All() {
		ref, ok, several := l.calls.launched(a)
		if !ok && a.Correlation == 0 {
			ref, ok = arrows(a)
		}
		if several {
			l.Double++
		}
		l.Of = append(l.Of, -1)
		if !ok {
			wanted[a.External] = true
			continue
		}
		call := t.Calls.At(ref)
		if a.Start < call.Start-clockSlack {
			l.Early++
		}
		if !written[ref/page] {
			written[ref/page], l.byCall[ref] = true, 0
		}
		l.Called++
		l.longest = max(l.longest, a.End()-call.Start)
		l.add(a, len(l.Of)-1, l.to(&l.byCall[ref], Link{Span: interval.Span{Start: call.Start, End: call.Start + call.Dur}, Track: call.Track, row: ref, called: true}))
	}
	l.Without = int64(len(l.Of)) - l.Called
	l.toOps(t, wanted)
	go func() { // the walk does not need it
		l.lost = lossesOf(t, l)
		l.surplus = surplusOf(t, l)
		l.calls.forget()
		close(l.found)
	}()
	return l
}

// toOps links the activities without a call to operators, by their numbers.
func (l *Links) toOps(t *trace.Trace, wanted map[trace.ID]bool) {
	if delete(wanted, 0); len(wanted) == 0 {
		return
	}
	ops := opsByExternal(t, wanted)
	l.byOp = make([]int32, t.Ops.Bound())
	number := -1
	for a := range t.Activities.All() {
		number++
		if l.Of[number] >= 0 || a.External == 0 {
			continue
		}
		ref, ok, several := ops.launched(t, a)
		if several {
			l.Double++
		}
		if ok {
			l.Without--
			o := t.Ops.At(ref)
			l.add(a, number, l.to(&l.byOp[ref], Link{Span: interval.Span{Start: o.Start, End: o.Start + o.Dur}, Track: o.Track, row: ref}))
		}
	}
}

// to returns the link of a call or operator, whose entry is at. It makes the link if there
// is none.
func (l *Links) to(at *int32, k Link) int32 {
	if *at == 0 {
		l.List = append(l.List, k)
		*at = int32(len(l.List))
	}
	return *at - 1
}

// OfCall returns the link of a call, by its row, if it launched something.
func (l *Links) OfCall(call trace.Ref) (int32, bool) {
	i := l.byCall[call]
	return i - 1, i != 0
}

// OfOp returns the link of an operator, by its row, if it stands for the calls that launched
// something.
func (l *Links) OfOp(op trace.Ref) (int32, bool) {
	if l.byOp == nil {
		return -1, false
	}
	i := l.byOp[op]
	return i - 1, i != 0
}

// add links the activity with a number.
func (l *Links) add(a *trace.Activity, number int, i int32) {
	l.Of[number] = i
	k := &l.List[i]
	if l.t.Window.Starts(a.Start) {
		k.Work++
		k.WorkNS = summary.Plus(k.WorkNS, a.Dur)
	}
	if a.Kind != trace.Kernel && (!k.copies || a.End() > k.copied) {
		k.copies, k.copied = true, a.End()
	}
}

// An arrowEnd is where an arrow ends: at the start of some work.
type arrowEnd struct {
	track trace.TrackID
	start int64
}

// arrowsOf returns a function that finds the call from which an arrow leads to an activity.
func arrowsOf(t *trace.Trace) func(*trace.Activity) (trace.Ref, bool) {
	ends := sync.OnceValue(func() map[arrowEnd]trace.Ref { return arrowEnds(t) })
	return func(a *trace.Activity) (trace.Ref, bool) {
		if t.Flows.Len() == 0 {
			return 0, false
		}
		ref, ok := ends()[arrowEnd{a.Track, a.Start}]
		return ref, ok
	}
}

// arrowEnds returns the call at the start of every arrow from the host to a
// device, by where it ends.
func arrowEnds(t *trace.Trace) map[arrowEnd]trace.Ref {
	at := make(map[arrowEnd]trace.Ref)
	for ref, c := range t.Calls.Refs() {
		at[arrowEnd{c.Track, c.Start}] = ref
	}
	from := make(map[trace.ID]trace.Ref)
	for f := range t.Flows.All() {
		if f.Phase == 's' && isLaunchFlow(t.Name(f.Category)) {
			if c, ok := at[arrowEnd{f.Track, f.Start}]; ok {
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
	out := make(map[arrowEnd]trace.Ref)
	for f := range t.Flows.All() {
		if c, ok := from[f.ID]; ok && f.Phase == 'f' && isLaunchFlow(t.Name(f.Category)) {
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
	all     map[trace.ID]trace.Ref
	several map[trace.ID]bool // processes have it
	byLabel map[opKey]trace.Ref
}

type opKey struct {
	label string // of the process: see processLabel
	id    trace.ID
}

// opsByExternal finds the operators with the given numbers.
func opsByExternal(t *trace.Trace, wanted map[trace.ID]bool) *opIndex {
	x := &opIndex{make(map[trace.ID]trace.Ref), make(map[trace.ID]bool), make(map[opKey]trace.Ref)}
	// Few operators are wanted, and looking each of millions up takes long: a bit for the low
	// half of a number excludes most.
	var some [1 << 16 / 64]uint64
	for id := range wanted {
		some[uint16(id)/64] |= 1 << (id % 64)
	}
	pidOf := func(ref trace.Ref) string { return t.Tracks[t.Ops.At(ref).Track].PID }
	for ref, o := range t.Ops.Refs() {
		if some[uint16(o.External)/64]>>(o.External%64)&1 == 0 || !wanted[o.External] {
			continue
		}
		pid := pidOf(ref)
		if label := processLabel(pid); label != "" {
			x.byLabel[opKey{label, o.External}] = ref
		}
		switch have, ok := x.all[o.External]; {
		case !ok:
			x.all[o.External] = ref
		case pidOf(have) != pid:
			x.several[o.External] = true
			if pid < pidOf(have) {
				x.all[o.External] = ref
			}
		}
	}
	return x
}

// launched returns the operator that launched a, if it is known, and whether operators
// of several processes might have.
func (x *opIndex) launched(t *trace.Trace, a *trace.Activity) (op trace.Ref, ok, several bool) {
	if op, ok = x.byLabel[opKey{processLabel(t.Tracks[a.Track].PID), a.External}]; !ok {
		op, ok = x.all[a.External]
	}
	return op, ok, x.several[a.External]
}
