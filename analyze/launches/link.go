// Package launches links GPU work to the host calls that launched it, and finds contradictions
// between the two.
//
// Start with link.go: Of makes the Links of a trace. correlation.go finds calls by the ids that
// profilers write. launched.go lists the work of each link. The other files look for faults:
// unrecorded.go for launches without work, surplus.go for more records than launches, and
// plausible.go for work at impossible times.
//
// Package steps, calls and attribute build on the links.
package launches

import (
	"sync"

	"assay/internal/interval"
	"assay/summary"
	"assay/trace"
)

// A Link is a host call that launched GPU work, or an operator if calls were not recorded. There
// are millions, so it has no pointers, to spare the garbage collector.
type Link struct {
	interval.Span               // time of the call, or of the operator
	WorkNS        int64         // sum of the durations of its work that starts in the window of the trace
	copied        int64         // last end of its copies and memsets
	row           trace.Ref     // of the call, or of the operator
	Track         trace.TrackID // thread of the call
	Work          int32         // number of its activities that start in the window of the trace
	called        bool          // the call was recorded
	copies        bool          // it launched a copy or memset
}

// Copied returns the last end, in ns, of the copies and memsets of the link, and whether there
// are any.
func (k *Link) Copied() (end int64, ok bool) { return k.copied, k.copies }

// Links has the link of every activity whose launch is known. Its methods are safe for use by
// several goroutines.
type Links struct {
	t *trace.Trace

	List     []Link
	Of       []int32 // by the number of an activity in its table: an index into List, or -1
	calls    *callIndex
	byCall   []int32 // by the row of a call: its link plus 1, or 0
	byOp     []int32 // the same by the row of an operator; nil if no operator is a link
	Without  int64   // number of activities without a link
	Unlinked int64   // number of activities with neither a correlation nor an arrow
	Double   int64   // number of activities whose correlation is ambiguous
	Early    int64   // number of activities that started before their call, by over clockSlack
	Called   int64   // number of activities with a call
	longest  int64   // longest time from the start of a call to the end of its work, in ns

	found   chan struct{} // closed when lost, surplus and mixed are set
	lost    Losses
	surplus int64 // see surplusOf
	mixed   int64 // see callIndex.mixed
}

// Lost returns the launches whose work was not recorded. It waits until they are found.
func (l *Links) Lost() *Losses {
	<-l.found
	return &l.lost
}

// clockSlack is the time, in ns, by which work may start before its call without an issue.
// Profilers align the clocks of host and device to about 1 µs.
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

// Time returns the start and the end of the call of a link.
func (l *Links) Time(i int32) interval.Span { return l.List[i].Span }

// Start returns the start of the call of a link.
func (l *Links) Start(i int32) int64 { return l.List[i].Start }

// Of links GPU work to its launches: by correlation, which profilers write on both; else by the
// arrow (flow) from a call to the work; else, if calls were not recorded, by the External id of
// the operator. A graph launch has many activities.
//
// A trace of several processes may use a correlation twice. Then the call belongs to the process
// with the same label as the device ("[TP00] 4217" and "[TP00] 0") or the same pid, or else to the process that
// launched most of the device's other work. If several calls are left, the last one that started
// before the work counts.
func Of(t *trace.Trace) *Links {
	n := t.Activities.Len()
	l := &Links{
		t:  t,
		Of: make([]int32, 0, n), calls: callsByCorrelation(t),
		// The largest possible capacity: pages that are never written take no memory, and
		// growing would copy millions of links.
		List:   make([]Link, 0, min(n, t.Calls.Len())),
		byCall: make([]int32, t.Calls.Bound()),
		found:  make(chan struct{}),
	}
	// Write to each page of byCall before reading from it. A page that is read first costs two
	// page faults, and the second interrupts all cores.
	const page = 1024
	written := make([]bool, len(l.byCall)/page+1)
	arrows := arrowsOf(t)
	wanted := make(map[trace.ID]bool) // External ids of the activities without a call
	for a := range t.Activities.All() {
		ref, ok, several := l.calls.launched(a)
		if !ok && a.Correlation == 0 {
			if ref, ok = arrows(a); !ok {
				l.Unlinked++
			}
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
		l.add(a, len(l.Of)-1, l.to(&l.byCall[ref], Link{Span: interval.Span{Start: call.Start, End: call.Start + call.Dur},
			Track: call.Track, row: ref, called: true}))
	}
	l.Without = int64(len(l.Of)) - l.Called
	l.toOps(t, wanted)
	go func() { // in the background, because the walk of threads does not need it
		l.lost = lossesOf(t, l)
		l.surplus = surplusOf(t, l)
		l.mixed = l.calls.mixed(newLossKinds(t))
		l.calls.forget()
		close(l.found)
	}()
	return l
}

// toOps links the activities without a call to operators by External id.
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
			l.add(a, number, l.to(&l.byOp[ref], Link{Span: interval.Span{Start: o.Start, End: o.Start + o.Dur}, Track: o.Track,
				row: ref}))
		}
	}
}

