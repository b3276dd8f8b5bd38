package efficiency

import (
	"cmp"
	"hash/maphash"
	"slices"
	"strings"

	"assay/analyze/gpu"
	"assay/internal/lazyregexp"
	"assay/summary"
	"assay/trace"
)

// replays collects the graph launches on one GPU. Launches with the same kernels in the same order
// are one row.
type replays struct {
	seed  maphash.Seed
	open  map[int32]*replay // by link
	at    map[replayKey]int
	list  []summary.EfficiencyReplay
	nodes int
	sizes map[trace.TrackID][]sized
	made  map[uint64]madeOf // by the nodes of launches

	launched []launched // by the start of their calls, after finishAll
	held     int        // number of node times in these
}

// A launched is one launch of a graph of the list.
type launched struct {
	start int64 // start of the first GPU operation of its call
	graph int
	gpu   int64
	wall  int64
	ns    []int64 // times of nodes; nil over maxHeld
}

// maxHeld is the maximum number of node times kept for the steps of a GPU: 2,000 launches of 500.
const maxHeld = 1_000_000

// A replay is one launch of a graph.
type replay struct {
	start   int64 // of its call
	first   int64 // of its first work
	end     int64
	row     int32 // noOperator for none
	names   []trace.Sym
	kinds   []trace.Kind
	nodes   []uint32 // by [trace.Detail.Node], if makings of nodes are recorded
	ns      []int64  // time that each node adds to the GPU time of the call
	overlap int64
}

type replayKey struct {
	names uint64
	row   int32
	size  int64
	made  int // number of the capture by the IDs of nodes; 0 for none
}

// replayed records a node of a graph, which added the given ns to the GPU time of its call.
func (m *meter) replayed(w gpu.Work, a *trace.Activity, s *spent, added int64) {
	link := m.links.Of[w.Number]
	if link < 0 || !m.replays(link) {
		return
	}
	if m.tl.IsWholeGraph(a.Name) || s.again || s.row != noOperator && !unknownWork(&m.works[s.known]) {
		s.opaque = true
		return
	}
	r := m.graphs.open[link]
	if r == nil {
		r = &replay{start: s.start, first: w.Start, row: s.row}
		m.graphs.open[link] = r
	}
	r.names, r.kinds, r.ns = append(r.names, a.Name), append(r.kinds, a.Kind), append(r.ns, added)
	if m.makers != nil {
		r.nodes = append(r.nodes, m.t.Detail(a.Detail).Node)
	}
	r.overlap, r.end = summary.Plus(r.overlap, w.Dur-added), max(r.end, w.End())
	if int32(len(r.ns)) == m.links.List[link].Work {
		m.finish(link, r)
	}
}

func unknownWork(k *known) bool { return number(k.work.FLOPs) == nil && number(k.work.Bytes) == nil }

// finish adds a launch to its graph.
func (m *meter) finish(link int32, r *replay) {
	delete(m.graphs.open, link)
	if !m.t.Window.Starts(r.start) {
		return
	}
	g := &m.graphs
	var h maphash.Hash
	h.SetSeed(g.seed)
	for i, name := range r.names {
		maphash.WriteComparable(&h, [2]int64{int64(name), int64(r.kinds[i])})
	}
	made := m.made(r)
	key := replayKey{h.Sum64(), r.row, g.sizeAt(m.t, m.links.Call(link)), made.number}
	at, ok := g.at[key]
	if !ok {
		at = len(g.list)
		g.at[key] = at
		g.list = append(g.list, m.graphOf(r, key))
		g.list[at].Made, g.list[at].NodesLost = made.number, made.lost
	}
	row := &g.list[at]
	row.Launches++
	row.StartNS = min(row.StartNS, r.start)
	row.OverlapNS = summary.Plus(row.OverlapNS, r.overlap)
	one := launched{start: r.start, graph: at, wall: r.end - r.first}
	for i, ns := range r.ns {
		one.gpu = summary.Plus(one.gpu, ns)
		if row.NodeNS != nil {
			row.NodeNS[i] = summary.Plus(row.NodeNS[i], ns)
		}
	}
	row.GPUNS = summary.Plus(row.GPUNS, one.gpu)
	if row.NodeNS != nil && g.held+len(r.ns) <= maxHeld {
		one.ns, g.held = r.ns, g.held+len(r.ns)
	}
	g.launched = append(g.launched, one)
}

// between returns the launches whose calls begin in [start, end), by graph.
func (g *replays) between(start, end int64) (out []summary.StepReplay) {
	first, _ := slices.BinarySearchFunc(g.launched, start, func(l launched, ns int64) int { return cmp.Compare(l.start, ns) })
	for _, l := range g.launched[first:] {
		if l.start >= end {
			break
		}
		at := slices.IndexFunc(out, func(r summary.StepReplay) bool { return r.Replay == g.list[l.graph].Number })
		if at < 0 {
			at = len(out)
			out = append(out, summary.StepReplay{Replay: g.list[l.graph].Number, NodeNS: make([]int64, len(l.ns))})
		}
		r := &out[at]
		r.Launches++
		r.GPUNS, r.WallNS = summary.Plus(r.GPUNS, l.gpu), summary.Plus(r.WallNS, l.wall)
		if len(r.NodeNS) != len(l.ns) {
			r.NodeNS = nil
		}
		for i := range r.NodeNS {
			r.NodeNS[i] = summary.Plus(r.NodeNS[i], l.ns[i])
		}
	}
	return out
}

