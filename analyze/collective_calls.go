package analyze

import (
	"cmp"
	"slices"
	"strings"

	"assay/analyze/ranks/collective"
	"assay/trace"
)

// commCalls are the calls of communication libraries on each thread, by start: annotations ("nccl:all_to_all"),
// ranges of NVTX ("ncclAllReduce") and operators ("c10d::allreduce_", "vllm::all_reduce").
type commCalls map[trace.TrackID][]*commCall

// A commCall is one of these, or a range of ncclGroupStart or ncclGroupEnd, which launches the kernel of all
// calls since its start.
type commCall struct {
	start, dur int64
	name       string
	op         collective.Op // Other for the ranges of a group
}

const (
	groupStart = "ncclGroupStart"
	groupEnd   = "ncclGroupEnd"
	maxGroup   = 64 // calls of a group that are compared
)

// commCallsOf returns the calls of a trace.
func commCallsOf(t *trace.Trace) commCalls {
	type kind struct{ known, is bool }
	kinds := make([]kind, t.Names()) // by name, because a trace has few names and many events
	out := make(commCalls)
	add := func(track trace.TrackID, start, dur int64, sym trace.Sym) {
		k := &kinds[sym]
		if k.known && !k.is {
			return
		}
		name := t.Name(sym)
		op := collective.CallOf(name)
		k.known, k.is = true, op != collective.Other || name == groupStart || name == groupEnd
		if k.is {
			out[track] = append(out[track], &commCall{start, dur, name, op})
		}
	}
	for s := range t.Spans.All() {
		if s.Kind == trace.Annotation {
			add(s.Track, s.Start, s.Dur, s.Name)
		}
	}
	for o := range t.Ops.All() {
		add(o.Track, o.Start, o.Dur, o.Name)
	}
	for _, list := range out {
		slices.SortStableFunc(list, func(a, b *commCall) int {
			return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.dur, a.dur))
		})
	}
	return out
}

// at returns the innermost call that was open on a thread at time ns, or the zero call.
func (c commCalls) at(track trace.TrackID, ns int64) commCall {
	list := c[track]
	call := openAt(list, ns, func(c *commCall) (int64, int64) { return c.start, c.dur })
	if call == nil || call.name == groupStart {
		return commCall{}
	}
	if call.name != groupEnd {
		return *call
	}
	// The kernel of a group runs all of its calls. They tell what it does if they are of one kind.
	end, _ := slices.BinarySearchFunc(list, call.start, func(c *commCall, ns int64) int { return cmp.Compare(c.start, ns) })
	var out commCall
	for i := end - 1; i >= max(0, end-maxGroup) && list[i].name != groupStart; i-- {
		switch {
		case list[i].op == collective.Other || out.op != collective.Other && list[i].op != out.op:
			return commCall{}
		case out.op == collective.Other:
			out = *list[i]
		}
	}
	return out
}

// ofNode returns the call during which the node of a graph was made that ran as a kernel, or the zero call if
// it is not recorded, or if makings of the node differ.
func (c commCalls) ofNode(t *trace.Trace, a *trace.Activity) (out commCall) {
	node := t.Detail(a.Detail).Node
	if node == 0 || int64(node) > int64(len(t.GraphNodes)) {
		return out
	}
	for i, made := range t.GraphNodes[node-1].Made {
		one := c.at(made.Track, made.Start)
		if one.op == collective.Other || i > 0 && one.op != out.op {
			return commCall{}
		}
		out = one
	}
	return out
}

// overrides reports whether the call tells more of a kernel than its name does: a kernel of sends and receives
// may be an all-to-all. PyTorch's annotations of NCCL are exact.
func (c commCall) overrides(byName collective.Op) bool {
	return c.op != collective.Other && (byName == collective.Other || byName == collective.SendRecv || strings.HasPrefix(c.name, "nccl:"))
}
