package graph

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"assay/analyze/classify"
	"assay/internal/lazyregexp"
	"assay/internal/runsort"
	"assay/trace"
)

var (
	launching = lazyregexp.New(`(?i)Launch|Memcpy|Memset`)
	launchAPI = lazyregexp.New(`^(cuda|hip|cu)(ExtModule|Module|Ext)?Launch(Kernel|CooperativeKernel)|GraphLaunch`)
)

// A builder makes the graph of one rank.
type builder struct {
	*Graph
	src     *Source
	threads []thread
	windows []Window

	first    int32 // the first node of the GPU
	streamOf map[[2]int64]int32
	keys     [][2]int64  // device and stream, by stream
	byLaunch [][]started // by stream
	byThread [][]started // by thread: its launches
	launched []started   // by launch, those that have one
	syncs    map[trace.ID]*trace.SyncRecord
	records  map[trace.ID]int32 // the spans of cudaEventRecord, by correlation
	waits    []int32            // the spans of cudaStreamWaitEvent, by start
	calling  []int32            // the spans of calls
	moved    map[int32]int32    // from the own part of a call that blocks to its join
	ended    []started          // see ends
}

// A started is a work with a time: the start of its launch, -1 without one, or its end. Works are
// numbered by their start.
type started struct {
	at int64
	v  int32
}

func (x started) compare(y started) int {
	return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(x.v, y.v))
}

// Of returns the graph of one rank.
func Of(t *trace.Trace, opt Options) *Graph {
	s := &Source{T: t, Rank: opt.Rank, Phase: opt.Phase, Kineto: t.Meta.Kineto}
	g := &Graph{Ranks: []*Source{s}, Events: eventCost(t)}
	b := &builder{Graph: g, src: s, windows: opt.Windows, moved: make(map[int32]int32)}
	b.threads = s.threadsOf()
	isLoader := Named(t, loader().MatchString)
	main, most := 0, int32(-1)
	for i := range b.threads {
		th := &b.threads[i]
		var cuts []int64
		for _, w := range b.windows {
			if w.Track == th.track {
				cuts = append(cuts, w.Span.Start, w.Span.End)
			}
		}
		slices.Sort(cuts)
		s.nest(th, slices.Compact(cuts), isLoader)
		if n := th.to - th.from; n > most {
			main, most = i, n
		}
	}
	if len(b.windows) > 0 {
		main = max(0, slices.IndexFunc(b.threads, func(th thread) bool { return th.track == b.windows[0].Track }))
	}
	g.addHost(s, b.threads, main)
	b.addWork(opt.Rules)
	waited := b.findWaits()
	b.delays(waited)
	b.addLaunches()
	b.addWaits()
	b.addLate()
	b.addUnlaunched()
	b.addOutrun()
	b.addUnrecorded()
	b.addBlocking()
	b.addQueues()
	b.addHostComm()
	b.addMoves()
	b.addSteps()
	g.Counts.Impossible = s.impossible
	s.findModules()
	s.T = t.WithoutHost()
	return g
}

// addCalls lists the calls of the host, and returns those that may have launched work by correlation.
func (b *builder) addCalls() *byID {
	t, s := b.src.T, b.src
	isLaunch, isRecord, isWait := Named(t, launching().MatchString), Named(t, recording().MatchString), Named(t, waiting().MatchString)
	b.calling = make([]int32, 0, t.Calls.Len())
	low, high := ^trace.ID(0), trace.ID(0)
	b.records = make(map[trace.ID]int32)
	for i := range s.Spans {
		x := &s.Spans[i]
		if !x.isCall() {
			continue
		}
		if isRecord(x.Name) {
			b.records[x.corr] = int32(i)
		} else if isWait(x.Name) {
			b.waits = append(b.waits, int32(i))
		}
		b.calling = append(b.calling, int32(i))
		if x.corr != 0 {
			low, high = min(low, x.corr), max(high, x.corr)
		}
	}
	slices.SortStableFunc(b.waits, func(x, y int32) int { return cmp.Compare(s.Spans[x].Start, s.Spans[y].Start) })
	out := newByID(low, high, len(b.calling))
	for _, i := range b.calling {
		x := &s.Spans[i]
		if x.corr == 0 {
			continue
		}
		if c := out.get(x.corr); c == None || isLaunch(x.Name) && !isLaunch(s.Spans[c].Name) {
			out.set(x.corr, i)
		}
	}
	return out
}

// A byID has a number for each of many IDs: in a list if the IDs are close to each other, as
// correlations are, else in a map.
type byID struct {
	low  trace.ID
	list []int32 // plus 1
	rest map[trace.ID]int32
}

func newByID(low, high trace.ID, n int) *byID {
	if x := (&byID{low: low}); low <= high && uint64(high-low) <= 8*uint64(n) {
		x.list = make([]int32, high-low+1)
		return x
	}
	return &byID{rest: make(map[trace.ID]int32, n)}
}

func (x *byID) get(id trace.ID) int32 {
	if x.rest != nil {
		if n, ok := x.rest[id]; ok {
			return n
		}
		return None
	}
	if i := id - x.low; id >= x.low && int(i) < len(x.list) {
		return x.list[i] - 1
	}
	return None
}

