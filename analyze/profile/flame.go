package profile

import (
	"cmp"
	"container/heap"
	"slices"

	"assay/analyze/limits"
	"assay/internal/diag"
	"assay/internal/profile"
	"assay/summary"
)

// Limits of a flame graph. Nodes that would be smaller than a pixel of the picture, or deeper than
// its rows, are added up.
const (
	flameParts = 500 // a node must have at least 1/flameParts of the total
	flameNodes = 2000
	flameDepth = 96
	flameText  = flameNodes * limits.RowText // bytes of names
)

// flameNode is a node under construction: the range of the sorted samples whose stacks begin with the same
// frames.
type flameNode struct {
	functionKey
	lo, hi   int // range in flamer.order
	depth    int
	value    int64
	others   int64
	children []*flameNode
}

// flamer divides the samples, sorted by their stacks, into a tree. It never builds the tree of all stacks,
// which may be far larger than the profile.
type flamer struct {
	p           *profile.Profile
	order       []int // indices of samples, sorted by stack
	total       int64
	nodes, text int // remaining number of nodes and bytes of names
	queue       flameQueue
}

// flameOf returns the tree of the default column. The largest nodes are divided into their children first,
// so that only small ones are added up when the limit is reached.
func flameOf(p *profile.Profile, issues *diag.Ledger) summary.Flame {
	f := flamer{p: p, nodes: flameNodes, text: flameText}
	column := p.Columns[p.Default]
	out := summary.Flame{Name: column.Name, Unit: unitName(column.Unit), Nodes: []summary.FlameNode{}}
	var negative int64
	for i := range p.Samples {
		switch v := p.Samples[i].Values[p.Default]; {
		case v < 0:
			negative++
		case v > 0:
			f.order = append(f.order, i)
			f.total = summary.Plus(f.total, v)
		}
	}
	issues.AddN(diag.Issue{Code: "negative-values", Severity: diag.Suspect}, negative)
	slices.SortFunc(f.order, func(a, b int) int {
		return slices.CompareFunc(p.Samples[a].Stack, p.Samples[b].Stack, func(x, y profile.Frame) int {
			return keyOf(x).compare(keyOf(y))
		})
	})
	root := &flameNode{hi: len(f.order), depth: -1, value: f.total}
	f.queue = flameQueue{root}
	for len(f.queue) > 0 {
		f.split(heap.Pop(&f.queue).(*flameNode))
	}
	out.Total = f.total
	out.Nodes = flatten(out.Nodes, root)
	if f.total == 1<<63-1 {
		out.Total, out.Nodes = 0, nil // the total overflowed, so shares have no meaning
	}
	return out
}

// frame returns the frame of a sample at a depth. Samples without a stack have one frame, noStack.
func (f *flamer) frame(at, depth int) (profile.Frame, bool) {
	stack := f.p.Samples[f.order[at]].Stack
	switch {
	case depth < len(stack):
		return stack[depth], true
	case depth == 0:
		return profile.Frame{Name: noStack}, true
	}
	return profile.Frame{}, false
}

// split finds the children of a node.
func (f *flamer) split(n *flameNode) {
	depth := n.depth + 1
	var pooled *flameNode
	pool := func(child *flameNode) {
		if pooled == nil {
			pooled = &flameNode{depth: depth}
		}
		pooled.value = summary.Plus(pooled.value, child.value)
		pooled.others++
	}
	var all []*flameNode
	for at := n.lo; at < n.hi; {
		frame, ok := f.frame(at, depth)
		if !ok {
			at++ // the stack ends here: the node's own cost
			continue
		}
		child := flameNode{functionKey: keyOf(frame), lo: at, depth: depth}
		for ; at < n.hi; at++ {
			if next, ok := f.frame(at, depth); !ok || keyOf(next) != child.functionKey {
				break
			}
			child.value = summary.Plus(child.value, f.p.Samples[f.order[at]].Values[f.p.Default])
		}
		child.hi = at
		if child.value < max(1, f.total/flameParts) {
			pool(&child)
			continue
		}
		all = append(all, new(child))
	}
	slices.SortStableFunc(all, func(a, b *flameNode) int { return cmp.Compare(b.value, a.value) })
	for _, child := range all {
		size := len(child.name) + len(child.file)
		if depth < flameDepth && f.nodes > 0 && f.text >= size {
			f.nodes, f.text = f.nodes-1, f.text-size
			n.children = append(n.children, child)
			heap.Push(&f.queue, child)
			continue
		}
		pool(child)
	}
	if pooled != nil {
		n.children = append(n.children, pooled)
	}
}

// flatten appends the nodes below n in the order of a walk.
func flatten(out []summary.FlameNode, n *flameNode) []summary.FlameNode {
	for _, c := range n.children {
		out = append(out, summary.FlameNode{Depth: c.depth, Name: c.name, File: c.file, Value: c.value, Others: c.others})
		out = flatten(out, c)
	}
	return out
}

// flameQueue has the nodes that can be divided, the largest first.
type flameQueue []*flameNode

func (q flameQueue) Len() int { return len(q) }
func (q flameQueue) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(q[j].value, q[i].value), cmp.Compare(q[i].depth, q[j].depth),
		cmp.Compare(q[i].lo, q[j].lo)) < 0
}
func (q flameQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *flameQueue) Push(x any)   { *q = append(*q, x.(*flameNode)) }
func (q *flameQueue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}
