package forecast

import (
	"fmt"
	"slices"

	"assay/analyze/critical"
	"assay/analyze/critical/change"
	"assay/analyze/critical/graph"
	"assay/internal/interval"
)

// onTime lets no rank wait for one: it comes to each collective as the last of the others does.
func (c *changing) onTime(_ string, f float64) error {
	rank := slices.IndexFunc(c.g.Ranks, func(s *graph.Source) bool { return float64(s.Rank) == f })
	if len(c.g.Ranks) < 2 {
		return fmt.Errorf("--on-time %g needs several ranks that are joined by their collectives", f)
	} else if rank < 0 {
		return fmt.Errorf("--on-time %g: there is no such rank", f)
	}
	c.r.OnTime, c.any = int32(rank), true
	return nil
}

// LateRank returns the rank, in the order of [Join], for which a step waits longest in collectives, and how long.
func (g *Model) LateRank(window interval.Span, of int) (late int, waited int64) {
	by := make([]int64, len(g.Ranks))
	for v := range g.Nodes {
		n := &g.Nodes[v]
		if n.Class != graph.Comm || int(n.Rank) != of || n.First == graph.None || g.Extra[n.First].Kind != graph.Collective || g.Start[v] < window.Start || g.Start[v] >= window.End {
			continue
		}
		last, before, from := int64(-graph.Far), int64(-graph.Far), 0 // the latest arrival and that before it
		for e := n.First; e != graph.None; e = g.Extra[e].Next {
			x := &g.Extra[e]
			if at := g.Start[x.Src]; x.Kind != graph.Collective {
			} else if at > last {
				last, before, from = at, last, int(g.Nodes[x.Src].Rank)
			} else {
				before = max(before, at)
			}
		}
		by[from] += last - max(before, window.Start)
	}
	for r, ns := range by {
		if ns > waited {
			late, waited = r, ns
		}
	}
	return late, waited
}

// OnTime returns the forecast for the step of a rank that is late no longer, or nothing if no rank is late for much of the
// step. That of the late rank itself is then as long as the others': it no longer does what made it late.
func (r *Replayer) OnTime() (t Trial, ok bool) {
	g, p := r.g, r.path
	late, waited := g.LateRank(p.Window, p.Rank)
	if len(g.Ranks) < 2 || p.Verdict.Level == critical.Abstain || waited*muchLate < p.Window.Len() {
		return Trial{}, false
	}
	if p.Rank == late {
		at := g.sameStep(r.step, late)
		if at < 0 {
			return Trial{}, false
		}
		r = NewReplayer(g, r.paths, at)
	}
	list := r.Each([]change.Change{ask("on-time", fmt.Sprint(g.Ranks[late].Rank))})
	if len(list) == 0 {
		return Trial{}, false
	}
	t = list[0]
	t.Measured = p.Window.Len()
	return t, true
}

// muchLate is the part of a step that ranks wait for one at least, if it is said to be late: a twentieth.
const muchLate = 20

// sameStep returns the step of another rank that is as many steps after its first as step i of a rank, the longest of
// them, or -1.
func (g *Model) sameStep(i, rank int) int {
	nth := make([]int, len(g.Ranks))
	number := make([]int, len(g.Steps))
	for k, s := range g.Steps {
		number[k] = nth[s.Rank]
		nth[s.Rank]++
	}
	best, longest := -1, int64(-1)
	t := g.Measured()
	for k, span := range g.Lengths(&t) {
		if g.Steps[k].Rank != rank && number[k] == number[i] && span.Len() > longest {
			best, longest = k, span.Len()
		}
	}
	return best
}
