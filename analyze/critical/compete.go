package critical

import (
	"sort"

	"assay/internal/interval"
)

// mostlyCompeting is the share of the unexplained time of a path, in percent, during which kernels of other streams ran
// if streams are said to compete.
const mostlyCompeting = 80

// competing returns how much of the unexplained time of a path kernels waited for which another stream of their GPU ran
// kernels, in percent.
func (g *Graph) competing(p *Path) float64 {
	beside := int64(0)
	g.Each(p, func(x Piece) {
		if n := &g.nodes[x.node]; x.class == Unexplained && n.flags&isGPU != 0 && n.class != Copy {
			beside += g.beside(x.node, x.Span)
		}
	})
	return percent(beside, p.Classes[Unexplained])
}

// beside returns how much of a time another stream of the GPU of v ran kernels: the stream that did most.
func (g *Graph) beside(v int32, span interval.Span) (most int64) {
	of := func(u int32) (rank uint16, device int64) {
		n := &g.nodes[u]
		return n.rank, g.ranks[n.rank].t.Tracks[g.work(u).a.Track].Device
	}
	rank, device := of(v)
	stream := g.work(v).stream
	for i, vs := range g.streams {
		if r, d := of(vs[0]); int32(i) == stream || r != rank || d != device {
			continue
		}
		sum := int64(0)
		k := sort.Search(len(vs), func(k int) bool { return g.end(vs[k]) > span.Start })
		for ; k < len(vs) && g.start[vs[k]] < span.End; k++ {
			if g.nodes[vs[k]].class != Copy {
				sum += min(g.end(vs[k]), span.End) - max(g.start[vs[k]], span.Start)
			}
		}
		most = max(most, sum)
	}
	return most
}
