package analyze

import (
	"hash/maphash"

	"assay/interval"
	"assay/summary"
	"assay/trace"
)

// graphs sums up the launches of CUDA and HIP graphs on a device: those whose
// call ran the same work in the same order are one graph. A graph whose work was
// not recorded gets a row with its launches only.
func (a *attribution) graphs(d *device, rank int) (out []summary.Graph) {
	byLink := make(map[int32][]work)
	var order []int32
	for _, w := range d.work {
		i := a.link.of[w.number]
		if i < 0 || !a.isGraphLaunch(i) {
			continue
		}
		if byLink[i] == nil {
			order = append(order, i)
		}
		byLink[i] = append(byLink[i], w)
	}
	if len(order) == 0 {
		return nil
	}
	busy := busyOf(d.layers[:])
	index := make(map[uint64]int)
	seed := maphash.MakeSeed()
	for _, i := range order {
		nodes := byLink[i]
		id := a.sequence(seed, nodes)
		at, ok := index[id]
		if !ok {
			at = len(out)
			index[id] = at
			first := a.tl.activity(nodes[0]).Name
			out = append(out, summary.Graph{
				ID: int64(at) + 1, Rank: rank, Device: d.ordinal,
				Call: a.t.Name(a.link.list[i].call.Name), First: a.t.Name(first), Opaque: a.tl.isWholeGraph(first),
			})
		}
		a.addLaunch(&out[at], &busy, i, nodes)
	}
	return out
}

// isWholeGraph reports whether work of a name is all work of a graph's launch.
func (tl *timeline) isWholeGraph(name trace.Sym) bool { return name != 0 && name == tl.wholeGraph }

// isGraphLaunch reports whether a link is the launch of a graph.
func (a *attribution) isGraphLaunch(i int32) bool {
	c := a.link.list[i].call
	return c != nil && a.sync.kind(a.t, c.Name) == "graph-launch"
}

// sequence returns a number for the work of one launch, by stream and name.
func (a *attribution) sequence(seed maphash.Seed, nodes []work) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for _, w := range nodes {
		maphash.WriteComparable(&h, [2]int64{int64(a.tl.activity(w).Name), a.tl.stream(w)})
	}
	return h.Sum64()
}

// addLaunch adds one launch to its graph.
func (a *attribution) addLaunch(g *summary.Graph, busy *busyTimes, i int32, nodes []work) {
	start, end, _ := a.link.time(i)
	span := interval.Span{Start: nodes[0].Start, End: nodes[0].End()}
	for _, w := range nodes {
		span.End = max(span.End, w.End())
		g.WorkNS = summary.Plus(g.WorkNS, w.Dur)
	}
	g.Launches++
	g.Nodes = max(g.Nodes, int64(len(nodes)))
	g.SpanNS = summary.Plus(g.SpanNS, span.Len())
	g.IdleNS = summary.Plus(g.IdleNS, busy.idle(span))
	g.DelayNS = summary.Plus(g.DelayNS, interval.Span{Start: end, End: span.Start}.Len())
	g.CallNS = summary.Plus(g.CallNS, end-start)
}

// opaqueGraphs sums up the launches of graphs whose work was not recorded, by
// their call. They count for the only device; with several devices, for none.
func (a *attribution) opaqueGraphs(rank int) (out []summary.Graph) {
	index := make(map[trace.Sym]int)
	device := int64(-1)
	if len(a.tl.devices) == 1 {
		device = a.tl.devices[0].ordinal
	}
	for _, c := range opaqueLaunches(a) {
		at, ok := index[c.Name]
		if !ok {
			at = len(out)
			index[c.Name] = at
			out = append(out, summary.Graph{ID: -int64(at) - 1, Rank: rank, Device: device, Call: a.t.Name(c.Name), Opaque: true})
		}
		out[at].Launches++
		out[at].CallNS = summary.Plus(out[at].CallNS, c.Dur)
	}
	return out
}
