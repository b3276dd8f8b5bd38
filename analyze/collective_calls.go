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
	maxGroup   = 256 // calls of a group that are compared
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

// at returns the innermost call that was open on a thread at time ns, or the zero call. Sends and receives
// also implement other collectives, so a call around them that names one counts more.
func (c commCalls) at(track trace.TrackID, ns int64) (out commCall) {
	list := c[track]
	next, _ := slices.BinarySearchFunc(list, ns+1, func(c *commCall, ns int64) int { return cmp.Compare(c.start, ns) })
	for i := next - 1; i >= max(0, next-maxGroup); i-- {
		if list[i].start+list[i].dur < ns {
			continue
		}
		one := *list[i]
		if one.name == groupEnd {
			one = ofGroup(list[:i])
		}
		switch {
		case one.op == collective.Other:
		case one.op != collective.SendRecv:
			return one
		case out.op == collective.Other:
			out = one
		}
	}
	return out
}

// ofGroup returns the first of the calls since the start of a group, if all of them have the same kind: its kernel
// runs all of them.
func ofGroup(before []*commCall) (out commCall) {
	for i := len(before) - 1; i >= max(0, len(before)-maxGroup) && before[i].name != groupStart; i-- {
		switch {
		case before[i].op == collective.Other || out.op != collective.Other && before[i].op != out.op:
			return commCall{}
		case out.op == collective.Other:
			out = *before[i]
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
