package critical

import (
	"sort"

	"assay/analyze/critical/graph"
	"assay/internal/interval"
)

// mostlyCompeting is the share of the unexplained time of a path, in percent, during which kernels of other streams ran
// if streams are said to compete.
const mostlyCompeting = 80

// competing returns how much of the unexplained time of a path kernels waited for which another stream of their GPU ran
// kernels, in percent.
func (g *Program) competing(p *Path) float64 {
	beside := int64(0)
	g.Each(p, func(x Piece) {
		if n := &g.Nodes[x.Node]; x.Class == graph.Unexplained && n.Flags&graph.IsGPU != 0 && n.Class != graph.Copy {
			beside += g.beside(x.Node, x.Span)
		}
	})
	return graph.Percent(beside, p.Classes[graph.Unexplained])
}

// beside returns how much of a time another stream of the GPU of v ran kernels: the stream that did most.
func (g *Program) beside(v int32, span interval.Span) (most int64) {
	of := func(u int32) (rank uint16, device int64) {
		n := &g.Nodes[u]
		return n.Rank, g.Ranks[n.Rank].T.Tracks[g.Work(u).A.Track].Device
	}
	rank, device := of(v)
	stream := g.Work(v).Stream
	for i, vs := range g.Streams {
		if r, d := of(vs[0]); int32(i) == stream || r != rank || d != device {
			continue
		}
		sum := int64(0)
		k := sort.Search(len(vs), func(k int) bool { return g.End(vs[k]) > span.Start })
		for ; k < len(vs) && g.Start[vs[k]] < span.End; k++ {
			if g.Nodes[vs[k]].Class != graph.Copy {
				sum += min(g.End(vs[k]), span.End) - max(g.Start[vs[k]], span.Start)
			}
		}
		most = max(most, sum)
	}
	return most
}
