package attribute

import (
	"cmp"
	"slices"
	"strings"

	"assay/analyze/calls"
	"assay/analyze/gpu"
	"assay/analyze/hosttree"
	"assay/analyze/limits"
	"assay/analyze/steps"
	"assay/internal/interval"
	"assay/summary"
	"assay/trace"
)

// maxLaunchNS is the longest time, in ns, from the end of a call, or of the previous
// work, to the start of work that counts as launch latency or kernel wait. Kernels
// take 1 to 10 µs, graphs up to 20; longer times are dependency waits.
const maxLaunchNS = 20_000

// maxIdleRows is the maximum number of rows of idle time of a device. Further names are added
// up in one row named otherNames.
const (
	maxIdleRows = 1000
	otherNames  = "(other names)"
)

// maxIdleDevices is the maximum number of devices for which causes are found: the walk of a
// thread checks the questions of every device at each event.
const maxIdleDevices = 64

// A gapMark packs what is needed of a gap when a part of it gets its cause: its index among
// the shown gaps, if it is one of them, and whether it is short.
type gapMark int32

func markOf(shown int, short bool) gapMark {
	m := gapMark(shown+1) << 1
	if short {
		m |= 1
	}
	return m
}

// shown returns the index into idleness.shown of the device, or -1.
func (m gapMark) shown() int { return int(m>>1) - 1 }

func (m gapMark) short() bool { return m&1 != 0 }

// A shownGap is a gap that reports list by itself, with its time by cause.
type shownGap struct {
	gap    calls.Gap
	shares []int64 // ns by the number of a row
}

// A question asks what a thread did in a part of a gap.
type question struct {
	span   interval.Span
	device int32 // index into Timeline.Devices
	mark   gapMark
}

// idleness finds the causes of all idle time. Slices over devices are indexed as
// Timeline.Devices.
type idleness struct {
	a     *Attribution
	shown [][]shownGap // by device
	rows  []idleTable  // by device

	// pending has the open questions to each thread, sorted by time: a list per device, then a
	// list per device of those with hostStateMark.
	pending map[trace.TrackID][][]question

	// by device and stream: start of the first work; filled on first use
	begins []map[trace.TrackID]int64
	// state of a thread that is in a call, by the name of the call
	states []idleState
	// calls that wait for a device, by start; only if there are opaque graphs
	waits   []*trace.Call
	maxRows int                                                  // of one device
	first   [][]stepIdle                                         // the first steps, by device
	host    func(device int, s interval.Span, state ThreadState) // Options.Host
	late    func(device int, s interval.Span, state ThreadState) // Options.Waits

	names  []string         // 0 is ""
	byName map[string]int32 // index into names
	bySym  []int32          // index into names by symbol; 0 until looked up

	others int32                      // the index of otherNames in names
	recent [1 << recentBits]recentRow // cache of rows by hash of the key
	sums   *tally                     // an empty tally to reuse, or nil

	working, free []interval.Span // parts of the gap that cut divides, reused

	dark    []interval.Span // steps whose calls were not recorded
	tooMany bool            // there are over maxIdleDevices devices, so no cause is found
}

// newIdleness divides the gaps of all devices into parts whose cause follows from
// the launches alone and questions to threads.
//
// The activity that ends a gap decides; of several, the one whose call started first. Until
// that call started, the cause is host wait, and a question finds out what the thread did.
// After that the cause is launch latency, or kernel wait if the call had ended before the gap.
// If the activity started more than maxLaunchNS later, it is a dependency wait, or a wait for
// work that was not recorded.
func newIdleness(a *Attribution, opts Options) *idleness {
	n := len(a.tl.Devices)
	x := &idleness{a: a, maxRows: min(maxIdleRows, a.maxRows), names: []string{""}, byName: map[string]int32{"": 0},
		shown: make([][]shownGap, n), pending: make(map[trace.TrackID][][]question), rows: make([]idleTable, n),
		first: make([][]stepIdle, n), host: opts.Host, late: opts.Waits}
	x.others = x.number(otherNames)
	if x.tooMany = n > maxIdleDevices; x.tooMany {
		return x
	}
	x.dark = steps.Dark(a.t, a.Links, a.marks)
	x.states = make([]idleState, a.t.Names())
	a.calls.Kinds(func(name trace.Sym, kind string) { x.states[name] = callStates[kind] })
	if len(a.calls.Opaque()) > 0 {
		x.waits = a.calls.Syncs()
	}
	for i, d := range a.tl.Devices {
		x.rows[i].index = make(map[idleKey]int32)
		x.first[i] = firstSteps(a, i)
		if limits.Implausible(d.Window) {
			continue
		}
		// Starts of the gaps to show: the longest, and those given to Explain. The loop below
		// removes each start when it reaches the gap.
		shown := slices.Clone(a.explained[i])
		for _, gap := range gpu.LongestGaps(d, opts.Gaps) {
			shown = append(shown, gap.Start)
		}
		slices.Sort(shown)
		shown = slices.Compact(shown)
		see := func(calls.Gap) {}
		if !a.t.Moved {
			see = a.calls.Waits(i)
		}
		for g := range a.calls.Gaps(d) {
			see(g)
			short := g.Len() < summary.ShortGapNS
			mark := markOf(-1, short)
			if len(shown) > 0 && shown[0] == g.Start {
				shown = shown[1:]
				mark = markOf(len(x.shown[i]), short)
				x.shown[i] = append(x.shown[i], shownGap{gap: g})
			}
			x.cut(i, g, mark)
		}
		if x.host != nil {
			x.askHost(i)
		}
	}
	return x
}

