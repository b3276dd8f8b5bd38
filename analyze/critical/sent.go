package critical

import (
	"cmp"
	"math"
	"slices"

	"assay/analyze/critical/graph"
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

// A transfer is communication of a GPU, in nodes of the graph. Of a collective that is not matched, both are its node.
type transfer struct {
	rank         uint16
	arrival, end int32
	slack        int64 // see [Sent]
}

// Sent returns the communication of GPUs that starts in the step of a path, in the order of time.
func (g *Program) Sent(p *Path) (out []Sent) {
	if g.transfers == nil {
		g.transfers = g.transfersOf()
	}
	for _, x := range g.transfers[g.firstTransfer(p.Rank, p.Window.Start):g.firstTransfer(p.Rank, p.Window.End)] {
		v := x.arrival
		out = append(out, Sent{Name: g.Name(v), Span: interval.Span{Start: g.Start[v], End: g.End(x.end)}, Late: g.LateLaunch(v), Slack: x.slack})
	}
	slices.SortFunc(out, func(a, b Sent) int {
		return cmp.Or(cmp.Compare(a.Span.Start, b.Span.Start), cmp.Compare(a.Span.End, b.Span.End), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// firstTransfer returns the number of the first transfer of a rank that starts at a time or later.
func (g *Program) firstTransfer(rank int, at int64) int {
	i, _ := slices.BinarySearchFunc(g.transfers, at, func(x transfer, at int64) int {
		return cmp.Or(cmp.Compare(int(x.rank), rank), cmp.Compare(g.Start[x.arrival], at))
	})
	return i
}

// transfersOf returns all communication of GPUs by rank and start.
func (g *Program) transfersOf() (out []transfer) {
	type key struct {
		rank  uint16
		owner int32
	}
	arrivals, transfers := map[key]int32{}, map[key]int32{}
	for v := range g.Nodes {
		if n, v := &g.Nodes[v], int32(v); g.sends(v) {
			of := key{n.Rank, n.Owner}
			if _, ok := arrivals[of]; !ok || n.Flags&graph.IsMatched != 0 {
				arrivals[of] = v
			}
			if n.Flags&graph.IsMatched == 0 {
				transfers[of] = v
			}
		}
	}
	slack := map[int32]int64{} // of nodes that something waits for
	for _, u := range slices.Backward(g.Order) {
		n := &g.Nodes[u]
		wait := func(src int32, k graph.Kind, typ int64, binds bool) {
			if src == graph.None || !k.FromEnd() || !g.sends(src) {
				return
			}
			spare := int64(0)
			if !binds {
				spare = max(0, g.Start[u]-g.End(src)-typ)
			}
			if g.sends(u) {
				behind, ok := slack[transfers[key{n.Rank, n.Owner}]]
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
		for e := n.First; e != graph.None; e = g.Extra[e].Next {
			x := &g.Extra[e]
			bound = bound && !x.Binds
			wait(x.Src, x.Kind, x.Typ, x.Binds)
		}
		wait(n.Pred, g.ChainKind(u), g.Typ(u), bound)
	}
	for of, v := range arrivals {
		x := transfer{of.rank, v, transfers[of], -1}
		if ns, ok := slack[x.end]; ok {
			x.slack = ns
		}
		out = append(out, x)
	}
	slices.SortFunc(out, func(a, b transfer) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(g.Start[a.arrival], g.Start[b.arrival]))
	})
	return out
}

// sends reports whether a node is communication of a GPU.
func (g *Program) sends(v int32) bool {
	n := &g.Nodes[v]
	return n.Class == graph.Comm && n.Flags&graph.IsGPU != 0
}

// LateLaunch returns how much earlier work could have started if it, and what prepares it, had been launched in time: see [Sent.Late].
func (g *Program) LateLaunch(v int32) int64 {
	const unknown = math.MinInt64
	ready, bound, before := int64(unknown), false, graph.None
	for _, u := range append(g.Prepares(v), v) {
		n := &g.Nodes[u]
		if n.First == graph.None || g.Extra[n.First].Kind != graph.Launch {
			return 0
		}
		switch {
		case before != graph.None: // of those that prepare it, each follows the one before
			ready += g.Dur[before] + g.Typ(u)
		case n.Pred != graph.None:
			ready = g.End(n.Pred) + g.Typ(u)
		}
		for e := g.Extra[n.First].Next; e != graph.None; e = g.Extra[e].Next {
			x := &g.Extra[e]
			ready = max(ready, g.From(x.Src, x.Kind)+x.Typ)
		}
		if bound = bound || g.Extra[n.First].Binds; ready == unknown {
			break
		}
		before = u
	}
	if !bound {
		return 0
	}
	if ready == unknown || g.Counts.UnorderedStreams || g.readsBack(g.Extra[g.Nodes[v].First].Src, ready) {
		return -1
	}
	return max(0, g.Start[v]-ready)
}

// mostPrepare is how many works prepare communication at most: copies and casts of its input.
const mostPrepare = 4

// Prepares returns the work that copies or casts the input of communication, if a stream of communication runs it: all since the communication before.
func (g *Program) Prepares(v int32) (out []int32) {
	if !g.sends(v) || !g.mostlySends(v) {
		return nil
	}
	u := g.Nodes[v].Pred
	for ; u != graph.None && g.Nodes[u].Class != graph.Comm; u = g.Nodes[u].Pred {
		if g.Nodes[u].Flags&graph.IsGPU == 0 || g.LaunchOf(u) == nil || len(out) == mostPrepare {
			return nil
		}
		out = append(out, u)
	}
	slices.Reverse(out)
	return out
}

// mostlySends reports whether most of the time of the stream of some work is communication.
func (g *Program) mostlySends(v int32) bool {
	g.findSending.Do(func() {
		g.sending = make(map[[2]int32]int64)
		for u := range g.Nodes {
			if n := &g.Nodes[u]; n.Flags&graph.IsGPU != 0 {
				ns := g.Dur[u]
				if n.Class != graph.Comm {
					ns = -ns
				}
				g.sending[g.streamOf(int32(u))] += ns
			}
		}
	})
	return g.sending[g.streamOf(v)] > 0
}

func (g *Program) streamOf(v int32) [2]int32 {
	return [2]int32{int32(g.Nodes[v].Rank), g.Work(v).Stream}
}

// readsBack reports whether the host waited for a copy between a time and one of its nodes: what it launches may depend on what it read.
func (g *Program) readsBack(v int32, since int64) bool {
	for ; v != graph.None && g.End(v) > since; v = g.Nodes[v].Pred {
		for e := g.Nodes[v].First; e != graph.None; e = g.Extra[e].Next {
			if src := g.Extra[e].Src; g.Nodes[src].Class == graph.Copy && g.Nodes[src].Flags&graph.IsGPU != 0 {
				return true
			}
		}
	}
	return false
}
