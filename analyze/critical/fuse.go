package critical

import (
	"slices"

	"assay/trace"
)

// A fusing finds the works that can become one.
type fusing struct {
	g     *Graph
	step  map[int32]int // of works
	waits []map[int32][]int64
}

func (g *Graph) fusing() *fusing {
	f := &fusing{g: g, step: make(map[int32]int), waits: make([]map[int32][]int64, len(g.ranks))}
	for i, s := range g.Steps {
		for _, v := range s.ends {
			f.step[v] = i
		}
	}
	for v := range g.nodes {
		n := &g.nodes[v]
		if n.flags&isJoin == 0 || n.first == none || g.extra[n.first].kind == queue {
			continue
		}
		if f.waits[n.rank] == nil {
			f.waits[n.rank] = make(map[int32][]int64)
		}
		th := g.hostSpan(int32(v)).thread
		f.waits[n.rank][th] = append(f.waits[n.rank][th], g.ranks[n.rank].spans[n.owner].end)
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

func (c *changing) fuse(what string, f float64) error {
	matches := c.matcher(what)
	free := make([]map[int32]bool, len(c.g.ranks)) // spans that cost nothing
	for i := range free {
		free[i] = make(map[int32]bool)
	}
	can := c.g.fusing()
	for _, vs := range c.g.streams {
		for i := 0; i < len(vs); {
			k, sum := i, int64(0)
			for ; k < len(vs) && matches(c.g.nodes[vs[k]].rank, c.g.work(vs[k]).a.Name) && (k == i || can.joins(vs[k-1], vs[k])); k++ {
				sum += c.g.dur[vs[k]]
			}
			if k-i > 1 {
				c.set(vs[i], scaled(sum, f))
				for _, v := range vs[i+1 : k] {
					c.mark(v, isRemoved)
					if l := c.g.launchOf(v); l != nil {
						src := c.g.ranks[l.rank]
						free[l.rank][l.span] = true
						if p := src.parent(&src.spans[l.span]); p != nil && p.kind == trace.CPUOp {
							free[l.rank][src.spans[l.span].parent] = true
						}
					}
				}
			}
			i = max(k, i+1)
		}
	}
	c.each(false, func(v int32, n *node) {
		if n.owner != none && free[n.rank][n.owner] {
			c.set(v, 0)
		}
	})
	return nil
}
