package critical

import "assay/analyze/critical/change"

func (c *changing) graph(what string, f float64) error {
	inside := make([][]bool, len(c.g.ranks)) // spans within an outermost operator that launches
	outer := make([][]int32, len(c.g.ranks)) // by span: the outermost operator around it
	for r, src := range c.g.ranks {
		inside[r], outer[r] = make([]bool, len(src.spans)), make([]int32, len(src.spans))
		for i := range src.spans { // parents come first
			x := &src.spans[i]
			if outer[r][i] = x.op; x.parent != none && outer[r][x.parent] != none {
				outer[r][i] = outer[r][x.parent]
			}
		}
	}
	for i := range c.g.calls {
		l := &c.g.calls[i]
		root := outer[l.rank][l.span]
		if root == none {
			root = l.span
		}
		inside[l.rank][root] = true
	}
	for r, src := range c.g.ranks {
		for i := range src.spans {
			if p := src.spans[i].parent; p != none && inside[r][p] {
				inside[r][i] = true
			}
		}
	}
	c.each(false, func(v int32, n *node) {
		if n.flags&(blocks|isJoin|isArrival) == 0 && n.owner != none && inside[n.rank][n.owner] {
			c.set(v, 0)
		}
	})
	c.each(true, func(v int32, _ *node) {
		if c.g.launchOf(v) != nil {
			c.mark(v, noLaunch)
		}
	})
	for i := range c.g.Steps {
		s := &c.g.Steps[i]
		if what == change.WholeStep {
			c.between(s)
		}
		first, at := none, int64(0)
		for _, v := range s.ends {
			if c.g.nodes[v].flags&isGPU == 0 || c.g.launchOf(v) == nil {
				continue
			}
			if l := c.g.launchOf(v); first == none || c.g.ranks[l.rank].spans[l.span].start < at {
				first, at = v, c.g.ranks[l.rank].spans[l.span].start
			}
		}
		if first != none {
			c.set(c.g.launchOf(first).node, int64(f*us))
			c.r.flags[first] &^= noLaunch // as all with a launch, it is touched
		}
	}
	return nil
}

// A lane is a thread of a rank.
type lane struct {
	rank   int
	thread int32
}

// launching returns the first and the last launch call of each thread in a step. The nodes of a thread follow
// each other.
func (g *Graph) launching(s *Step) map[lane][2]int32 {
	out := make(map[lane][2]int32)
	for _, v := range s.ends {
		if g.nodes[v].flags&isGPU == 0 || g.launchOf(v) == nil {
			continue
		}
		l := g.launchOf(v)
		key := lane{l.rank, g.ranks[l.rank].spans[l.span].thread}
		r, ok := out[key]
		if !ok {
			r = [2]int32{l.node, l.node}
		}
		out[key] = [2]int32{min(r[0], l.node), max(r[1], l.node)}
	}
	return out
}

// between takes away what the threads of a step do between their first launch and their last, but waits.
func (c *changing) between(s *Step) {
	for _, r := range c.g.launching(s) {
		for v := r[0]; v <= r[1]; v++ {
			if n := &c.g.nodes[v]; n.flags&(isGPU|blocks|isJoin|isArrival) == 0 && n.class != DataLoader && n.class != Comm {
				c.set(v, 0)
			}
		}
	}
}

// waitsInside reports whether a thread waits for the GPU between its first launch in a step and its last.
func (g *Graph) waitsInside(s *Step) bool {
	for _, r := range g.launching(s) {
		for v := r[0]; v < r[1]; v++ {
			if g.nodes[v].flags&blocks != 0 {
				return true
			}
		}
	}
	return false
}
