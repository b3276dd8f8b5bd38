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

// maxIdleRows is how many rows of idle time a device may have; further names
// count as otherNames.
const (
	maxIdleRows = 1000
	otherNames  = "(other names)"
)

// maxIdleDevices is how many devices may be in an input whose idle time is
// given to owners: each asks the host's threads at every moment.
const maxIdleDevices = 64

// A gapMark has the properties of a gap that are needed when a part of it gets its
// cause: its index among the gaps that are shown, if any, and whether it is short.
type gapMark int32

func markOf(shown int, short bool) gapMark {
	m := gapMark(shown+1) << 1
	if short {
		m |= 1
	}
	return m
}

// shown returns the index into shown, or -1.
func (m gapMark) shown() int { return int(m>>1) - 1 }

func (m gapMark) short() bool { return m&1 != 0 }

// A shownGap is a gap that is shown on its own, with its time by cause.
type shownGap struct {
	gap    calls.Gap
	shares []int64 // by the number of a row
}

// A question asks what a thread was doing in a stretch of a gap.
type question struct {
	span   interval.Span
	device int32 // index into Timeline.Devices
	mark   gapMark
}

// idleness finds the causes of all idle time.
type idleness struct {
	a      *Attribution
	shown  [][]shownGap                                         // by index of the device
	asked  map[trace.TrackID][][]question                       // by thread and device, then the same of ofHost, in order of time
	rows   []idleTable                                          // by index of the device
	begins []map[trace.TrackID]int64                            // by index of the device: when the first work of a stream started; nil if it was not asked for
	states []idleState                                          // of a thread in a call, by name
	waits  []*trace.Call                                        // that wait for a device, in order, where a graph is opaque
	most   int                                                  // rows of one device
	first  [][]stepIdle                                         // the first steps, by index of the device
	host   func(device int, s interval.Span, state ThreadState) // is told the state of the launching thread; nil if nobody wants it

	names  []string         // 0 is ""
	byName map[string]int32 // index into names
	bySym  []int32          // the same of each symbol; 0 if it was not asked for yet

	others int32                      // the number of otherNames
	recent [1 << recentBits]recentRow // rows that time was added to, by their keys
	sums   *tally                     // empty, for the next long question

	// tooMany says that there are too many devices: then nothing is asked.
	tooMany bool
}

