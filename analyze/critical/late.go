package critical

import (
	"fmt"
	"slices"

	"assay/analyze/critical/change"
	"assay/internal/interval"
)

// onTime lets no rank wait for one: it comes to each collective as the last of the others does.
func (c *changing) onTime(_ string, f float64) error {
	rank := slices.IndexFunc(c.g.ranks, func(s *source) bool { return float64(s.rank) == f })
	if len(c.g.ranks) < 2 {
		return fmt.Errorf("--on-time %g needs several ranks that are joined by their collectives", f)
	} else if rank < 0 {
		return fmt.Errorf("--on-time %g: there is no such rank", f)
	}
	c.r.onTime, c.any = int32(rank), true
	return nil
}

// LateRank returns the rank, in the order of [Join], for which a step waits longest in collectives, and how long.
func (g *Graph) LateRank(window interval.Span, of int) (late int, waited int64) {
	by := make([]int64, len(g.ranks))
	for v := range g.nodes {
		n := &g.nodes[v]
		if n.class != Comm || int(n.rank) != of || n.first == none || g.extra[n.first].kind != collective || g.start[v] < window.Start || g.start[v] >= window.End {
			continue
		}
		last, before, from := int64(-far), int64(-far), 0 // the latest arrival and that before it
		for e := n.first; e != none; e = g.extra[e].next {
			x := &g.extra[e]
			if at := g.start[x.src]; x.kind != collective {
			} else if at > last {
				last, before, from = at, last, int(g.nodes[x.src].rank)
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
	if len(g.ranks) < 2 || p.Verdict.Level == Abstain || waited*muchLate < p.Window.Len() {
		return Trial{}, false
	}
	if p.Rank == late {
		at := g.sameStep(r.step, late)
		if at < 0 {
			return Trial{}, false
		}
		r = NewReplayer(g, r.paths, at)
	}
	list := r.Each([]change.Change{ask("on-time", fmt.Sprint(g.ranks[late].rank))})
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
func (g *Graph) sameStep(i, rank int) int {
	nth := make([]int, len(g.ranks))
	number := make([]int, len(g.Steps))
	for k, s := range g.Steps {
		number[k] = nth[s.rank]
		nth[s.rank]++
	}
	best, longest := -1, int64(-1)
	t := g.measured()
	for k, span := range g.lengths(&t) {
		if g.Steps[k].rank != rank && number[k] == number[i] && span.Len() > longest {
			best, longest = k, span.Len()
		}
	}
	return best
}
