package critical

import (
	"slices"

	"assay/analyze/critical/change"
	"assay/trace"
)

// A fusing finds the works that can become one.
type fusing struct {
	g     *Graph
	step  []int32 // of works: plus 1
	waits []map[int32][]int64
}

func (g *Graph) fusing() *fusing {
	f := &fusing{g: g, step: make([]int32, len(g.nodes)), waits: make([]map[int32][]int64, len(g.ranks))}
	for i, s := range g.Steps {
		for _, v := range s.ends {
			f.step[v] = int32(i) + 1
		}
	}
	for v := range g.nodes {
		n := &g.nodes[v]
		call := g.hostSpan(int32(v)) // nil if it is idle time that waited
		if n.flags&isJoin == 0 || n.first == none || call == nil || g.extra[n.first].kind == queue {
			continue
		}
		if f.waits[n.rank] == nil {
			f.waits[n.rank] = make(map[int32][]int64)
		}
		f.waits[n.rank][call.thread] = append(f.waits[n.rank][call.thread], call.end)
	}
	for _, of := range f.waits {
		for _, ends := range of {
			slices.Sort(ends)
		}
	}
	return f
}

// joins reports whether two works that follow each other on a stream can be one: both are launched in the same
// step, and the host does not wait for work between their launches.
func (f *fusing) joins(u, v int32) bool {
	a, b := f.g.spanOf(u), f.g.spanOf(v)
	if a == nil || b == nil || f.step[u] != f.step[v] {
		return a == b
	}
	rank := f.g.nodes[v].rank
	ends := f.waits[rank][b.thread]
	i, _ := slices.BinarySearch(ends, a.start)
	return i == len(ends) || ends[i] > b.start
}

// runs returns a function that finds the end of the works from i that match: as many as do in a row, or those of a
// chain of operators, in their order.
func (c *changing) runs(what string) func(vs []int32, i int) int {
	chain := change.Chain(what)
	if chain == nil {
		matches := c.matcher(what)
		return func(vs []int32, i int) int {
			for i < len(vs) && matches(c.g.nodes[vs[i]].rank, c.g.work(vs[i]).a.Name) {
				i++
			}
			return i
		}
	}
	operator := func(v int32) int32 {
		if s := c.g.spanOf(v); s != nil {
			return s.op
		}
		return none
	}
	return func(vs []int32, i int) int {
		k := i
		for _, name := range chain {
			if k == len(vs) || c.g.operator(vs[k]) != name {
				return i
			}
			of := operator(vs[k])
			for k++; k < len(vs) && operator(vs[k]) == of; k++ { // an operator may launch several kernels
			}
		}
		return k
	}
}

func (c *changing) fuse(what string, f float64) error {
	end := c.runs(what)
	free := make([][]bool, len(c.g.ranks)) // spans that cost nothing
	for i := range free {
		free[i] = make([]bool, len(c.g.ranks[i].spans))
	}
	if c.can == nil {
		c.can = c.g.fusing()
	}
	for _, vs := range c.g.streams {
		for i := 0; i < len(vs); {
			to := max(end(vs, i), i+1)
			for i < to { // a step or a wait ends what can be one
				k := i + 1
				for k < to && c.can.joins(vs[k-1], vs[k]) {
					k++
				}
				c.fuseInto(vs[i], vs[i+1:k], f, free)
				i = k
			}
		}
	}
	c.each(false, func(v int32, n *node) {
		if n.owner != none && free[n.rank][n.owner] {
			c.set(v, 0)
		}
	})
	return nil
}

// fuseInto makes one work of several, and notes the spans that only launched the others.
func (c *changing) fuseInto(first int32, others []int32, f float64, free [][]bool) {
	if len(others) == 0 {
		return
	}
	sum := c.g.dur[first]
	for _, v := range others {
		sum += c.g.dur[v]
		c.mark(v, isRemoved)
		if l := c.g.launchOf(v); l != nil {
			src := c.g.ranks[l.rank]
			free[l.rank][l.span] = true
			if p := src.parent(&src.spans[l.span]); p != nil && p.kind == trace.CPUOp {
				free[l.rank][src.spans[l.span].parent] = true
			}
		}
	}
	c.set(first, scaled(sum, f))
}