// cut divides a gap into parts. It sets the cause of each part, or adds a question about it. Time in
// which another device of the process works has that cause, whatever the host does.
// The division follows the whole gap, but only time inside the window of the trace counts.
func (x *idleness) cut(device int, g calls.Gap, mark gapMark) {
	begin, end := g.All.Start, g.All.End
	if i := slices.IndexFunc(x.dark, func(s interval.Span) bool { return !s.And(g.Span).Empty() }); i >= 0 {
		for part := range x.cutDark(device, g, mark) {
			x.cut(device, part, mark)
		}
		return
	}
	x.working, x.free = x.a.calls.Neighbors(device, g.Span, x.working[:0], x.free[:0])
	for _, s := range x.working {
		x.add(device, mark, s, idleKeyOf(byNeighbor, noState, 0))
	}
	set := func(from, to int64, key idleKey) {
		for _, s := range x.free {
			x.add(device, mark, interval.Span{Start: from, End: to}.And(s), key)
		}
	}
	if x.a.t.Moved || g.Link < 0 || !x.a.Links.HasCall(g.Link) || x.a.Links.Start(g.Link) >= end {
		set(begin, end, idleKeyOf(byUnknown, noState, 0))
		return
	}
	call := x.a.Links.Call(g.Link)
	if g.BeforeLink == g.Link && !strings.HasPrefix(x.a.t.Name(call.Name), "hip") {
		// One call launched both, a graph: the device goes from node to node by itself.
		// HIP launches the nodes one by one during the call.
		set(begin, end, idleKeyOf(x.waitingFor(device, g, end-begin), noState, 0))
		return
	}
	ask := func(from, to int64) {
		for _, s := range x.free {
			x.askBefore(device, mark, call, interval.Span{Start: from, End: to}.And(s))
		}
	}
	launch, returned := call.Start, call.Start+call.Dur
	if c := hiddenIn(x.a.calls.Opaque(), x.launchOf(g), launch); c != nil {
		// The opaque graph may have run until the host waited for it.
		from, to := max(begin, min(end, c.Start)), end
		if over, ok := x.waited(c); ok && over <= launch {
			to = max(from, min(end, over))
		}
		ask(begin, from)
		set(from, to, idleKeyOf(byOpaque, noState, x.name(c.Name)))
		if begin = to; begin >= end {
			return
		}
	}
	called := max(begin, min(end, launch))
	ask(begin, called)
	over := max(called, min(end, returned))
	launching := idleKeyOf(byLaunch, noState, x.name(call.Name))
	set(called, over, launching)
	waiting := launching
	if end-over > maxLaunchNS || returned <= g.All.Start {
		waiting = idleKeyOf(x.waitingFor(device, g, end-over), noState, 0)
	}
	set(over, end, waiting)
}

// launchOf returns the start of the call that launched the work before a gap, or the start of
// that work if the call is unknown.
func (x *idleness) launchOf(g calls.Gap) int64 {
	switch {
	case g.Before == nil:
		return 0
	case g.BeforeLink >= 0:
		return x.a.Links.Start(g.BeforeLink)
	}
	return g.Before.Start
}

// waited returns the end of the first call that waited for the device after the given call,
// and whether there is one.
func (x *idleness) waited(after *trace.Call) (over int64, ok bool) {
	i, _ := slices.BinarySearchFunc(x.waits, after.Start,
		func(c *trace.Call, t int64) int { return cmp.Compare(c.Start, t) })
	if i == len(x.waits) {
		return 0, false
	}
	return x.waits[i].Start + x.waits[i].Dur, true
}

