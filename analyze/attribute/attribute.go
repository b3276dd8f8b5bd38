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
	"assay/internal/label"
	"assay/summary"
	"assay/trace"
)

// An Attribution relates GPU work whose launch call is known to the events that
// were open on the calling thread: see [launches.Link].
type Attribution struct {
	*Host
	t      *trace.Trace
	tl     *gpu.Timeline
	*group // the tables of the other threads; after the walk, of all threads
	calls  *calls.Calls

	origins []origin // by link

	marks    []steps.Mark
	maxRows  int                                                // of one table
	passes   bool                                               // Options.Passes
	onLaunch func(link int32, ops []*trace.Op, recomputed bool) // Options.Launched

	copies     []summary.CopyCall // without their rank, as the next
	graphs     []summary.Graph
	copyBudget *limits.Budget // of copies
}

// A pass is the part of training that work belongs to.
type pass uint8

const (
	otherPass pass = iota
	forwardPass
	backwardPass
	recomputePass // forward again, inside of the backward pass: activation checkpointing
	optimizerPass
	unknownPass // the launch call is not known
)

var passNames = [...]string{"other", "forward", "backward", "recompute", "optimizer", "unknown"}

func (p pass) String() string { return passNames[p] }

// An origin is where in the program a launch was made.
type origin struct {
	context  contextID
	note     contextID // the innermost annotation
	forward  contextID // of the operator whose backward pass this is; 0 if none
	sequence trace.ID  // the sequence number of that operator; finalize looks forward up by it
	pass     pass
}

// open holds what the walk knows about an event that has not ended.
type open struct {
	cpuSelf int64   // time in which it was the innermost event
	gpuSelf int64   // of operators: work that it launched, as the innermost operator
	gpu     int64   // work that it and what was inside it launched
	doing   idleKey // what the thread does while it is the innermost; 0 until computed
	ctx     contextID
	shape   trace.ShapeID // of operators
	own     role          // what its own name says
	known   bool          // ctx is

	// The event and all events around it together.
	trained  bool // an operator has a sequence number: autograd tracks it
	backward bool // an operator belongs to a backward pass, by its sequence number
	roles    role
	op       int32    // index of the innermost operator in the stack, or -1
	sequence trace.ID // of the innermost operator of a backward pass
}

// Options say what to attribute. The zero value attributes no gaps and keeps no rows.
type Options struct {
	Rows int // maximum number of rows of a table
	Gaps int // number of gaps per device, the longest ones, that get a cause each

	Shapes bool // split operators by the shapes of their arguments
	Passes bool // sum work by pass

	LeastCut int // smallest number of events for which a thread is cut in two; 0 for leastCut

	// Host receives what the thread did that launches the work of a device, if it is not nil.
	// The device is an index into Timeline.Devices. If several threads launch work, the state
	// is that of the thread that launches next. Spans of one device do not overlap; they come
	// in no particular order.
	Host func(device int, s interval.Span, state ThreadState)

	// Waits receives the parts of idle time whose cause is a late launch, with what the thread did, if it is not nil.
	// Host must be set, too. The parts come in no particular order.
	Waits func(device int, s interval.Span, state ThreadState)

	// Launched receives, for each link, the operators that were open on the thread, outermost
	// first, if it is not nil. It must not keep the slice. recomputed reports whether a function
	// was open that runs the forward pass again. Calls come thread by thread, in launch order.
	Launched func(link int32, ops []*trace.Op, recomputed bool)
}

// Work attributes the work and the idle time of all devices: it walks all threads. A trace
// without GPU work and without operators yields empty tables. h is used up: its threads are
// released during the walk.
func Work(tl *gpu.Timeline, h *Host, marks []steps.Mark, opts Options) *Attribution {
	t := tl.Trace
	a := &Attribution{
		Host: h, t: t, tl: tl, marks: marks, maxRows: opts.Rows, passes: opts.Passes, onLaunch: opts.Launched,
		group: newGroup(t, opts.Shapes), origins: make([]origin, len(h.Links.List)),
	}
	a.calls = calls.Of(tl, h.Links, marks)
	a.idle = newIdleness(a, opts)
	var background sync.WaitGroup // measurements that need no walk
	if len(h.threads) > 0 {
		background.Go(a.calls.Count)
	}
	background.Go(func() {
		a.copyBudget = limits.NewBudget(opts.Rows)
		a.copies, a.graphs = a.calls.Copies(a.copyBudget), a.calls.Graphs()
	})
	a.walk(opts)
	background.Wait()
	a.idle.finish()
	a.finalize()
	a.addUp()
	return a
}

