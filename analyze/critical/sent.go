package critical

import (
	"cmp"
	"math"
	"slices"

	"assay/internal/interval"
)

// A Sent is one piece of communication of a GPU, and when it could have run. Times are those of the graph.
type Sent struct {
	Name string
	Span interval.Span
	// Late is how much earlier it could have started if it had been launched in time: when what it waits for on the GPU was done. It is 0 if
	// its launch did not determine its start, and negative if it is not known what it needs: nothing comes
	// before it on the GPU, no event orders the streams, or the host read a result before it launched this.
	Late int64
	// Slack is how much later it could have ended without delaying what waits for it, also through communication behind it on its
	// stream. It is negative if nothing does.
	Slack int64
}

// Sent returns the communication of GPUs that starts in the step of a path, in the order of time.
func (g *Graph) Sent(p *Path) (out []Sent) {
	type key struct {
		rank  uint16
		owner int32
	}
	arrivals, transfers := map[key]int32{}, map[key]int32{} // of collectives that are not matched, both are their node
	for v := range g.nodes {
		if n, v := &g.nodes[v], int32(v); g.sends(v) {
			of := key{n.rank, n.owner}
			if _, ok := arrivals[of]; !ok || n.flags&isMatched != 0 {
				arrivals[of] = v
			}
			if n.flags&isMatched == 0 {
				transfers[of] = v
			}
		}
	}
	slack := map[int32]int64{} // of nodes that something waits for
	for _, u := range slices.Backward(g.order) {
		n := &g.nodes[u]
		wait := func(src int32, k kind, typ int64, binds bool) {
			if src == none || !k.fromEnd() || !g.sends(src) {
				return
			}
			spare := int64(0)
			if !binds {
				spare = max(0, g.start[u]-g.end(src)-typ)
			}
			if g.sends(u) {
				behind, ok := slack[transfers[key{n.rank, n.owner}]]
				if !ok {
					return
				}
				spare += behind
			}
			if was, ok := slack[src]; !ok || spare < was {
				slack[src] = spare
			}
		}
		bound := true // by the chain
		for e := n.first; e != none; e = g.extra[e].next {
			x := &g.extra[e]
			bound = bound && !x.binds
			wait(x.src, x.kind, x.typ, x.binds)
		}
		wait(n.pred, g.chainKind(u), g.typ(u), bound)
	}
	for of, v := range arrivals {
		end := transfers[of]
		if int(of.rank) != p.Rank || g.start[v] < p.Window.Start || g.start[v] >= p.Window.End {
			continue
		}
		s := Sent{Name: g.name(v), Span: interval.Span{Start: g.start[v], End: g.end(end)}, Late: g.lateLaunch(v), Slack: -1}
		if ns, ok := slack[end]; ok {
			s.Slack = ns
		}
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b Sent) int {
		return cmp.Or(cmp.Compare(a.Span.Start, b.Span.Start), cmp.Compare(a.Span.End, b.Span.End), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// sends reports whether a node is communication of a GPU.
func (g *Graph) sends(v int32) bool {
	n := &g.nodes[v]
	return n.class == Comm && n.flags&isGPU != 0
}

// lateLaunch returns how much earlier work could have started if it had been launched in time, see [Sent.Late].
func (g *Graph) lateLaunch(v int32) int64 {
	n := &g.nodes[v]
	if n.first == none || g.extra[n.first].kind != launch || !g.extra[n.first].binds {
		return 0
	}
	ready := int64(math.MinInt64)
	if n.pred != none {
		ready = g.end(n.pred) + g.typ(v)
	}
	for e := g.extra[n.first].next; e != none; e = g.extra[e].next {
		x := &g.extra[e]
		ready = max(ready, g.from(x.src, x.kind)+x.typ)
	}
	if ready == math.MinInt64 || g.Counts.UnorderedStreams || g.readsBack(g.extra[n.first].src, ready) {
		return -1
	}
	return max(0, g.start[v]-ready)
}

// readsBack reports whether the host waited for a copy between a time and one of its nodes: what it launches may depend on what it read.
func (g *Graph) readsBack(v int32, since int64) bool {
	for ; v != none && g.end(v) > since; v = g.nodes[v].pred {
		for e := g.nodes[v].first; e != none; e = g.extra[e].next {
			if src := g.extra[e].src; g.nodes[src].class == Copy && g.nodes[src].flags&isGPU != 0 {
				return true
			}
		}
	}
	return false
}

// early lets communication start when what it waits for on the GPU is done: as if it was launched in time.
func (c *changing) early(re string, _ float64) error {
	c.work(re, func(v int32, n *node) {
		if n.class == Comm && c.g.lateLaunch(v) > 0 {
			c.mark(v, noLaunch)
		}
	})
	return nil
}
