// Package attribute says which part of the program GPU work and idle time belong to. It
// walks along the threads of the host once, and what was open on a thread owns what was
// launched then: operators, modules, lines, annotations, passes. The same walk answers what
// a thread did while a device was idle, which is why idle time and waits are here too.
package attribute

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync"

	"assay/analyze/calls"
	"assay/analyze/gpu"
	"assay/analyze/hosttree"
	"assay/analyze/limits"
	"assay/analyze/steps"
	"assay/internal/diag"
	"assay/internal/interval"
	"assay/summary"
	"assay/trace"
)

// An Attribution relates GPU work whose launch call is known to the events that
// were open on the calling thread: see [launches.Link].
type Attribution struct {
	*Host
	t      *trace.Trace
	tl     *gpu.Timeline
	*group // of the threads that are not main; in the end, of all
	calls  *calls.Calls

	origins []origin // by link

	marks  []steps.Mark
	most   int                                                // rows of a table
	passes bool                                               // are asked for
	opened func(link int32, ops []*trace.Op, recomputed bool) // as Launched in Asked

	copies   []summary.CopyCall // without their rank, as the next
	graphs   []summary.Graph
	ofCopies *limits.Room // of copies
}

// A pass is the part of training that work belongs to.
type pass uint8

const (
	otherPass pass = iota
	forwardPass
	backwardPass
	recomputePass // forward again, inside of the backward pass: activation checkpointing
	optimizerPass
	unknownPass // no call is known
)

var passNames = [...]string{"other", "forward", "backward", "recompute", "optimizer", "unknown"}

func (p pass) String() string { return passNames[p] }

// An origin is where in the program a launch was made.
type origin struct {
	context  contextID
	note     contextID // the innermost annotation
	forward  contextID // of the operator whose backward pass this is; 0 if none
	sequence trace.ID  // of that operator, until forward is known
	pass     pass
}

// open is what the walk keeps with each open event.
type open struct {
	cpuSelf int64   // time in which it was the innermost event
	gpuSelf int64   // of operators: work that it launched, as the innermost operator
	gpu     int64   // work that it and what was inside it launched
	doing   idleKey // what the thread does while it is the innermost; 0 if that was not asked for
	ctx     contextID
	shape   trace.ShapeID // of operators
	own     role          // what its own name says
	known   bool          // ctx is

	// Of it and all that it is in.
	trained  bool // an operator has a sequence number, as those have that autograd sees
	backward bool // an operator is of a backward pass, by its number
	roles    role
	op       int32    // index of the innermost operator in the stack, or -1
	sequence trace.ID // of the innermost operator of a backward pass
}

// Asked says how much is attributed.
type Asked struct {
	Rows int // of a table, at most
	Gaps int // of a device that get their cause by themselves, at most: the longest

	Shapes bool // operators by the shapes of their arguments
	Passes bool // work by pass

	LeastCut int // how many events make it worth to cut a thread; 0 for the usual number

	// Host is called with the states of the thread that launches the work of a device, by
	// index: of several threads with that of the one that launches next. The stretches share no time
	// and are in no order. Host is nil if the states are not wanted.
	Host func(device int, s interval.Span, state ThreadState)

	// Launched is called for each link with the operators that were open on the thread,
	// outermost first, which it must not keep, and whether a function was open that
	// runs the forward pass again. It is called thread by thread, in the order of launches. It
	// is nil if nobody asks.
	Launched func(link int32, ops []*trace.Op, recomputed bool)
}

// Work walks along all threads. Where nothing ran on a device and there are
// no operators, there is nothing to attribute.
func Work(tl *gpu.Timeline, h *Host, marks []steps.Mark, asked Asked) *Attribution {
	t := tl.Trace
	a := &Attribution{
		Host: h, t: t, tl: tl, marks: marks, most: asked.Rows, passes: asked.Passes, opened: asked.Launched,
		group: newGroup(t, asked.Shapes), origins: make([]origin, len(h.Links.List)),
	}
	a.calls = calls.Of(tl, h.Links, marks)
	a.idle = newIdleness(a, asked)
	var beside sync.WaitGroup // what needs no walk
	if len(h.threads) > 0 {
		beside.Go(a.calls.Count)
	}
	beside.Go(func() {
		a.ofCopies = limits.NewRoom(asked.Rows)
		a.copies, a.graphs = a.calls.Copies(a.ofCopies), a.calls.Graphs()
	})
	a.walk(asked)
	beside.Wait()
	a.idle.finish()
	a.finalize()
	a.addUp()
	return a
}