// A walker attributes the launches of one thread. Package hosttree calls Enter, Leave and
// Between as it walks the events of the thread in the order of time.
type walker struct {
	*Attribution
	*group          // the tables that the thread is counted in
	track           trace.TrackID
	process         uint32
	main            bool
	inEngine        bool        // autograd's engine runs on the thread
	from            int64       // start of the walk
	until           int64       // end of the walk
	peaks           []int32     // allocations in use at a peak, by time
	pendingPeaks    []int32     // the part of peaks that the walk has not reached
	nested          []*trace.Op // result of operators, reused
	launches        []int32     // launches of other threads that may inherit an annotation, by time
	launchContexts  []contextID // what was open here at each of launches that the walk has passed
	pendingLaunches []int32     // the part of launches that the walk has not reached
	next            int64       // time of the first pending allocation or launch
	questions       *questions  // about idle time; nil if there are none
	record          record      // what a main thread did
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
		w.notes.row(f.Name).enter(w.t.Window.Starts(f.Start))
	}
}

// runOf returns the run of the last event of the stack, a Python function or module.
func (w *walker) runOf(stack []hosttree.Open[open]) *run {
	if top := &stack[len(stack)-1]; top.Data.own&isModule == 0 {
		return w.lines.row(top.Name)
	}
	return w.modules.row(w.ctx.at(w.context(stack)).module)
}

// inherit copies properties of the enclosing event to the last event of the stack.
func (w *walker) inherit(stack []hosttree.Open[open]) {
	f, d := &stack[len(stack)-1].Frame, &stack[len(stack)-1].Data
	d.op = -1
	if len(stack) > 1 {
		outer := &stack[len(stack)-2].Data
		d.roles, d.op, d.trained, d.backward, d.sequence = outer.roles, outer.op, outer.trained, outer.backward,
			outer.sequence
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
		// Sequence numbers only grow, so the last operator with a given number created
		// the autograd node.
		w.forward.set(w.process, sequence, w.context(stack))
	}
	if i, ok := w.Links.OfOp(f.Row); ok {
		w.launched(stack, i)
	}
}

// openOp sets the properties of an operator, the last event of the stack. It returns the
// sequence number of an operator of the forward pass, and 0 for one of the backward pass.
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