// graphOf returns the row of the first launch of a graph, without its times.
func (m *meter) graphOf(r *replay, key replayKey) summary.EfficiencyReplay {
	out := summary.EfficiencyReplay{Number: len(m.graphs.list) + 1, Size: key.size, Nodes: int64(len(r.ns)), StartNS: r.start, Dims: recorded(""), Types: recorded("")}
	if r.row != noOperator {
		id := m.Owners.rows[r.row]
		out.Op, out.Dims, out.Types = m.t.Name(id.name), recorded(m.t.Name(id.dims)), recorded(m.t.Name(id.types))
	}
	out.Kernels = kernelsOf(m.t, r)
	if m.graphs.nodes += len(r.ns); m.graphs.nodes > maxNodes {
		out.Unmatched = summary.TooManyNodes
		return out
	}
	out.NodeNS = make([]int64, len(r.ns))
	return out
}

// kernelsOf returns the digest of the names of the kernels of a launch.
func kernelsOf(t *trace.Trace, r *replay) string {
	var names digest
	for i, name := range r.names {
		switch r.kinds[i] {
		case trace.Memcpy:
			names.add(copyNode)
		case trace.Memset:
			names.add(fillNode)
		default:
			names.add(t.Name(name))
		}
	}
	return names.String()
}

// finishAll finishes launches with missing work, and sorts all launches.
func (m *meter) finishAll() {
	for link := range m.links.List {
		if r := m.graphs.open[int32(link)]; r != nil { // it has nodes on several GPUs, or some were not recorded
			m.finish(int32(link), r)
		}
	}
	slices.SortStableFunc(m.graphs.launched, func(a, b launched) int { return cmp.Compare(a.start, b.start) })
}

// graphRows returns the rows of the graphs of the GPU.
func (m *meter) graphRows(rank int) []summary.EfficiencyReplay {
	for i := range m.graphs.list {
		m.graphs.list[i].Rank, m.graphs.list[i].Device = rank, m.d.Ordinal
	}
	return m.graphs.list
}

// A sized is an annotation that states a batch size, or that contradicts one (0).
type sized struct {
	start, end, size int64
}

// newReplays returns the replays of a GPU, before any is known.
func newReplays(t *trace.Trace, sizes map[trace.TrackID][]sized) replays {
	return replays{seed: maphash.MakeSeed(), open: map[int32]*replay{}, at: map[replayKey]int{}, sizes: sizes, made: map[uint64]madeOf{}}
}

// sizesOf returns the annotations of a trace that say something about the size of a batch, by
// thread and start.
func sizesOf(t *trace.Trace) map[trace.TrackID][]sized {
	out := map[trace.TrackID][]sized{}
	for s := range t.Spans.All() {
		if n, says := batchSize(t.Name(s.Name)); says {
			out[s.Track] = append(out[s.Track], sized{s.Start, s.Start + s.Dur, n})
		}
	}
	for _, list := range out {
		slices.SortFunc(list, func(a, b sized) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end)) })
	}
	return out
}

// around is the number of annotations before a call that may enclose it.
const around = 8

// sizeAt returns the batch size that all annotations around a call state, or 0.
func (g *replays) sizeAt(t *trace.Trace, c *trace.Call) (size int64) {
	list := g.sizes[c.Track]
	next, _ := slices.BinarySearchFunc(list, c.Start+1, func(s sized, ns int64) int { return cmp.Compare(s.start, ns) })
	first := true
	for _, s := range list[max(0, next-around):next] {
		if s.end <= c.Start {
			continue
		}
		if !first && s.size != size {
			return 0
		}
		size, first = s.size, false
	}
	return size
}

// The names of annotations that state the batch of a step without prefill: the number of tokens, the
// number of requests and, in some, the number of query tokens. All are equal if each request has one
// token.
var (
	executed = lazyregexp.New(`^execute_(\d+)_context_0\(sq0sk0[^)]*\)_generation_(\d+)\(sq(\d+)sk`)
	upstream = lazyregexp.New(`^execute_context_0\(0\)_generation_(\d+)\((\d+)\)$`)
	decoding = lazyregexp.New(`^step\[DECODE bs=(\d+)\]$`)
)

// batchSize returns the batch size in a name, and whether the name states one. It is 0 if requests
// have several tokens.
func batchSize(name string) (size int64, says bool) {
	if !strings.HasPrefix(name, "execute_") && !strings.HasPrefix(name, "step[") {
		return 0, false
	}
	for _, expr := range []func() []string{
		func() []string { return executed().FindStringSubmatch(name) }, func() []string { return upstream().FindStringSubmatch(name) },
		func() []string { return decoding().FindStringSubmatch(name) },
	} {
		found := expr()
		if found == nil {
			continue
		}
		for _, part := range found[2:] {
			if sizeIn(part) != sizeIn(found[1]) {
				return 0, true
			}
		}
		return sizeIn(found[1]), true
	}
	return 0, true
}

// captureSize returns the batch size in the name of a capture, such as "capture_32_FULL", or 0.
func captureSize(name string) int64 {
	rest, ok := strings.CutPrefix(name, "capture_")
	if number, _, _ := strings.Cut(rest, "_"); ok && strings.Trim(number, "0123456789") == "" {
		return sizeIn(number)
	}
	return 0
}