// A walker attributes along one thread.
type walker struct {
	*Attribution
	*group    // of the thread
	track     trace.TrackID
	process   uint32
	main      bool
	inEngine  bool        // autograd's engine runs on the thread
	from      int64       // where the walk begins
	until     int64       // where it ends
	peaks     []int32     // memory in use at a peak, by the time of its allocation
	changes   []int32     // of those, the ones to come
	nested    []*trace.Op // of the last launch
	launches  []int32     // links of other threads, by time, whose annotation may be that of this one
	told      []contextID // what was open then
	asked     []int32     // those of the links that are to come
	next      int64       // the time of the first of the changes and those links
	questions *questions  // about idle time; nil if nobody asks
	record    record      // of a main thread
}

// context returns the context of the last event of the stack.
func (w *walker) context(stack []hosttree.Open[open]) contextID {
	if len(stack) == 0 {
		return 0
	}
	top := &stack[len(stack)-1]
	if !top.Data.known {
		top.Data.ctx = w.ctx.below(w.context(stack[:len(stack)-1]), &top.Frame)
		top.Data.known = true
	}
	return top.Data.ctx
}

// Enter counts the event, and attributes what it launched.
func (w *walker) Enter(stack []hosttree.Open[open]) {
	f := &stack[len(stack)-1].Frame
	w.inherit(stack)
	switch f.Kind {
	case trace.CPUOp:
		w.enterOp(stack)
	case trace.Runtime, trace.Driver:
		if i, ok := w.Links.OfCall(f.Row); ok {
			w.launched(stack, i)
		}
	case trace.Python:
		w.runOf(stack).enter(w.t.Window.Starts(f.Start))
	case trace.Annotation:
		w.notes.of(f.Name).enter(w.t.Window.Starts(f.Start))
	}
}

// runOf returns the run of the last event of the stack, a Python function or module.
func (w *walker) runOf(stack []hosttree.Open[open]) *run {
	if top := &stack[len(stack)-1]; top.Data.own&isModule == 0 {
		return w.lines.of(top.Name)
	}
	return w.modules.of(w.ctx.at(w.context(stack)).module)
}

// inherit sets the properties that the last event of the stack takes from the
// events around it.
func (w *walker) inherit(stack []hosttree.Open[open]) {
	f, d := &stack[len(stack)-1].Frame, &stack[len(stack)-1].Data
	d.op = -1
	if len(stack) > 1 {
		outer := &stack[len(stack)-2].Data
		d.roles, d.op, d.trained, d.backward, d.sequence = outer.roles, outer.op, outer.trained, outer.backward, outer.sequence
	}
	d.own = w.ctx.role(f.Name, f.Kind)
	d.roles |= d.own
	if f.Kind == trace.Overhead {
		d.roles |= isProfiler
	}
	if d.roles&isAutograd != 0 && !w.inEngine && !w.main {
		w.inEngine = true
		w.engine[w.track] = true
	}
}

// enterOp counts an operator, the last event of the stack.
func (w *walker) enterOp(stack []hosttree.Open[open]) {
	f := &stack[len(stack)-1].Frame
	w.ops.enter(f, w.t.Ops.At(f.Row).Shape)
	if sequence := w.openOp(stack); sequence != 0 && stack[len(stack)-1].Data.own&isStep == 0 {
		// Of several operators with one number the last one made the node of
		// the graph: the number goes up when it does.
		w.forward.set(w.process, sequence, w.context(stack))
	}
	if i, ok := w.Links.OfOp(f.Row); ok {
		w.launched(stack, i)
	}
}

// openOp sets the properties of an operator, the last event of the stack, and returns its
// number if it is of the forward pass.
func (w *walker) openOp(stack []hosttree.Open[open]) (forward trace.ID) {
	d, o := &stack[len(stack)-1].Data, w.t.Ops.At(stack[len(stack)-1].Row)
	d.op, d.shape = int32(len(stack)-1), o.Shape
	sequence, backward := w.arrows.sequence(o)
	d.trained = d.trained || sequence != 0
	if !backward {
		return sequence
	}
	d.backward = true
	d.sequence = cmp.Or(sequence, d.sequence)
	return 0
}

