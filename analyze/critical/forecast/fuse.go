package forecast

import (
	"slices"

	"assay/analyze/critical"
	"assay/analyze/critical/change"
	"assay/analyze/critical/graph"
	"assay/trace"
)

// A fusing finds the works that can become one.
type fusing struct {
	g     *Model
	step  []int32 // of works: plus 1
	waits []map[int32][]int64
}

func (g *Model) fusing() *fusing {
	f := &fusing{g: g, step: make([]int32, len(g.Nodes)), waits: make([]map[int32][]int64, len(g.Ranks))}
	for i, s := range g.Steps {
		for _, v := range s.Ends {
			f.step[v] = int32(i) + 1
		}
	}
	for v := range g.Nodes {
		n := &g.Nodes[v]
		call := g.HostSpan(int32(v)) // nil if it is idle time that waited
		if n.Flags&graph.IsJoin == 0 || n.First == graph.None || call == nil || g.Extra[n.First].Kind == graph.Queue {
			continue
		}
		if f.waits[n.Rank] == nil {
			f.waits[n.Rank] = make(map[int32][]int64)
		}
		f.waits[n.Rank][call.Thread] = append(f.waits[n.Rank][call.Thread], call.End)
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
	a, b := f.g.SpanOf(u), f.g.SpanOf(v)
	if a == nil || b == nil || f.step[u] != f.step[v] {
		return a == b
	}
	rank := f.g.Nodes[v].Rank
	ends := f.waits[rank][b.Thread]
	i, _ := slices.BinarySearch(ends, a.Start)
	return i == len(ends) || ends[i] > b.Start
}

// runs returns a function that finds the end of the works from i that match: as many as do in a row, or those of a
// chain of operators, in their order.
func (c *changing) runs(what string) func(vs []int32, i int) int {
	chain := change.Chain(what)
	if chain == nil {
		matches := c.matcher(what)
		return func(vs []int32, i int) int {
			for i < len(vs) && matches(c.g.Nodes[vs[i]].Rank, c.g.Work(vs[i]).A.Name) {
				i++
			}
			return i
		}
	}
	operator := func(v int32) int32 {
		if s := c.g.SpanOf(v); s != nil {
			return s.Op
		}
		return graph.None
	}
	return func(vs []int32, i int) int {
		k := i
		for _, name := range chain {
			if k == len(vs) || c.g.Operator(vs[k]) != name {
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
	free := make([][]bool, len(c.g.Ranks)) // spans that cost nothing
	for i := range free {
		free[i] = make([]bool, len(c.g.Ranks[i].Spans))
	}
	if c.can == nil {
		c.can = c.g.fusing()
	}
	for _, vs := range c.g.Streams {
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
	c.each(false, func(v int32, n *graph.Node) {
		if n.Owner != graph.None && free[n.Rank][n.Owner] {
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
	sum := c.g.Dur[first]
	for _, v := range others {
		sum += c.g.Dur[v]
		c.mark(v, critical.IsRemoved)
		if l := c.g.LaunchOf(v); l != nil {
			src := c.g.Ranks[l.Rank]
			free[l.Rank][l.Span] = true
			if p := src.Parent(&src.Spans[l.Span]); p != nil && p.Kind == trace.CPUOp {
				free[l.Rank][src.Spans[l.Span].Parent] = true
			}
		}
	}
	c.set(first, graph.Scaled(sum, f))
}