func (x *byID) set(id trace.ID, n int32) {
	if x.rest != nil {
		x.rest[id] = n
		return
	}
	x.list[id-x.low] = n + 1
}

// addWork adds the nodes of the GPU.
func (b *builder) addWork(rules *classify.Rules) {
	if rules == nil {
		rules = classify.Default()
	}
	t, s := b.src.T, b.src
	calls := b.addCalls()
	classes := make(map[trace.Sym]Class)
	classOf := func(a *trace.Activity) Class {
		c, ok := classes[a.Name]
		if !ok {
			name := t.Name(a.Name)
			switch m := rules.Kernel(name); {
			case strings.HasPrefix(name, "Memcpy") || strings.HasPrefix(name, "Memset") ||
				strings.HasPrefix(name, "MEMORY_COPY") || strings.HasPrefix(name, "__amd_rocclr"):
				c = Copy
			case m.Class == classify.Comm:
				c = Comm
			default:
				c = Compute
			}
			classes[a.Name] = c
		}
		if a.Kind != trace.Kernel {
			return Copy
		}
		return c
	}
	list := make([]*trace.Activity, 0, t.Activities.Len())
	for a := range t.Activities.All() {
		if start := a.Start; s.fits(&start, a.Dur) && start == a.Start { // its time is not kept elsewhere
			list = append(list, a)
		}
	}
	runsort.Sort(list, func(x, y *trace.Activity) int {
		return cmp.Or(cmp.Compare(x.Start, y.Start), cmp.Compare(x.End(), y.End()))
	})
	b.first = int32(len(b.Nodes))
	b.streamOf = make(map[[2]int64]int32)
	b.Extra = slices.Grow(b.Extra, len(list)+len(list)/2)
	s.Works = make([]work, 0, len(list))
	most := min(len(list), len(b.calling))
	b.Calls = make([]launcher, 0, most)
	alone := make([]int32, most) // memory for the works of calls with one
	for _, a := range list {
		track := &t.Tracks[a.Track]
		key := [2]int64{track.Device, track.Stream}
		n, ok := b.streamOf[key]
		if !ok {
			n = int32(len(b.Streams))
			b.streamOf[key] = n
			b.Streams, b.keys = append(b.Streams, nil), append(b.keys, key)
		}
		pred := None
		if l := b.Streams[n]; len(l) > 0 {
			pred = l[len(l)-1]
		}
		v := b.add(a.Start, a.End(), classOf(a), int32(len(s.Works)), pred, IsGPU)
		b.Streams[n] = append(b.Streams[n], v)
		if b.Nodes[v].Class == Comm {
			b.Counts.Comm++
		}
		w := work{A: a, Call: None, Stream: n}
		if a.Correlation != 0 {
			if c := calls.get(a.Correlation); c != None && s.Spans[c].first != None {
				x := &s.Spans[c]
				if x.Call == None {
					x.Call = int32(len(b.Calls))
					b.Calls = append(b.Calls, launcher{Span: c, Node: x.first, Works: alone[x.Call : x.Call : x.Call+1]})
				}
				w.Call = x.Call
				b.Calls[x.Call].Works = append(b.Calls[x.Call].Works, v)
			}
		}
		s.Works = append(s.Works, w)
	}
	b.Counts.GPU, b.Counts.Launches = len(list), len(b.Calls)
	for i := range b.Calls {
		l := &b.Calls[i]
		if l.graph = len(l.Works) > 1 || strings.Contains(t.Name(s.Spans[l.Span].Name), "GraphLaunch"); l.graph {
			b.Counts.Graphs++
			for _, v := range l.Works {
				b.Nodes[v].Flags |= IsGraph
			}
		}
	}
	isAPI := Named(t, launchAPI().MatchString)
	for _, c := range b.calling { // of calls with one correlation, one may have launched its work
		if x := &s.Spans[c]; x.corr != 0 && x.Call == None && isAPI(x.Name) && calls.get(x.corr) == c {
			b.Counts.LaunchesWithoutWork++
		}
	}
	b.orderLaunches()
}

// orderLaunches lists the works of each stream, and the launches of each thread, in the order of
// their launch.
func (b *builder) orderLaunches() {
	b.byLaunch = make([][]started, len(b.Streams))
	for i, vs := range b.Streams {
		list := make([]started, len(vs))
		for k, v := range vs {
			list[k] = started{b.launchStart(v), v}
		}
		runsort.Sort(list, started.compare)
		b.byLaunch[i] = list
	}
	b.launched = make([]started, 0, len(b.src.Works))
	for i := range b.Calls {
		for _, v := range b.Calls[i].Works {
			b.launched = append(b.launched, started{b.launchStart(v), v})
		}
	}
	runsort.Sort(b.launched, started.compare)
	b.byThread = make([][]started, len(b.threads))
	for i := range b.Calls {
		x := &b.src.Spans[b.Calls[i].Span]
		b.byThread[x.Thread] = append(b.byThread[x.Thread], started{x.Start, b.Calls[i].Works[0]})
	}
	for _, list := range b.byThread {
		runsort.Sort(list, func(x, y started) int { return cmp.Compare(x.at, y.at) })
	}
}