// launched attributes the work of a link, whose call is the last of the stack.
func (w *walker) launched(stack []hosttree.Open[open], i int32) {
	k, o := &w.Links.List[i], &w.origins[i]
	o.context = w.context(stack)
	c := w.ctx.at(o.context)
	if c.annotation == 0 && !w.main {
		w.noNote = append(w.noNote, i)
	}
	top := &stack[len(stack)-1].Data
	if top.op >= 0 {
		f := &stack[top.op]
		f.Data.gpuSelf = summary.Plus(f.Data.gpuSelf, k.WorkNS)
		w.ops.launched(&f.Frame, k)
	}
	o.sequence = top.sequence
	top.gpu = summary.Plus(top.gpu, k.WorkNS)
	switch {
	case c.recomputes:
		o.pass = recomputePass
	case c.backward || top.backward:
		o.pass, w.trains = backwardPass, true
	case c.optimizer:
		o.pass = optimizerPass
	case top.trained || c.module != 0:
		o.pass = forwardPass
	}
	if w.opened != nil {
		w.opened(i, w.operators(stack, top.op), c.recomputes || c.checkpoint)
	}
}

// operators returns the operators of the stack, outermost first. The index of the innermost
// is given.
func (w *walker) operators(stack []hosttree.Open[open], last int32) []*trace.Op {
	w.nested = w.nested[:0]
	for i := last; i >= 0; {
		w.nested = append(w.nested, w.t.Ops.At(stack[i].Row))
		if i == 0 {
			break
		}
		i = stack[i-1].Data.op
	}
	slices.Reverse(w.nested)
	return w.nested
}

// Leave adds the event up.
func (w *walker) Leave(stack []hosttree.Open[open]) {
	top := &stack[len(stack)-1]
	w.passOn(stack)
	switch top.Kind {
	case trace.CPUOp:
		w.ops.leave(&top.Frame, &top.Data)
	case trace.Python:
		w.runOf(stack).leave(top.End-top.Start, w.t.Window.Starts(top.Start))
	case trace.Annotation:
		w.notes.of(top.Name).leave(top.End-top.Start, w.t.Window.Starts(top.Start))
	}
}

// passOn adds what the last event of the stack launched to the one around it.
func (w *walker) passOn(stack []hosttree.Open[open]) {
	if n := len(stack); n > 1 && stack[n-1].Data.gpu != 0 {
		outer := &stack[n-2].Data
		outer.gpu = summary.Plus(outer.gpu, stack[n-1].Data.gpu)
	}
}

// Between adds time to the innermost event, and notes what the thread was doing.
func (w *walker) Between(from, to int64, stack []hosttree.Open[open]) {
	if n := len(stack); n > 0 {
		if mayNotBeInner.Has(stack[n-1].Kind) {
			n = max(1, len(inner(stack)))
		}
		stack[n-1].Data.cpuSelf += to - from
	}
	if w.next < to {
		w.pass(to, stack)
	}
	if q := w.questions; q != nil && to > q.asksFrom {
		q.answer(from, to, w.doing(stack))
	}
	if to > w.record.from() {
		w.record.add(from, to, w.doing(stack))
	}
}

// setNext finds the time of the first of the links and changes that are left.
func (w *walker) setNext() {
	w.next = math.MaxInt64
	if len(w.asked) > 0 {
		w.next = w.Links.Start(w.asked[0])
	}
	if len(w.changes) > 0 {
		w.next = min(w.next, w.memories.atPeaks[w.changes[0]].Start)
	}
}

// pass handles the links and changes before a time, at which the stack was open.
func (w *walker) pass(to int64, stack []hosttree.Open[open]) {
	for ; len(w.asked) > 0 && w.Links.Start(w.asked[0]) < to; w.asked = w.asked[1:] {
		w.told = append(w.told, w.context(stack))
	}
	for ; len(w.changes) > 0 && w.memories.atPeaks[w.changes[0]].Start < to; w.changes = w.changes[1:] {
		w.memories.atPeaks[w.changes[0]].context = w.context(stack)
	}
	w.setNext()
}

// doing returns what the thread is doing while the last event of the stack is the innermost.
func (w *walker) doing(stack []hosttree.Open[open]) idleKey {
	if len(stack) == 0 {
		return w.idle.state(w, stack)
	}
	d := &stack[len(stack)-1].Data
	if d.doing == 0 {
		d.doing = w.idle.state(w, stack)
	}
	return d.doing
}

// finalize finds the forward operator of what the backward pass launched, once
// all threads are known, and leaves out the passes where nothing is trained.
func (a *Attribution) finalize() {
	for i := range a.origins {
		k := &a.origins[i]
		c := a.ctx.at(k.context)
		track := a.Links.List[i].Track
		if c.annotation != 0 {
			k.note = c.annotation
		}
		if k.sequence != 0 && !c.recomputes && !c.ownLine {
			k.forward = a.forward.get(a.processes[track], k.sequence)
		}
		if a.engine[track] && (k.pass == otherPass || k.pass == forwardPass) {
			k.pass = backwardPass // hooks and reductions run on its thread too
		}
		if !a.trains {
			k.pass = otherPass
		}
	}
}

