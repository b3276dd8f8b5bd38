package forecast

import (
	"assay/analyze/critical"
	"assay/analyze/critical/change"
	"assay/analyze/critical/graph"
)

func (c *changing) graph(what string, f float64) error {
	inside := make([][]bool, len(c.g.Ranks)) // spans within an outermost operator that launches
	outer := make([][]int32, len(c.g.Ranks)) // by span: the outermost operator around it
	for r, src := range c.g.Ranks {
		inside[r], outer[r] = make([]bool, len(src.Spans)), make([]int32, len(src.Spans))
		for i := range src.Spans { // parents come first
			x := &src.Spans[i]
			if outer[r][i] = x.Op; x.Parent != graph.None && outer[r][x.Parent] != graph.None {
				outer[r][i] = outer[r][x.Parent]
			}
		}
	}
	for i := range c.g.Calls {
		l := &c.g.Calls[i]
		root := outer[l.Rank][l.Span]
		if root == graph.None {
			root = l.Span
		}
		inside[l.Rank][root] = true
	}
	for r, src := range c.g.Ranks {
		for i := range src.Spans {
			if p := src.Spans[i].Parent; p != graph.None && inside[r][p] {
				inside[r][i] = true
			}
		}
	}
	c.each(false, func(v int32, n *graph.Node) {
		if n.Flags&(graph.Blocks|graph.IsJoin|graph.IsArrival) == 0 && n.Owner != graph.None && inside[n.Rank][n.Owner] {
			c.set(v, 0)
		}
	})
	c.each(true, func(v int32, _ *graph.Node) {
		if c.g.LaunchOf(v) != nil {
			c.mark(v, critical.NoLaunch)
		}
	})
	for i := range c.g.Steps {
		s := &c.g.Steps[i]
		if what == change.WholeStep {
			c.between(s)
		}
		first, at := graph.None, int64(0)
		for _, v := range s.Ends {
			if c.g.Nodes[v].Flags&graph.IsGPU == 0 || c.g.LaunchOf(v) == nil {
				continue
			}
			if l := c.g.LaunchOf(v); first == graph.None || c.g.Ranks[l.Rank].Spans[l.Span].Start < at {
				first, at = v, c.g.Ranks[l.Rank].Spans[l.Span].Start
			}
		}
		if first != graph.None {
			c.set(c.g.LaunchOf(first).Node, int64(f*graph.Us))
			c.r.Flags[first] &^= critical.NoLaunch // as all with a launch, it is touched
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
func (g *Model) launching(s *graph.Step) map[lane][2]int32 {
	out := make(map[lane][2]int32)
	for _, v := range s.Ends {
		if g.Nodes[v].Flags&graph.IsGPU == 0 || g.LaunchOf(v) == nil {
			continue
		}
		l := g.LaunchOf(v)
		key := lane{l.Rank, g.Ranks[l.Rank].Spans[l.Span].Thread}
		r, ok := out[key]
		if !ok {
			r = [2]int32{l.Node, l.Node}
		}
		out[key] = [2]int32{min(r[0], l.Node), max(r[1], l.Node)}
	}
	return out
}

// between takes away what the threads of a step do between their first launch and their last, but waits.
func (c *changing) between(s *graph.Step) {
	for _, r := range c.g.launching(s) {
		for v := r[0]; v <= r[1]; v++ {
			if n := &c.g.Nodes[v]; n.Flags&(graph.IsGPU|graph.Blocks|graph.IsJoin|graph.IsArrival) == 0 && n.Class != graph.DataLoader && n.Class != graph.Comm {
				c.set(v, 0)
			}
		}
	}
}

// waitsInside reports whether a thread waits for the GPU between its first launch in a step and its last.
func (g *Model) waitsInside(s *graph.Step) bool {
	for _, r := range g.launching(s) {
		for v := r[0]; v < r[1]; v++ {
			if g.Nodes[v].Flags&graph.Blocks != 0 {
				return true
			}
		}
	}
	return false
}
