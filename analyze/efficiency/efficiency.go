package efficiency

import (
	"strings"

	"assay/analyze/classify"
	"assay/analyze/efficiency/operators"
	"assay/analyze/launches"
	"assay/trace"
)

// Owners are the operators that own the work of a trace. Methods of a nil Owners do nothing.
type Owners struct {
	t     *trace.Trace
	links *launches.Links
	names []named // by name

	calls  []call
	ofLink []int32 // by link: index into calls plus 1; 0 if no operator was open
	open   []openCall

	known map[knownKey]int32 // index into works
	works []known
	rows  []rowID // by the number of a row
	byRow map[rowID]int32

	caches map[cacheKey]operators.Cache
	uses   map[int32][]use              // by link: enclosing calls that use the cache of keys and values
	grids  map[trace.Sym]operators.Grid // by the name of a kernel

	makers *makers // operators that created the nodes of graphs; may be nil

	stated map[statedKey]int32 // index into works; nil if the compiler states none

	first []trace.Sym // by link: the name of the first of its work in the file
}

// A named has what follows from an operator's name.
type named struct {
	looked  bool
	model   *operators.Model
	wrapper bool
	kernel  bool // the model needs the name of a kernel
	graph   bool // a call of this name launches a graph
	edge    int8 // of the capture of a graph: see captureEdge
	role    role
}

// A role is the role of an operator in the backward pass.
type role uint8

const (
	plain       role = iota
	engine           // autograd's engine runs the backward pass of one operator
	checkpoint       // a checkpoint, which runs the forward pass again
	forwardOnly      // never called by a backward pass
)

// A call is one call of an operator that owns work.
type call struct {
	op         *trace.Op
	known      int32 // an index of works
	recomputed bool
}

// An openCall is a call of an operator that may still be open.
type openCall struct {
	op *trace.Op
	at int32
}

type knownKey struct {
	name, kernel trace.Sym // kernel only if the model needs it
	shape        trace.ShapeID
	why          operators.Reason
}

// A known is the work of calls with equal arguments.
type known struct {
	work operators.Work
	ok   bool
	row  int32
}

// A rowID identifies a row of one GPU. Copies between host and device have rows of their own,
// because another link limits them. So have calls with unknown work, because a row with one
// of them could not state the work of its other calls.
type rowID struct {
	name, dims, types trace.Sym
	link              bool
	partly            bool   // FLOPs or bytes are unknown
	grid              bool   // bytes are estimated from the grids of kernels
	stated            string // the type of the operands, of work that the compiler states
}

// New returns empty Owners, to which Launched adds the work of a trace. It returns nil if nothing
// ran on a GPU.
func New(t *trace.Trace, links *launches.Links) *Owners {
	if t.Activities.Len() == 0 {
		return nil
	}
	o := &Owners{
		t: t, links: links, names: make([]named, t.Names()), ofLink: make([]int32, len(links.List)),
		caches: make(map[cacheKey]operators.Cache), uses: make(map[int32][]use), known: make(map[knownKey]int32), byRow: make(map[rowID]int32), first: make([]trace.Sym, len(links.List)),
	}
	number := 0
	for a := range t.Activities.All() {
		if i := links.Of[number]; i >= 0 && o.first[i] == 0 {
			o.first[i] = a.Name
		}
		number++
	}
	o.takeStated()
	return o
}

// Add returns the method Launched, for attribute.Options, or nil if o is nil.
func (o *Owners) Add() func(link int32, ops []*trace.Op, recomputed bool) {
	if o == nil {
		return nil
	}
	return o.Launched
}

// Launched records the owner of the work of a link. ops are the operators that were open at the
// launch, outermost first; recomputed says that a function was open that runs the forward pass
// again. Calls must come thread by thread, in launch order.
func (o *Owners) Launched(link int32, ops []*trace.Op, recomputed bool) {
	if len(ops) == 0 {
		return
	}
	owner, work := o.choose(ops, o.first[link], o.replays(link))
	op := ops[owner]
	if uses := o.usesOf(ops); uses != nil {
		o.uses[link] = uses
	}
	o.forget(ops)
	for _, c := range o.open {
		if c.op == op {
			o.ofLink[link] = c.at + 1
			return
		}
	}
	at := int32(len(o.calls))
	o.calls = append(o.calls, call{op: op, known: work, recomputed: recomputed || o.again(ops, owner)})
	o.open = append(o.open, openCall{op, at})
	o.ofLink[link] = at + 1
}

// forget drops the calls of operators that are no longer open.
func (o *Owners) forget(ops []*trace.Op) {
	kept := o.open[:0]
	for _, c := range o.open {
		for _, op := range ops {
			if op == c.op {
				kept = append(kept, c)
				break
			}
		}
	}
	o.open = kept
}

