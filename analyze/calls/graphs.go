package calls

import (
	"hash/maphash"

	"assay/analyze/gpu"
	"assay/internal/interval"
	"assay/summary"
	"assay/trace"
)

// Graphs sums the launches of CUDA and HIP graphs, by graph and device.
func (c *Calls) Graphs() (out []summary.Graph) {
	for _, d := range c.tl.Devices {
		out = append(out, c.graphsOn(d)...)
	}
	return append(out, c.opaqueGraphs()...)
}

// graphsOn sums the graph launches on a device. Launches with the same work in the same order are
// one graph. A graph without recorded work gets a row that only counts launches.
func (c *Calls) graphsOn(d *gpu.Device) (out []summary.Graph) {
	if len(c.graphs) == 0 {
		return nil
	}
	launches := make([]bool, len(c.links.List))
	for _, i := range c.graphs {
		launches[i] = true
	}
	byLink := make(map[int32][]gpu.Work)
	var order []int32
	for _, w := range d.Work {
		i := c.links.Of[w.Number]
		if i < 0 || !launches[i] || !c.tl.Starts(w) {
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
	busy := c.busyOn(d)
	index := make(map[uint64]int)
	seed := maphash.MakeSeed()
	for _, i := range order {
		nodes := byLink[i]
		id := c.sequence(seed, nodes)
		at, ok := index[id]
		if !ok {
			at = len(out)
			index[id] = at
			first := c.tl.Activity(nodes[0]).Name
			out = append(out, summary.Graph{
				ID: int64(at) + 1, Device: d.Ordinal,
				Call: c.t.Name(c.links.Call(i).Name), First: c.t.Name(first), Opaque: c.tl.IsWholeGraph(first),
			})
		}
		c.addLaunch(&out[at], busy, i, nodes)
	}
	return out
}

// sequence returns a hash of the work of a launch: streams and names, in order.
func (c *Calls) sequence(seed maphash.Seed, nodes []gpu.Work) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for _, w := range nodes {
		maphash.WriteComparable(&h, [2]int64{int64(c.tl.Activity(w).Name), c.tl.Stream(w)})
	}
	return h.Sum64()
}

// addLaunch adds one launch to its graph.
func (c *Calls) addLaunch(g *summary.Graph, busy *busyTimes, i int32, nodes []gpu.Work) {
	call := c.links.Time(i)
	span := interval.Span{Start: nodes[0].Start, End: nodes[0].End()}
	for _, w := range nodes {
		span.End = max(span.End, w.End())
		g.WorkNS = summary.Plus(g.WorkNS, w.Dur)
	}
	g.Launches++
	g.Nodes = max(g.Nodes, int64(len(nodes)))
	g.SpanNS = summary.Plus(g.SpanNS, span.Len())
	g.IdleNS = summary.Plus(g.IdleNS, busy.idle(span))
	g.DelayNS = summary.Plus(g.DelayNS, interval.Span{Start: call.End, End: span.Start}.Len())
	g.CallNS = summary.Plus(g.CallNS, call.End-call.Start)
}

// opaqueGraphs sums the graph launches without recorded work, by the name of the call. They count
// for the only device; with several devices the device is unknown, so they count for none.
func (c *Calls) opaqueGraphs() (out []summary.Graph) {
	index := make(map[trace.Sym]int)
	device := int64(-1)
	if len(c.tl.Devices) == 1 {
		device = c.tl.Devices[0].Ordinal
	}
	for _, call := range c.opaque {
		at, ok := index[call.Name]
		if !ok {
			at = len(out)
			index[call.Name] = at
			out = append(out, summary.Graph{ID: -int64(at) - 1, Device: device, Call: c.t.Name(call.Name), Opaque: true})
		}
		out[at].Launches++
		out[at].CallNS = summary.Plus(out[at].CallNS, call.Dur)
	}
	return out
}