// before returns how many of the launches start before t.
func before(list []started, t int64) int {
	return sort.Search(len(list), func(i int) bool { return list[i].at >= t })
}

// launchStart returns when the launch of a work starts, or -1.
func (b *builder) launchStart(v int32) int64 {
	if l := b.LaunchOf(v); l != nil {
		return b.src.Spans[l.Span].Start
	}
	return -1
}

// lastLaunched returns the last work of a stream whose launch starts before t, or none.
func (b *builder) lastLaunched(stream int32, t int64) int32 {
	if i := before(b.byLaunch[stream], t); i > 0 {
		return b.byLaunch[stream][i-1].v
	}
	return None
}

func (b *builder) streamOfWork(v int32) int32 { return b.Work(v).Stream }

// TypicalOf returns the median of at least three samples, or otherwise.
func TypicalOf(samples []int64, otherwise int64) int64 {
	if len(samples) < 3 {
		return otherwise
	}
	slices.Sort(samples)
	return Within(samples[len(samples)/2], Longest)
}

// delays measures the typical delays: of launches into an idle stream, and between works that
// were queued. Work that may have waited for an event is no sample.
func (b *builder) delays(waited map[int32]bool) {
	var idle, idleGraph, queued, inGraph []int64
	for _, vs := range b.Streams {
		for i, v := range vs {
			n, l := &b.Nodes[v], b.LaunchOf(v)
			start, ended := b.Start[v], int64(0) // the work before
			if i > 0 {
				ended = b.End(vs[i-1])
			}
			graph := n.Flags&IsGraph != 0
			if l == nil || graph && v != l.Works[0] {
				if i > 0 && graph && start >= ended {
					inGraph = append(inGraph, start-ended)
				}
				continue
			}
			if waited[v] {
				continue
			}
			call := &b.src.Spans[l.Span]
			switch {
			case i == 0 || ended < call.Start:
				if graph {
					idleGraph = append(idleGraph, start-call.End)
				} else {
					idle = append(idle, start-call.End)
				}
			case ended > call.End+20*Us && start >= ended:
				queued = append(queued, start-ended)
			}
		}
	}
	b.Counts.LaunchSamples, b.Counts.GapSamples = len(idle), len(queued)
	b.typical.Launch, b.typical.Gap = TypicalOf(idle, defaultLaunch), TypicalOf(queued, defaultGap)
	b.typical.GraphLaunch = TypicalOf(idleGraph, b.typical.Launch)
	b.typical.GraphGap = TypicalOf(inGraph, b.typical.Gap)
}

// addLaunches links each work to its launch.
func (b *builder) addLaunches() {
	for v := b.first; v < int32(len(b.Nodes)); v++ {
		n, l := &b.Nodes[v], b.LaunchOf(v)
		if l == nil {
			continue
		}
		call, after := &b.src.Spans[l.Span], b.typical.Launch
		if l.graph {
			after = b.typical.GraphLaunch
			if n.Pred != None && b.Work(n.Pred).Call == b.Work(v).Call {
				n.Flags |= graphGap
			}
		}
		b.link(l.Node, v, max(0, call.End-call.Start+after), Launch)
	}
}

// addSteps finds the nodes at which each step begins and ends.
func (b *builder) addSteps() {
	moved := func(v int32) int32 {
		if j, ok := b.moved[v]; ok {
			return j
		}
		return v
	}
	for _, w := range b.windows {
		th := slices.IndexFunc(b.threads, func(th thread) bool { return th.track == w.Track })
		if th < 0 || len(b.threads[th].segments) == 0 {
			continue
		}
		segs := b.threads[th].segments
		i := sort.Search(len(segs), func(i int) bool { return b.threads[th].until(i) > w.Span.End }) - 1
		st := Step{Name: w.Name, Start: Within(w.Span.Start, latest), First: None, Ends: []int32{moved(b.threads[th].lastNode(max(0, i)))}}
		for _, x := range b.launched[before(b.launched, w.Span.Start):before(b.launched, w.Span.End)] {
			st.Ends = append(st.Ends, x.v)
		}
		if i := sort.Search(len(segs), func(i int) bool { return segs[i].start >= w.Span.Start }); i < len(segs) {
			st.First = segs[i].node
		}
		b.Steps = append(b.Steps, st)
	}
	if len(b.Steps) == 0 && len(b.Nodes) > 0 {
		st := Step{Name: WholeTrace, Start: b.Start[0], First: None}
		for v := range b.Nodes {
			st.Start = min(st.Start, b.Start[v])
			st.Ends = append(st.Ends, int32(v))
		}
		b.Steps = append(b.Steps, st)
	}
}

// WholeTrace is the name of the step of a trace without steps.
const WholeTrace = "whole trace"

// stepsBefore returns how many steps start at t or before.
func (b *builder) stepsBefore(t int64) int {
	return sort.Search(len(b.windows), func(i int) bool { return b.windows[i].Span.Start > t })
}