// launched attributes the work of link i, whose call is the last event of the stack.
func (w *walker) launched(stack []hosttree.Open[open], i int32) {
	k, o := &w.Links.List[i], &w.origins[i]
	o.context = w.context(stack)
	c := w.ctx.at(o.context)
	if c.annotation == 0 && !w.main {
		w.unannotated = append(w.unannotated, i)
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
	if w.onLaunch != nil {
		w.onLaunch(i, w.operators(stack, top.op), c.recomputes || c.checkpoint)
	}
}

// operators returns the operators of the stack, outermost first; last is the index of the
// innermost one, or -1. The slice is valid until the next call.
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

// Leave adds the time and the work of the last event of the stack to its tables.
func (w *walker) Leave(stack []hosttree.Open[open]) {
	top := &stack[len(stack)-1]
	w.passOn(stack)
	switch top.Kind {
	case trace.CPUOp:
		w.ops.leave(&top.Frame, &top.Data)
	case trace.Python:
		w.runOf(stack).leave(top.End-top.Start, w.t.Window.Starts(top.Start))
	case trace.Annotation:
		w.notes.row(top.Name).leave(top.End-top.Start, w.t.Window.Starts(top.Start))
	}
}

// passOn adds the work below the last event of the stack to the event around it.
func (w *walker) passOn(stack []hosttree.Open[open]) {
	if n := len(stack); n > 1 && stack[n-1].Data.gpu != 0 {
		outer := &stack[n-2].Data
		outer.gpu = summary.Plus(outer.gpu, stack[n-1].Data.gpu)
	}
}

// Between adds the time between two changes of the stack to the innermost event, and answers
// the questions about idle time in it.
func (w *walker) Between(from, to int64, stack []hosttree.Open[open]) {
	if n := len(stack); n > 0 {
		if skippableKinds.Has(stack[n-1].Kind) {
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

// setNext sets next to the time of the first pending launch or allocation.
func (w *walker) setNext() {
	w.next = math.MaxInt64
	if len(w.pendingLaunches) > 0 {
		w.next = w.Links.Start(w.pendingLaunches[0])
	}
	if len(w.pendingPeaks) > 0 {
		w.next = min(w.next, w.memories.atPeaks[w.pendingPeaks[0]].Start)
	}
}

// pass notes the context of the pending launches and allocations before a time. The stack is
// what was open on the thread until then.
func (w *walker) pass(to int64, stack []hosttree.Open[open]) {
	for ; len(w.pendingLaunches) > 0 && w.Links.Start(w.pendingLaunches[0]) < to; w.pendingLaunches = w.pendingLaunches[1:] {
		w.launchContexts = append(w.launchContexts, w.context(stack))
	}
	for ; len(w.pendingPeaks) > 0 && w.memories.atPeaks[w.pendingPeaks[0]].Start < to; w.pendingPeaks = w.pendingPeaks[1:] {
		w.memories.atPeaks[w.pendingPeaks[0]].context = w.context(stack)
	}
	w.setNext()
}

// doing returns what the thread does while the last event of the stack is the innermost.
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

// finalize finds the forward operators of the work of backward passes. It needs the walks of
// all threads, because autograd runs backward passes on threads of its own. Without any
// training, all work belongs to otherPass.
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
			k.pass = backwardPass // the engine's thread also runs hooks and gradient reductions
		}
		if !a.trains {
			k.pass = otherPass
		}
	}
}

// Fill adds the tables that need attribution to a summary whose devices, steps and copies are
// measured already. coll returns the collective of a kernel.
func Fill(s *summary.Summary, a *Attribution, coll gpu.CollectiveOf, rank, bins int, budget *limits.Budget,
	issues *diag.Ledger) {
	s.Kernels = gpu.Kernels(a.tl, a.operator, coll, rank, budget)
	s.Ops = limits.KeepLargest(budget, a.ops.opRows(rank),
		func(r *summary.Op) (int64, string) { return r.GPUTotalNS, r.Name })
	s.Modules = limits.KeepLargest(budget, a.moduleRows(rank),
		func(r *summary.Module) (int64, string) { return r.GPUTotalNS, r.Path })
	s.Lines = limits.KeepLargest(budget, a.lineRows(rank),
		func(r *summary.Line) (int64, string) { return r.GPUTotalNS, r.File + r.Function })
	s.Annotations = limits.KeepLargest(budget, a.noteRows(rank),
		func(r *summary.Annotation) (int64, string) { return r.GPUTotalNS, r.Name })
	s.Calls = limits.KeepLargest(budget, a.calls.Rows(rank),
		func(r *summary.Call) (int64, string) { return r.TotalNS, r.Name })
	s.Passes = a.passRows(rank)
	s.CopyCalls = a.copyRows(rank, s.Copies, budget)
	s.Syncs = a.calls.SyncRows(rank)
	profiler := profilerWork(a.t)
	for i := range a.tl.Devices {
		s.Idle = append(s.Idle, a.idle.idleRows(i, rank)...)
		a.idle.idleOfSteps(i, s.Steps)
		s.Devices[i].Process, s.Devices[i].SharedNS = a.calls.Process(i), a.calls.Shared(i)
		a.idle.explain(i, s.Devices[i].LargestGaps)
		for g := range s.Devices[i].LargestGaps {
			gap := &s.Devices[i].LargestGaps[g]
			gap.ProfilerNS = profiler.Clip(interval.Span{Start: gap.StartNS, End: gap.StartNS + gap.NS}).Len()
		}
	}
	for i := range a.graphs {
		a.graphs[i].Rank = rank
	}
	s.Graphs = limits.KeepLargest(budget, a.graphs, func(r *summary.Graph) (int64, string) { return r.SpanNS, r.First })
	s.Memory = a.memory(rank, bins, issues)
	a.note(issues)
}

// copyRows returns the table of copies by call. Its events are also in the table of copies, so
// an event that both tables pooled must count once.
func (a *Attribution) copyRows(rank int, copies []summary.Copy, budget *limits.Budget) []summary.CopyCall {
	for i := range a.copies {
		a.copies[i].Rank = rank
	}
	counted := int64(0)
	for _, c := range copies {
		if c.Stream == limits.OtherStream {
			counted += c.Count
		}
	}
	budget.Join(a.copyBudget, counted)
	return a.copies
}

// profilerWork returns the times in which the profiler did its own work, by its records.
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
	help, without := "", a.Links.Without // "": the help text of the code's own entry
	if a.t.Calls.Len() == 0 {
		without = int64(len(a.Links.Of)) // includes work that is linked to an operator
		help = "The capture has no CUDA API calls, so the launch site of its GPU work is unknown. Record CPU activities too."
	}
	if n := a.Links.Unlinked; n > 0 && 2*n > without {
		help = "GPU work has correlation 0: the profiler did not write which call launched it. It is in every total and in no " +
			"table of operators, modules or lines. Update the profiler and record again."
	}
	if text := a.t.Meta.WithoutCalls; text != "" {
		help = text
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
	if n := len(a.idle.dark); n > 0 {
		issues.AddN(diag.Issue{Code: "steps-without-calls", Severity: diag.DataLoss,
			Help: fmt.Sprintf("%d of %s have no CUDA or HIP call, although their operators launch GPU work in other steps. "+
				"Their GPU work is missing, so their idle time is \"not recorded\". Record all steps.", n, label.Plural(int64(len(a.marks)), "step"))}, int64(n))
	}
	issues.AddN(diag.Issue{Code: "correlation-ambiguous", Severity: diag.Info}, a.Links.Double)
}
