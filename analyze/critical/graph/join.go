package graph

import (
	"cmp"
	"slices"

	"assay/trace"
)

// Join returns one graph of several ranks, or why they cannot be joined. Their graphs must not be used
// if it succeeds, because it takes their memory. A collective of all ranks starts when the last of them
// has arrived: its kernel becomes an arrival of no length, and a transfer from the last arrival to
// the kernel's end. The clocks of the ranks are aligned by the ends of their collectives.
func Join(gs []*Graph) (j *Graph, apart string) {
	m := matched{gs: gs, kernels: make([]map[collectiveKey]int32, len(gs)), offsets: make([]int64, len(gs))}
	for r, g := range gs {
		m.kernels[r] = g.collectives()
	}
	for k := range m.kernels[0] {
		if !slices.ContainsFunc(m.kernels, func(of map[collectiveKey]int32) bool { _, ok := of[k]; return !ok }) {
			m.keys = append(m.keys, k)
		}
	}
	if len(m.keys) == 0 {
		return nil, "no collective is recorded on all ranks"
	}
	slices.SortFunc(m.keys, func(a, b collectiveKey) int { return cmp.Compare(m.kernels[0][a], m.kernels[0][b]) })
	for r, g := range gs[1:] {
		var diffs []int64
		for _, k := range m.keys {
			diffs = append(diffs, g.End(m.kernels[r+1][k])-gs[0].End(m.kernels[0][k]))
		}
		m.offsets[r+1] = TypicalOf(diffs, 0)
	}
	if apart = m.misfit(); apart != "" {
		return nil, apart
	}
	j = &Graph{typical: gs[0].typical, Events: gs[0].Events, Counts: gs[0].Counts, last: None}
	nodes, edges := len(m.keys)*len(gs), len(m.keys)*len(gs)*len(gs)
	for _, g := range gs {
		nodes, edges = nodes+len(g.Nodes), edges+len(g.Extra)
	}
	j.reserve(nodes)
	j.Extra = make([]edge, 0, edges)
	bases := make([]int32, len(gs))
	for r, g := range gs {
		if r > 0 {
			j.Counts.add(g.Counts)
		}
		j.Doubts = append(j.Doubts, g.Doubts...)
		bases[r] = j.append(g, m.offsets[r])
	}
	j.transfer(&m, bases)
	j.Counts.Collectives = len(m.keys)
	return j, ""
}

// A matched has the collectives that are recorded on all ranks.
type matched struct {
	gs      []*Graph
	keys    []collectiveKey
	kernels []map[collectiveKey]int32
	offsets []int64 // of the clocks
}

// transfer replaces the kernels of collectives by their arrivals and transfers. bases are the first
// nodes of the ranks.
func (g *Graph) transfer(m *matched, bases []int32) {
	transfers := make(map[int32]int32)
	for _, k := range m.keys {
		var arrivals []int32
		last := int64(-1 << 62)
		for r := range bases {
			v := m.kernels[r][k] + bases[r]
			arrivals = append(arrivals, v)
			last = max(last, g.Start[v])
		}
		for _, v := range arrivals {
			end, n := g.End(v), &g.Nodes[v]
			n.Flags |= IsMatched
			x := g.add(min(last, end), end, Comm, n.Owner, None, n.Flags&(IsGPU|IsGraph))
			g.Nodes[x].Rank = g.Nodes[v].Rank
			g.Dur[v] = 0
			for _, u := range arrivals {
				g.link(u, x, 0, Collective)
			}
			transfers[v] = x
		}
	}
	after := func(v *int32) {
		if *v != None && g.Nodes[*v].Flags&IsMatched != 0 {
			*v = transfers[*v]
		}
	}
	for v := range g.Nodes {
		n := &g.Nodes[v]
		after(&n.Pred)
		for e := n.First; e != None; e = g.Extra[e].Next {
			if x := &g.Extra[e]; x.Kind.FromEnd() {
				after(&x.Src)
			}
		}
	}
	for i := range g.Steps {
		for k := range g.Steps[i].Ends {
			after(&g.Steps[i].Ends[k])
		}
	}
}

// append adds the nodes of one rank, its clock moved back by offset, and returns the number of the
// first. It takes the memory of the rank's graph.
func (g *Graph) append(o *Graph, offset int64) int32 {
	base, edges, calls, streams := int32(len(g.Nodes)), int32(len(g.Extra)), int32(len(g.Calls)), int32(len(g.Streams))
	rank := len(g.Ranks)
	move := func(v *int32, by int32) {
		if *v != None {
			*v += by
		}
	}
	g.Nodes, g.Start, g.Dur, g.Extra = append(g.Nodes, o.Nodes...), append(g.Start, o.Start...), append(g.Dur, o.Dur...), append(g.Extra, o.Extra...)
	o.Nodes, o.Start, o.Dur, o.Extra = nil, nil, nil, nil
	for v := int(base); v < len(g.Nodes); v++ {
		n := &g.Nodes[v]
		move(&n.Pred, base)
		move(&n.First, edges)
		n.Rank = uint16(rank)
		g.Start[v] = Within(g.Start[v]-offset, Far)
	}
	for e := int(edges); e < len(g.Extra); e++ {
		x := &g.Extra[e]
		x.Src += base
		move(&x.Next, edges)
	}
	src := o.Ranks[0]
	src.Offset = offset
	for i := range src.Works {
		w := &src.Works[i]
		move(&w.Call, calls)
		w.Stream += streams
	}
	g.Ranks = append(g.Ranks, src)
	shift := func(vs []int32) {
		for i := range vs {
			vs[i] += base
		}
	}
	for _, c := range o.Calls {
		c.Rank, c.Node = rank, c.Node+base
		shift(c.Works)
		g.Calls = append(g.Calls, c)
	}
	shift(o.Batches)
	g.Batches = append(g.Batches, o.Batches...)
	for _, vs := range o.Streams {
		shift(vs)
		g.Streams = append(g.Streams, vs)
	}
	for _, s := range o.Steps {
		s.Rank, s.Start = rank, Within(s.Start-offset, Far)
		shift(s.Ends)
		move(&s.First, base)
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
	c.Staged += o.Staged
	c.DeviceWaits += o.DeviceWaits
	c.Outrun += o.Outrun
	c.Unlinked += o.Unlinked
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
	t := g.Ranks[0].T
	numbers := make(map[trace.ID]int64)
	for c := range t.Collectives.All() {
		if c.Correlation != 0 && c.Seq >= 0 {
			numbers[c.Correlation] = c.Seq
		}
	}
	streams := slices.Clone(g.Streams)
	slices.SortFunc(streams, func(a, b []int32) int {
		x, y := &t.Tracks[g.Work(a[0]).A.Track], &t.Tracks[g.Work(b[0]).A.Track]
		return cmp.Or(cmp.Compare(x.Device, y.Device), cmp.Compare(x.Stream, y.Stream))
	})
	out := make(map[collectiveKey]int32)
	lane := 0
	for _, vs := range streams {
		nth := 0
		for _, v := range vs {
			if g.Nodes[v].Class != Comm {
				continue
			}
			a := g.Work(v).A
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
	for nth, v := range g.Ranks[0].hostComm {
		out[collectiveKey{name: g.Name(v), lane: -1, nth: nth}] = v
	}
	return out
}