// Fill fills in the parts of a summary that need attribution. coll returns the collectives of
// kernels.
func Fill(s *summary.Summary, a *Attribution, coll gpu.CollectiveOf, rank, bins int, room *limits.Room, issues *diag.Ledger) {
	s.Kernels = gpu.Kernels(a.tl, a.operator, coll, rank, room)
	s.Ops = limits.KeepLargest(room, a.ops.opRows(rank), func(r *summary.Op) (int64, string) { return r.GPUTotalNS, r.Name })
	s.Modules = limits.KeepLargest(room, a.moduleRows(rank), func(r *summary.Module) (int64, string) { return r.GPUTotalNS, r.Path })
	s.Lines = limits.KeepLargest(room, a.lineRows(rank), func(r *summary.Line) (int64, string) { return r.GPUTotalNS, r.File + r.Function })
	s.Annotations = limits.KeepLargest(room, a.noteRows(rank), func(r *summary.Annotation) (int64, string) { return r.GPUTotalNS, r.Name })
	s.Calls = limits.KeepLargest(room, a.calls.Rows(rank), func(r *summary.Call) (int64, string) { return r.TotalNS, r.Name })
	s.Passes = a.passRows(rank)
	s.CopyCalls = a.copyRows(rank, s.Copies, room)
	s.Syncs = a.calls.SyncRows(rank)
	profiler := profilerWork(a.t)
	for i := range a.tl.Devices {
		s.Idle = append(s.Idle, a.idle.idleRows(i, rank)...)
		a.idle.idleOfSteps(i, s.Steps)
		a.idle.explain(i, s.Devices[i].LargestGaps)
		for g := range s.Devices[i].LargestGaps {
			gap := &s.Devices[i].LargestGaps[g]
			gap.ProfilerNS = profiler.Clip(interval.Span{Start: gap.StartNS, End: gap.StartNS + gap.NS}).Len()
		}
	}
	for i := range a.graphs {
		a.graphs[i].Rank = rank
	}
	s.Graphs = limits.KeepLargest(room, a.graphs, func(r *summary.Graph) (int64, string) { return r.SpanNS, r.First })
	s.Memory = a.memory(rank, bins, issues)
	a.note(issues)
}

// copyRows returns the table of copies by call. The table of copies has its events too: those
// that are pooled in both count once.
func (a *Attribution) copyRows(rank int, copies []summary.Copy, room *limits.Room) []summary.CopyCall {
	for i := range a.copies {
		a.copies[i].Rank = rank
	}
	counted := int64(0)
	for _, c := range copies {
		if c.Stream == limits.OtherStream {
			counted += c.Count
		}
	}
	room.Join(a.ofCopies, counted)
	return a.copies
}

// profilerWork returns when the profiler did work of its own.
func profilerWork(t *trace.Trace) interval.Set {
	var b interval.Builder
	for s := range t.Spans.All() {
		if s.Kind == trace.Overhead {
			b.Add(interval.Span{Start: s.Start, End: s.Start + s.Dur})
		}
	}
	return b.Set()
}

// note counts what could not be attributed.
func (a *Attribution) note(issues *diag.Ledger) {
	help, without := "", a.Links.Without // the registry's help
	if a.t.Calls.Len() == 0 {
		without = int64(len(a.Links.Of)) // also work that operators launched
		help = "The capture has no CUDA API calls, so the launch site of its GPU work is unknown. Record CPU activities too."
	}
	issues.AddN(diag.Issue{Code: "kernels-without-launch", Severity: diag.Info, Help: help}, without)
	severity := diag.Info
	if linked := int64(len(a.Links.Of)) - a.Links.Without; a.Links.Early > linked/100 {
		severity = diag.Suspect
	}
	issues.AddN(diag.Issue{Code: "work-before-launch", Severity: severity,
		Help: "GPU work started more than 2 µs before the call that launched it: the clocks of CPU and GPU differ. Queue times and causes of idle time are wrong by that. Update the driver and record again."}, a.Links.Early)
	issues.AddN(diag.Issue{Code: "nesting-too-deep", Severity: diag.Info,
		Help: "CPU events inside more than 4096 others were left out of the tables of CPU time."}, a.tooDeep)
	if a.idle.tooMany {
		issues.AddN(diag.Issue{Code: "idle-not-attributed", Severity: diag.Info,
			Help: fmt.Sprintf("The causes of idle time are determined for inputs of at most %d GPUs. This input has more. Idle time itself is measured.", maxIdleDevices)}, int64(len(a.tl.Devices)))
	}
	issues.AddN(diag.Issue{Code: "correlation-ambiguous", Severity: diag.Info}, a.Links.Double)
}