// to returns the link of the call or operator whose entry in byCall or byOp is *at. If there is
// none, it adds k.
func (l *Links) to(at *int32, k Link) int32 {
	if *at == 0 {
		l.List = append(l.List, k)
		*at = int32(len(l.List))
	}
	return *at - 1
}

// OfCall returns the link of the call in the given row, and whether it launched any work.
func (l *Links) OfCall(call trace.Ref) (int32, bool) {
	i := l.byCall[call]
	return i - 1, i != 0
}

// OfOp returns the link of the operator in the given row, and whether it is a link: it launched
// work whose calls were not recorded.
func (l *Links) OfOp(op trace.Ref) (int32, bool) {
	if l.byOp == nil {
		return -1, false
	}
	i := l.byOp[op]
	return i - 1, i != 0
}

// add links activity a, which has the given number, to link i.
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

// An arrowEnd identifies an event at either end of an arrow by its track and start.
type arrowEnd struct {
	track trace.TrackID
	start int64
}

// arrowsOf returns a function that finds the call whose arrow leads to an activity. It reads the
// arrows on first use.
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

// arrowEnds maps the end of every arrow from the host to a device to the call at its start.
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
	// The reader puts the end of an arrow on a host track, not on the track of the device. The
	// two have the same pid and tid.
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

// isLaunchFlow reports whether arrows of this category lead from a launch to its work. Those of
// fwdbwd do not: they lead from forward to backward operators.
func isLaunchFlow(category string) bool {
	return category == "ac2g" || category == "async_cpu_to_gpu" || category == "async_gpu"
}

// An opIndex finds operators by their External id, which is unique within a process.
type opIndex struct {
	all     map[trace.ID]trace.Ref
	several map[trace.ID]bool // ids that several processes use
	byLabel map[opKey]trace.Ref
}

type opKey struct {
	label string // of the process: see processLabel
	id    trace.ID
}

// opsByExternal indexes the operators with the wanted ids.
func opsByExternal(t *trace.Trace, wanted map[trace.ID]bool) *opIndex {
	x := &opIndex{make(map[trace.ID]trace.Ref), make(map[trace.ID]bool), make(map[opKey]trace.Ref)}
	// Few of millions of operators are wanted, and a map lookup for each takes long. A bit set
	// over the low 16 bits of the ids excludes most of them.
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

// launched returns the operator that launched a, and whether it is known. several reports whether
// there were candidates in other processes.
func (x *opIndex) launched(t *trace.Trace, a *trace.Activity) (op trace.Ref, ok, several bool) {
	if op, ok = x.byLabel[opKey{processLabel(t.Tracks[a.Track].PID), a.External}]; !ok {
		op, ok = x.all[a.External]
	}
	return op, ok, x.several[a.External]
}