// hiddenIn returns the first of the calls, sorted by start, that started between two times, or
// nil.
func hiddenIn(calls []*trace.Call, after, before int64) *trace.Call {
	if len(calls) == 0 {
		return nil
	}
	i, _ := slices.BinarySearchFunc(calls, after, func(c *trace.Call, t int64) int {
		return cmp.Compare(c.Start, t+1)
	})
	if i < len(calls) && calls[i].Start < before {
		return calls[i]
	}
	return nil
}

func (x *idleness) ask(track trace.TrackID, q question) {
	list := x.pending[track]
	if list == nil {
		list = make([][]question, 2*len(x.rows))
		x.pending[track] = list
	}
	i := int(q.device)
	if q.mark == hostStateMark { // these overlap questions about gaps, so they have lists of their own
		i += len(x.rows)
	}
	list[i] = append(list[i], q)
}

// sort sorts the questions to a thread by time. They can be out of order, because questions
// that another thread could not answer are added late.
func (x *idleness) sort(track trace.TrackID) {
	for _, list := range x.pending[track] {
		slices.SortFunc(list, func(a, b question) int { return cmp.Compare(a.span.Start, b.span.Start) })
	}
}

// add counts a part of a gap for a cause.
func (x *idleness) add(device int, mark gapMark, s interval.Span, key idleKey) {
	switch n := s.Len(); {
	case n <= 0:
	case mark == hostStateMark:
		x.host(device, s, ThreadState(key))
	default:
		x.wait(device, s, key)
		x.addParts(device, mark, s, key, parts{n, 1, n})
	}
}

// addParts counts several parts of a gap for one cause. s reaches from the first part to the
// last. If there are several parts, s must not cross the border of one of the first steps.
func (x *idleness) addParts(device int, mark gapMark, s interval.Span, key idleKey, p parts) {
	c := &x.recent[uint64(key)*0x9e3779b97f4a7c15>>(64-recentBits)]
	if c.row == nil || c.device != device || c.key != key {
		number := x.rows[device].rowOf(x, key)
		*c = recentRow{device, key, number, x.rows[device].rows[number]}
	}
	c.row.NS += p.ns
	c.row.Count += p.count
	c.row.MaxNS = max(c.row.MaxNS, p.longest)
	if mark.short() {
		c.row.ShortGapsNS += p.ns
	}
	if i := mark.shown(); i >= 0 {
		x.shown[device][i].add(c.number, p.ns)
	}
	if first := x.first[device]; len(first) > 0 && s.Start < first[len(first)-1].span.End {
		addToSteps(first, mark, s, c.number, p)
	}
}

// add counts ns of the gap for the cause of a row.
func (g *shownGap) add(number int32, ns int64) {
	for int(number) >= len(g.shares) {
		g.shares = append(g.shares, 0)
	}
	g.shares[number] += ns
}

// state returns what a thread does, derived from its open events.
func (x *idleness) state(w *walker, stack []hosttree.Open[open]) idleKey {
	late := func(s idleState, f *hosttree.Frame) idleKey { return idleKeyOf(byHost, s, x.name(f.Name)) }
	if n := len(stack); n > 0 && stack[n-1].Data.roles&(isProfiler|isData|isCollector|isCollective) == 0 && stack[n-1].Data.own&isStep == 0 {
		switch top := &stack[n-1].Frame; top.Kind { // the fast path, for most calls
		case trace.CPUOp:
			return late(inOp, top)
		case trace.Python:
			return late(inPython, top)
		}
	}
	all := stack
	stack = inner(all)
	system, off := system(all[len(stack):])
	if len(stack) == 0 {
		switch {
		case system != nil:
			return late(inOS, system)
		case off:
			return idleKeyOf(byHost, isOff, 0)
		}
		return idleKeyOf(byHost, isUnrecorded, 0)
	}
	top, roles := &stack[len(stack)-1].Frame, stack[len(stack)-1].Data.roles
	if roles&isProfiler != 0 {
		return idleKeyOf(byNothing, noState, x.name(w.outermost(stack, isProfiler).Name))
	}
	if top.Kind == trace.Runtime || top.Kind == trace.Driver {
		return late(x.states[top.Name], top)
	}
	if roles&isCollector != 0 {
		return late(inCollector, w.outermost(stack, isCollector))
	}
	if roles&isCollective != 0 {
		return late(inCollective, w.outermost(stack, isCollective))
	}
	if roles&isData != 0 {
		return late(inData, w.outermost(stack, isData))
	}
	if system != nil {
		return late(inOS, system)
	}
	// The marker of a step is open nearly always, so any other open event says more.
	for i := len(stack) - 1; i >= 0; i-- {
		switch f := &stack[i].Frame; {
		case stack[i].Data.own&isStep != 0:
		case off:
			return late(isOff, f)
		case f.Kind == trace.CPUOp:
			return late(inOp, f)
		case f.Kind == trace.Python:
			return late(inPython, f)
		default:
			return late(inAnnotation, f)
		}
	}
	doing := inAnnotation
	if off {
		doing = isOff
	}
	return idleKeyOf(byHost, doing, x.number(strings.TrimSuffix(steps.TorchPrefix, "#"))) // one row for all steps
}