// newIdleness divides the gaps of all devices into parts whose cause follows from
// the launches alone and questions to threads.
//
// If several activities end a gap, the one whose call began first counts. Until its
// call began, the cause is host wait, and the question is what its thread was doing.
// After that the cause is launch latency, or kernel wait if its call had ended before
// the gap. A start later than maxLaunchNS is a dependency wait, or a wait for work that
// was not recorded.
func newIdleness(a *Attribution, asked Asked) *idleness {
	n := len(a.tl.Devices)
	x := &idleness{a: a, most: min(maxIdleRows, a.most), names: []string{""}, byName: map[string]int32{"": 0}, shown: make([][]shownGap, n), asked: make(map[trace.TrackID][][]question), rows: make([]idleTable, n), first: make([][]stepIdle, n), host: asked.Host}
	x.others = x.number(otherNames)
	if x.tooMany = n > maxIdleDevices; x.tooMany {
		return x
	}
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
		// When the longest begin, and those that are to be explained; of those, the ones that
		// are still to come.
		shown := slices.Clone(a.explained[i])
		for _, gap := range gpu.LongestGaps(d, asked.Gaps) {
			shown = append(shown, gap.Start)
		}
		slices.Sort(shown)
		shown = slices.Compact(shown)
		see := a.calls.Waits(i)
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

// cut sets the causes of the parts of a gap, or adds questions about them. The causes are
// those of the whole gap; its part in the window of the trace counts.
func (x *idleness) cut(device int, g calls.Gap, mark gapMark) {
	begin, end := g.All.Start, g.All.End
	set := func(from, to int64, key idleKey) {
		x.add(device, mark, interval.Span{Start: from, End: to}.And(g.Span), key)
	}
	if g.Link < 0 || !x.a.Links.HasCall(g.Link) || x.a.Links.Start(g.Link) >= end {
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
		if part := (interval.Span{Start: from, End: to}).And(g.Span); !part.Empty() {
			x.ask(call.Track, question{span: part, device: int32(device), mark: mark})
		}
	}
	launch, returned := call.Start, call.Start+call.Dur
	if c := hiddenIn(x.a.calls.Opaque(), x.launchOf(g), launch); c != nil {
		// Until the host has waited for it, it may have run.
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

// launchOf returns when the call began that launched what ran before a gap, or
// else when that ran.
func (x *idleness) launchOf(g calls.Gap) int64 {
	switch {
	case g.Before == nil:
		return 0
	case g.BeforeLink >= 0:
		return x.a.Links.Start(g.BeforeLink)
	}
	return g.Before.Start
}

// waited returns when the first call was over that waited for the device after
// the given one, if there is one.
func (x *idleness) waited(after *trace.Call) (over int64, ok bool) {
	i, _ := slices.BinarySearchFunc(x.waits, after.Start, func(c *trace.Call, t int64) int { return cmp.Compare(c.Start, t) })
	if i == len(x.waits) {
		return 0, false
	}
	return x.waits[i].Start + x.waits[i].Dur, true
}

// hiddenIn returns the first of the calls that began after one time and before
// another.
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
	list := x.asked[track]
	if list == nil {
		list = make([][]question, 2*len(x.rows))
		x.asked[track] = list
	}
	i := int(q.device)
	if q.mark == ofHost { // they overlap those about gaps
		i += len(x.rows)
	}
	list[i] = append(list[i], q)
}

// sort brings the questions to a thread in the order of time: some were asked
// when another thread had no answer.
func (x *idleness) sort(track trace.TrackID) {
	for _, list := range x.asked[track] {
		slices.SortFunc(list, func(a, b question) int { return cmp.Compare(a.span.Start, b.span.Start) })
	}
}

// add sets the cause of a stretch of a gap.
func (x *idleness) add(device int, mark gapMark, s interval.Span, key idleKey) {
	switch n := s.Len(); {
	case n <= 0:
	case mark == ofHost:
		x.host(device, s, ThreadState(key))
	default:
		x.addParts(device, mark, s, key, parts{n, 1, n})
	}
}

// addParts sets the cause of stretches of a gap. They are all of the time from the first to
// the last of them that is in a step, or none of it, if they are several.
func (x *idleness) addParts(device int, mark gapMark, s interval.Span, key idleKey, p parts) {
	c := &x.recent[uint64(key)*0x9e3779b97f4a7c15>>(64-recentBits)]
	if c.row == nil || c.device != device || c.key != key {
		number := x.rows[device].of(x, key)
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

// add gives a part of the gap to the owner of a row.
func (g *shownGap) add(number int32, ns int64) {
	for int(number) >= len(g.shares) {
		g.shares = append(g.shares, 0)
	}
	g.shares[number] += ns
}

// state returns what a thread is doing, derived from its open events.
func (x *idleness) state(w *walker, stack []hosttree.Open[open]) idleKey {
	late := func(s idleState, f *hosttree.Frame) idleKey { return idleKeyOf(byHost, s, x.name(f.Name)) }
	if n := len(stack); n > 0 && stack[n-1].Data.roles&(isProfiler|isData) == 0 && stack[n-1].Data.own&isStep == 0 {
		switch top := &stack[n-1].Frame; top.Kind { // most stretches
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
	if roles&isData != 0 {
		return late(inData, w.outermost(stack, isData))
	}
	if system != nil {
		return late(inOS, system)
	}
	// Steps are open nearly always, and say less than anything else that is.
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

// ofSystem has the kinds of frames that the operating system or the driver adds to
// the stack of a program.
var ofSystem = trace.Of(trace.OSCall, trace.OffCPU)

// mayNotBeInner has the kinds of the frames that [inner] may leave out.
var mayNotBeInner = ofSystem | trace.Of(trace.OtherKind)

// inner returns a stack without the frames of ofSystem at its end.
func inner(stack []hosttree.Open[open]) []hosttree.Open[open] {
	n := len(stack)
	for n > 0 && ofSystem.Has(stack[n-1].Kind) {
		n--
	}
	// What a call of the runtime does inside, as making a node of a graph, is the
	// call's.
	for n > 1 && stack[n-1].Kind == trace.OtherKind && (stack[n-2].Kind == trace.Runtime || stack[n-2].Kind == trace.Driver) {
		n--
	}
	return stack[:n]
}

// system returns the outermost call of the operating system of the end of a
// stack, or nil, and whether the thread was on no core.
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

// outermost returns the outermost open event of a role. The stack must have one.
func (w *walker) outermost(stack []hosttree.Open[open], r role) *hosttree.Frame {
	for i := range stack {
		if stack[i].Data.roles&r != 0 {
			return &stack[i].Frame
		}
	}
	return nil
}

// finish answers the questions to threads without any event, and names all rows.
func (x *idleness) finish() {
	for track := range x.asked {
		x.unanswered(track)
	}
	for i := range x.rows {
		for number, r := range x.rows[i].rows {
			r.Name = x.names[x.rows[i].keys[number].name()]
		}
	}
}

// unanswered answers the questions to a thread that its walk left.
func (x *idleness) unanswered(track trace.TrackID) {
	for _, list := range x.asked[track] {
		for _, q := range list {
			x.add(int(q.device), q.mark, q.span, idleKeyOf(byHost, isUnrecorded, 0))
		}
	}
	delete(x.asked, track)
}

// idleRows returns the idle time of a device by cause.
func (x *idleness) idleRows(device, rank int) (out []summary.Idle) {
	for _, r := range x.rows[device].rows {
		r.Rank, r.Device = rank, x.a.tl.Devices[device].Ordinal
		out = append(out, *r)
	}
	return out
}

// explain sets the largest cause of each gap that is shown by itself.
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

// Gaps returns the longest gaps of a device, by start, each with its largest cause. They
// are as many as were asked for.
func (a *Attribution) Gaps(device int) []summary.Gap {
	out := make([]summary.Gap, 0, len(a.idle.shown[device]))
	for _, g := range a.idle.shown[device] {
		out = append(out, a.idle.explained(device, g))
	}
	return out
}
