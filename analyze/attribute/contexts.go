package attribute

import (
	"strings"

	"assay/analyze/hosttree"
	"assay/analyze/ranks/collective"
	"assay/analyze/steps"
	"assay/internal/label"
	"assay/trace"
)

// A contextID identifies the events that were open on a thread, outermost first; 0
// means none. Equal contexts have equal numbers.
type contextID uint32

// A context is a node of the tree of all contexts: a name below another context.
// Calls are left out, and so are steps, because each would have a tree of its own.
type context struct {
	parent contextID
	name   trace.Sym
	kind   trace.Kind

	// The nearest of each kind, this one included; 0 if there is none.
	op, module, line, annotation contextID

	rootOp    contextID // the outermost operator
	modules   int16     // number of modules around it, itself included
	backward  bool      // inside of autograd's backward pass
	optimizer bool      // inside of an optimizer's step

	checkpoint bool // inside of the function that recomputes the forward pass of a checkpoint

	// A backward pass that calls Python has functions and modules of its own: they own the
	// work, not those of the forward pass.
	ownLine    bool // a function was called inside of the backward pass
	recomputes bool // a module was called inside of the backward pass
}

// The limits of a module's path: number of parts, and bytes of each part. Real models stay
// below them; a damaged trace with longer paths would fill the memory.
const (
	maxModules    = 64
	maxModuleName = 256
)

// contexts is the tree of all contexts. It gives each context a number.
type contexts struct {
	t     *trace.Trace
	list  []context
	index map[contextKey]contextID
	roles [2][]role // roles of Python calls and of other kinds, by name; 0 until computed

	recent [1 << recentContexts]contextID // cache of the index: recent results by hash of the key
}

const recentContexts = 12

type contextKey struct {
	parent contextID
	name   trace.Sym
	kind   trace.Kind
}

func newContexts(t *trace.Trace) *contexts {
	return &contexts{t: t, list: make([]context, 1), index: make(map[contextKey]contextID),
		roles: [2][]role{make([]role, t.Names()), make([]role, t.Names())}}
}

// noContext holds the kinds of frames that do not identify a launch site.
var noContext = trace.Of(trace.Runtime, trace.Driver, trace.Overhead, trace.OSCall, trace.OffCPU)

// below returns the context of a frame that was opened in the context parent. It is parent
// itself if the frame does not identify a launch site.
func (c *contexts) below(parent contextID, f *hosttree.Frame) contextID {
	role := c.role(f.Name, f.Kind)
	if noContext.Has(f.Kind) || role&isStep != 0 {
		return parent
	}
	recent := &c.recent[(uint64(parent)<<32|uint64(f.Name))*0x9e3779b97f4a7c15>>(64-recentContexts)]
	if n := &c.list[*recent]; *recent != 0 && n.parent == parent && n.name == f.Name && n.kind == f.Kind {
		return *recent
	}
	key := contextKey{parent, f.Name, f.Kind}
	id, ok := c.index[key]
	if ok {
		*recent = id
		return id
	}
	id = contextID(len(c.list))
	*recent = id
	n := c.list[parent] // inherits the nearest op, module, line and annotation
	n.parent, n.name, n.kind = parent, f.Name, f.Kind
	switch f.Kind {
	case trace.CPUOp:
		if n.op = id; n.rootOp == 0 {
			n.rootOp = id
		}
	case trace.Python:
		switch {
		case role&isModule != 0 && n.modules < maxModules:
			n.module = id
			n.modules++
			n.recomputes = n.recomputes || n.backward
		case role&isModule == 0 && (role&isLibrary == 0 || n.line == 0):
			n.line = id
			n.ownLine = n.ownLine || n.backward && role&isLibrary == 0
		}
	case trace.Annotation:
		n.annotation = id
	}
	n.backward = n.backward || role&isAutograd != 0
	n.optimizer = n.optimizer || role&isOptimizer != 0
	n.checkpoint = n.checkpoint || role&isRecompute != 0
	c.index[key] = id
	c.list = append(c.list, n)
	return id
}

// walk calls visit on entry to and exit from every context except the root, depth first.
func (c *contexts) walk(visit func(id contextID, enter bool)) {
	first, next := make([]contextID, len(c.list)), make([]contextID, len(c.list))
	for id := len(c.list) - 1; id > 0; id-- {
		up := c.list[id].parent
		next[id], first[up] = first[up], contextID(id)
	}
	for id := first[0]; id != 0; {
		visit(id, true)
		if first[id] != 0 {
			id = first[id]
			continue
		}
		for ; id != 0; id = c.list[id].parent {
			visit(id, false)
			if next[id] != 0 {
				break
			}
		}
		id = next[id]
	}
}

// at returns a context. The pointer is valid until the next context is made.
func (c *contexts) at(id contextID) *context { return &c.list[id] }

// name returns the name of a context, "" for none.
func (c *contexts) name(id contextID) string {
	if id == 0 {
		return ""
	}
	return c.t.Name(c.list[id].name)
}

// A role is a set of flags that follow from the name of a frame.
type role uint16

const (
	roleKnown    role = 1 << iota
	isStep            // marker of a step
	isModule          // call of an nn.Module
	isLibrary         // Python function of PyTorch or of the standard library
	isData            // data loader
	isProfiler        // the profiler itself
	isOptimizer       // step of an optimizer
	isAutograd        // autograd's engine
	isCollector       // the garbage collector
	isRecompute       // recomputes the forward pass of a checkpoint
	isCollective      // a collective that the CPU runs
)

func (c *contexts) role(name trace.Sym, kind trace.Kind) role {
	roles := c.roles[1]
	if kind == trace.Python {
		roles = c.roles[0]
	}
	if r := roles[name]; r != 0 {
		return r
	}
	text := c.t.Name(name)
	r := roleKnown
	set := func(r2 role, is bool) {
		if is {
			r |= r2
		}
	}
	set(isStep, strings.HasPrefix(text, steps.TorchPrefix))
	set(isModule, kind == trace.Python && label.IsModule(text))
	set(isLibrary, kind == trace.Python && label.IsLibrary(text))
	set(isData, strings.Contains(text, "DataLoader") || strings.Contains(text, "dataloader"))
	set(isProfiler, strings.Contains(text, "torch/profiler/") || strings.Contains(text, "Profiler::"))
	set(isCollector, label.IsCollector(text))
	set(isOptimizer, strings.HasPrefix(text, "Optimizer.step"))
	set(isRecompute, kind == trace.Python && strings.Contains(text, "torch/utils/checkpoint.py(") &&
		strings.HasSuffix(text, ": recompute_fn"))
	set(isCollective, kind == trace.Annotation && collective.OnCPU(text))
	set(isAutograd, strings.HasPrefix(text, "autograd::engine::"))
	roles[name] = r
	return r
}

// join adds the contexts of another tree and returns their new numbers, indexed by the old ones.
func (c *contexts) join(other *contexts) []contextID {
	ids := make([]contextID, len(other.list))
	for id := 1; id < len(ids); id++ {
		n := other.at(contextID(id))
		ids[id] = c.below(ids[n.parent], &hosttree.Frame{Name: n.name, Kind: n.kind})
	}
	return ids
}