// choose returns the index of the operator that owns a launch, and its work.
func (o *Owners) choose(ops []*trace.Op, kernel trace.Sym, graph bool) (owner int, work int32) {
	last, why, partly := len(ops)-1, operators.Known, int32(-1)
	for i, op := range ops {
		n := o.named(op.Name)
		if n.model == nil || i != last && (n.wrapper || n.model.Values && o.t.Shape(op.Shape).Concrete == 0) {
			continue // without values a model that needs them knows some overloads only, which call others
		}
		at := o.workOf(op, n, kernel)
		w := &o.works[at]
		if w.ok {
			return i, at
		}
		if i == last && w.work.FLOPs.Why == operators.Known { // a sum whose dims are not recorded
			partly = at
		}
		if why == operators.Known {
			why = w.work.Bytes.Why
		}
	}
	switch {
	case graph:
		why = operators.GraphReplay
	case partly >= 0:
		return last, partly
	case why == operators.Known && o.t.Shape(ops[last].Shape).Dims == 0:
		why = operators.NoShapes
	case why == operators.Known:
		why = operators.NoFormula
	}
	return last, o.unknown(ops[last], kernel, why)
}

// replays reports whether a link is the launch of a graph.
func (o *Owners) replays(link int32) bool {
	c := o.links.Call(link)
	return c != nil && o.named(c.Name).graph
}

// named returns the properties of an operator's name.
func (o *Owners) named(name trace.Sym) *named {
	n := &o.names[name]
	if !n.looked {
		text := o.t.Name(name)
		n.looked, n.model, n.role = true, operators.Lookup(text), roleOf(text)
		n.graph, n.edge = classify.CallKind(text) == "graph-launch", captureEdge(text)
		if n.model != nil {
			n.wrapper, n.kernel = n.model.Wrapper(), n.model.NeedsKernel()
		}
	}
	return n
}

func roleOf(name string) role {
	switch {
	case strings.HasPrefix(name, "autograd::engine::evaluate_function"):
		return engine
	case strings.Contains(name, "Checkpoint") && strings.HasSuffix(name, "Backward"):
		return checkpoint
	case name == "aten::convolution", strings.HasPrefix(name, "aten::_scaled_dot_product_") && strings.HasSuffix(name, "_attention"):
		return forwardOnly
	}
	return plain
}

// again reports whether an operator runs the forward pass again inside of the backward pass: below
// a checkpoint, or if backward passes never call it otherwise.
func (o *Owners) again(ops []*trace.Op, owner int) bool {
	backward, checked := false, false
	for _, op := range ops[:owner] {
		switch o.named(op.Name).role {
		case engine:
			backward, checked = true, false
		case checkpoint:
			checked = true
		}
	}
	return checked || backward && o.named(ops[owner].Name).role == forwardOnly
}

// workOf returns the index into works of an operator's work.
func (o *Owners) workOf(op *trace.Op, n *named, kernel trace.Sym) int32 {
	key := knownKey{name: op.Name, shape: op.Shape}
	host := operators.IsHostCopy(o.t.Name(kernel))
	if n.kernel || host {
		key.kernel = kernel
	}
	at, ok := o.known[key]
	if !ok {
		s := o.t.Shape(op.Shape)
		c := operators.ParseCall(o.t.Name(op.Name), o.t.Name(s.Dims), o.t.Name(s.Types), o.t.Name(s.Strides), o.t.Name(s.Concrete))
		c.Kernel = o.t.Name(kernel)
		w, ok := n.model.Work(&c)
		at = o.add(key, known{work: w, ok: ok, row: o.row(rowID{name: op.Name, dims: s.Dims, types: s.Types, link: host, partly: w.FLOPs.Why != operators.Known || w.Bytes.Why != operators.Known})})
	}
	return at
}

// unknown returns the index into works for an operator whose work is unknown.
func (o *Owners) unknown(op *trace.Op, kernel trace.Sym, why operators.Reason) int32 {
	key := knownKey{name: op.Name, shape: op.Shape, why: why}
	at, ok := o.known[key]
	if !ok {
		s := o.t.Shape(op.Shape)
		none := operators.Count{Why: why}
		at = o.add(key, known{work: o.withoutWork(op, none), row: o.row(rowID{name: op.Name, dims: s.Dims, types: s.Types, partly: true})})
	}
	return at
}

func (o *Owners) add(key knownKey, k known) int32 {
	at := int32(len(o.works))
	o.works = append(o.works, k)
	o.known[key] = at
	return at
}

func (o *Owners) row(id rowID) int32 {
	at, ok := o.byRow[id]
	if !ok {
		at = int32(len(o.rows))
		o.rows = append(o.rows, id)
		o.byRow[id] = at
	}
	return at
}
