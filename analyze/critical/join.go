package critical

import (
	"cmp"
	"slices"

	"assay/trace"
)

// Join returns one graph of several ranks. A collective of all ranks starts when the last of them
// has arrived: its kernel becomes an arrival of no length, and a transfer from the last arrival to
// the kernel's end. The clocks of the ranks are aligned by the ends of their collectives.
func Join(gs []*Graph) *Graph {
	kernels := make([]map[collectiveKey]int32, len(gs))
	for r, g := range gs {
		kernels[r] = g.collectives()
	}
	var keys []collectiveKey
	for k := range kernels[0] {
		if !slices.ContainsFunc(kernels, func(m map[collectiveKey]int32) bool { _, ok := m[k]; return !ok }) {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b collectiveKey) int { return cmp.Compare(kernels[0][a], kernels[0][b]) })
	j := &Graph{typical: gs[0].typical, Counts: gs[0].Counts, last: none}
	bases := make([]int32, len(gs))
	for r, g := range gs {
		offset := int64(0)
		if r > 0 {
			var diffs []int64
			for _, k := range keys {
				diffs = append(diffs, g.nodes[kernels[r][k]].end()-gs[0].nodes[kernels[0][k]].end())
			}
			offset = typicalOf(diffs, 0)
			j.Counts.add(g.Counts)
			j.doubts = append(j.doubts, g.doubts...)
		}
		bases[r] = j.append(g, offset)
	}
	j.Misfit = j.misfit(keys, kernels, bases)
	transfers := make(map[int32]int32)
	for _, k := range keys {
		var arrivals []int32
		last := int64(-1 << 62)
		for r := range gs {
			v := kernels[r][k] + bases[r]
			arrivals = append(arrivals, v)
			last = max(last, j.nodes[v].start)
		}
		for _, v := range arrivals {
			end := j.nodes[v].end()
			n := j.nodes[v]
			x := j.add(min(last, end), end, Comm, n.owner, none, isGPU|n.flags&isGraph)
			j.nodes[x].rank = n.rank
			j.nodes[v].dur = 0
			for _, u := range arrivals {
				j.link(u, x, 0, collective)
			}
			transfers[v] = x
		}
	}
	j.Counts.Collectives = len(keys)
	for v := range j.nodes {
		n := &j.nodes[v]
		if x, ok := transfers[n.pred]; ok && n.pred != none {
			n.pred = x
		}
		for e := n.first; e != none; e = j.extra[e].next {
			if x, ok := transfers[j.extra[e].src]; ok && j.extra[e].kind.fromEnd() {
				j.extra[e].src = x
			}
		}
	}
	for i := range j.Steps {
		for k, v := range j.Steps[i].ends {
			if x, ok := transfers[v]; ok {
				j.Steps[i].ends[k] = x
			}
		}
	}
	j.finish()
	return j
}

// append adds the nodes of one rank, its clock moved back by offset, and returns the number of the
// first.
func (g *Graph) append(o *Graph, offset int64) int32 {
	base, edges, calls, streams := int32(len(g.nodes)), int32(len(g.extra)), int32(len(g.calls)), int32(len(g.streams))
	rank := len(g.ranks)
	move := func(v, by int32) int32 {
		if v == none {
			return none
		}
		return v + by
	}
	for _, n := range o.nodes {
		n.start = within(n.start-offset, far)
		n.pred, n.first, n.rank = move(n.pred, base), move(n.first, edges), uint16(rank)
		g.nodes = append(g.nodes, n)
	}
	for _, e := range o.extra {
		e.src, e.next = e.src+base, move(e.next, edges)
		g.extra = append(g.extra, e)
	}
	src := *o.ranks[0]
	src.works, src.offset = slices.Clone(src.works), offset
	for i := range src.works {
		w := &src.works[i]
		w.call, w.stream = move(w.call, calls), w.stream+streams
	}
	g.ranks = append(g.ranks, &src)
	shift := func(vs []int32) []int32 {
		out := make([]int32, len(vs))
		for i, v := range vs {
			out[i] = v + base
		}
		return out
	}
	for _, c := range o.calls {
		c.rank, c.node, c.works = rank, c.node+base, shift(c.works)
		g.calls = append(g.calls, c)
	}
	for _, vs := range o.streams {
		g.streams = append(g.streams, shift(vs))
	}
	for _, s := range o.Steps {
		s.rank, s.Start, s.ends, s.first = rank, within(s.Start-offset, far), shift(s.ends), move(s.first, base)
		g.Steps = append(g.Steps, s)
	}
	return base
}

// add adds the counts of another rank.
func (c *Counts) add(o Counts) {
	c.GPU += o.GPU
	c.Impossible += o.Impossible
	c.Launches += o.Launches
	c.Graphs += o.Graphs
	c.LaunchesWithoutWork += o.LaunchesWithoutWork
	c.LateSources += o.LateSources
	c.Arrivals += o.Arrivals
	c.UnorderedStreams = c.UnorderedStreams || o.UnorderedStreams
	c.EdgesDropped += o.EdgesDropped
	c.LaunchSamples = min(c.LaunchSamples, o.LaunchSamples)
	c.GapSamples = min(c.GapSamples, o.GapSamples)
	c.Inferred += o.Inferred
	c.Events += o.Events
	c.Blocking += o.Blocking
	c.Blocked += o.Blocked
	c.DeviceWaits += o.DeviceWaits
	c.Outrun += o.Outrun
	c.GPUTime += o.GPUTime
	c.Unlaunched += o.Unlaunched
}

// A collectiveKey identifies a collective on all its ranks: by group, number and name, or else it
// is the nth of the lane-th stream with communication.
type collectiveKey struct {
	group, name string
	seq         int64
	lane, nth   int
}

// collectives returns the communication kernels of a rank.
func (g *Graph) collectives() map[collectiveKey]int32 {
	t := g.ranks[0].t
	numbers := make(map[trace.ID]int64)
	for c := range t.Collectives.All() {
		if c.Correlation != 0 && c.Seq >= 0 {
			numbers[c.Correlation] = c.Seq
		}
	}
	streams := slices.Clone(g.streams)
	slices.SortFunc(streams, func(a, b []int32) int {
		x, y := &t.Tracks[g.work(a[0]).a.Track], &t.Tracks[g.work(b[0]).a.Track]
		return cmp.Or(cmp.Compare(x.Device, y.Device), cmp.Compare(x.Stream, y.Stream))
	})
	out := make(map[collectiveKey]int32)
	lane := 0
	for _, vs := range streams {
		nth := 0
		for _, v := range vs {
			if g.nodes[v].class != Comm {
				continue
			}
			a := g.work(v).a
			args := &t.Detail(a.Detail).Collective
			key := collectiveKey{lane: lane, nth: nth}
			if seq, ok := numbers[a.Correlation]; ok && args.Group != 0 {
				key = collectiveKey{group: t.Name(args.Group), name: t.Name(args.Name), seq: seq}
			}
			out[key] = v
			nth++
		}
		if nth > 0 {
			lane++
		}
	}
	return out
}