// systemKinds holds the kinds of frames that come from the operating system or the driver,
// not from the program.
var systemKinds = trace.Of(trace.OSCall, trace.OffCPU)

// skippableKinds holds the kinds of frames that [inner] may leave out.
var skippableKinds = systemKinds | trace.Of(trace.OtherKind)

// inner returns a stack without the frames of systemKinds at its end.
func inner(stack []hosttree.Open[open]) []hosttree.Open[open] {
	n := len(stack)
	for n > 0 && systemKinds.Has(stack[n-1].Kind) {
		n--
	}
	// Events inside a runtime call, such as making a node of a graph, belong to the call.
	for n > 1 && stack[n-1].Kind == trace.OtherKind &&
		(stack[n-2].Kind == trace.Runtime || stack[n-2].Kind == trace.Driver) {
		n--
	}
	return stack[:n]
}

// system returns the outermost OS call of the end of a stack that [inner] cut off, or nil, and
// whether the thread was off the CPU.
func system(end []hosttree.Open[open]) (call *hosttree.Frame, off bool) {
	for i := range end {
		if end[i].Kind == trace.OffCPU {
			off = true
		} else if call == nil {
			call = &end[i].Frame
		}
	}
	return call, off
}

// outermost returns the outermost event of the stack with role r. There must be one.
func (w *walker) outermost(stack []hosttree.Open[open], r role) *hosttree.Frame {
	for i := range stack {
		if stack[i].Data.roles&r != 0 {
			return &stack[i].Frame
		}
	}
	return nil
}

// finish answers the questions to threads without events, and names all rows.
func (x *idleness) finish() {
	for track := range x.pending {
		x.unanswered(track)
	}
	for i := range x.rows {
		for number, r := range x.rows[i].rows {
			r.Name = x.names[x.rows[i].keys[number].name()]
		}
	}
}

// unanswered counts the time of the questions that the walk of a thread did not reach as
// unrecorded.
func (x *idleness) unanswered(track trace.TrackID) {
	for _, list := range x.pending[track] {
		for _, q := range list {
			x.add(int(q.device), q.mark, q.span, idleKeyOf(byHost, isUnrecorded, 0))
		}
	}
	delete(x.pending, track)
}

// idleRows returns the idle time of a device by cause.
func (x *idleness) idleRows(device, rank int) (out []summary.Idle) {
	for _, r := range x.rows[device].rows {
		r.Rank, r.Device = rank, x.a.tl.Devices[device].Ordinal
		out = append(out, *r)
	}
	return out
}

// explain sets the largest cause of each of the given gaps.
func (x *idleness) explain(device int, gaps []summary.Gap) {
	for i := range gaps {
		for _, g := range x.shown[device] {
			if g.gap.Start == gaps[i].StartNS {
				gaps[i] = x.explained(device, g)
			}
		}
	}
}

// explained returns a gap with its largest cause.
func (x *idleness) explained(device int, g shownGap) summary.Gap {
	out := summary.Gap{StartNS: g.gap.Start, NS: g.gap.Len()}
	most, ns := idleKey(0), int64(0)
	for number, n := range g.shares {
		if key := x.rows[device].keys[number]; n > ns || n == ns && n > 0 && x.less(key, most) {
			most, ns = key, n
		}
	}
	out.Owner, out.State, out.Name = most.owner(), stateNames[most.state()], x.names[most.name()]
	if g.gap.Before != nil {
		out.Before = x.a.t.Name(g.gap.Before.Name)
	}
	if g.gap.After != nil {
		out.After = x.a.t.Name(g.gap.After.Name)
	}
	return out
}

// Gaps returns the longest gaps of a device, at most Options.Gaps, by start and each with its
// largest cause. The device is an index into Timeline.Devices.
func (a *Attribution) Gaps(device int) []summary.Gap {
	out := make([]summary.Gap, 0, len(a.idle.shown[device]))
	for _, g := range a.idle.shown[device] {
		out = append(out, a.idle.explained(device, g))
	}
	return out
}
