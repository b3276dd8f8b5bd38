package critical

import (
	"math"
	"slices"

	"assay/analyze/classify"
	"assay/analyze/critical/change"
	"assay/internal/interval"
	"assay/internal/profilercost"
	"assay/trace"
)

// A Class is what a piece of a critical path was spent on.
type Class uint8

// The classes. The first five are time of host threads.
const (
	HostOp      Class = iota // within an operator
	Python                   // within a Python function or an annotation
	HostGap                  // with no event open
	Runtime                  // within a call of the runtime or driver of the GPU
	DataLoader               // within a data loader, or waiting for a batch
	LaunchDelay              // from the end of the launch call to the start of the work
	KernelGap                // between work and the next on its stream, or after an event
	SyncReturn               // from the end of work to the return of the call that waited for it
	Compute
	Comm
	Copy
	Unexplained // no edge explains why the piece is as long as it is
	Classes
)

// String returns the name of a class in JSON.
func (c Class) String() string { return change.Classes[c] }

// onGPU reports whether a class is work of a GPU.
func (c Class) onGPU() bool { return c == Compute || c == Comm || c == Copy }

const (
	us = 1000

	// Delays for which a trace has fewer than three samples.
	defaultGap    = 1300
	defaultLaunch = 2 * us
	defaultReturn = 5 * us

	jitter     = 10 * us // what a delay may exceed its typical length by before it is unexplained
	tight      = 5 * us  // the source of an inferred edge ends at most this long before its target starts
	loaderOwn  = 10 * us // what a call of a data loader takes itself; the rest is waiting for a batch
	returnMost = 50 * us // what the return of a blocking call takes at most
	queueLong  = 200     // waiting launches on a stream from which a launch call may block
)

// A kind is what makes one node wait for another.
type kind uint8

const (
	program    kind = iota // the order of a thread
	stream                 // the order of a stream
	launch                 // from the start of the launch call
	handoff                // a thread waits for another: autograd
	event                  // cudaStreamWaitEvent, as recorded
	eventGuess             // cudaStreamWaitEvent, inferred
	sync                   // a call that waits for work
	syncGuess              // the same, with a target that is inferred
	free                   // cudaFree waits for the device
	staged                 // the call of a copy from pageable memory lasts as long as its copy: from the start of that
	queue                  // a launch call waits for room: from the start of work
	collective             // from the start of the collective of each rank
	kinds
)

var kindNames = [kinds]string{"program", "stream", "launch", "handoff", "event", "event?", "sync", "sync?", "free?", "staged", "queue", "collective"}

func (k kind) String() string { return kindNames[k] }

// fromEnd reports whether edges of a kind start at the end of their source, not at its start.
func (k kind) fromEnd() bool { return k != launch && k != staged && k != queue && k != collective }

func (k kind) inferred() bool { return k == eventGuess || k == syncGuess || k == free }

// none is the number of no node, span or edge.
const none int32 = -1

// What a node is besides its class.
const (
	isGPU     uint8 = 1 << iota
	isArrival       // starts at a time that nothing in the graph determines
	isGraph         // work of a CUDA graph launch
	graphGap        // the stream's previous work belongs to the same graph launch
	blocks          // the own part of a call that blocks
	isJoin          // the end of a call that blocks
	isMatched       // the arrival of a rank at a collective
	isMoved         // what follows it follows its join
)

// A node is an activity; its start and its duration are in lists of their own. Its chain is the order
// of its thread or stream: that of most nodes is their only edge, so it is part of the node.
type node struct {
	lag   int32 // of the chain; longLag if it is in Graph.long
	pred  int32 // the chain's source, or none
	owner int32 // the span of the host, or the number of the work; none without an open span
	first int32 // edge besides the chain, or none
	class Class
	flags uint8
	rank  uint16
}

// inProgramOrder reports whether a node of the host follows the one before on its thread and waits for nothing else.
func (n *node) inProgramOrder() bool {
	return n.first == none && n.flags&(isGPU|isArrival) == 0 && n.pred != none
}

// longLag stands for a lag that takes more than 32 bits.
const longLag = math.MinInt32

// An edge is a constraint besides the chain.
type edge struct {
	typ, lag int64 // its typical delay; its delay here
	src      int32
	next     int32
	kind     kind
	binds    bool // it determined the start of its target; if no edge did, the chain did
}

// A Step is a part of the program's time that is answered for.
type Step struct {
	Name  string
	Start int64
	ends  []int32 // the last node of the host, and the works launched in the step
	first int32   // node of the host at the start, or none
	rank  int
}

// Counts describe a graph, and what its trace lacks.
type Counts struct {
	Nodes, Edges, GPU, Launches, Graphs int
	Comm                                int // GPU work of communication
	LaunchesWithoutWork                 int
	LateSources                         int // edges whose source ends over 1 µs after its target started
	Arrivals                            int
	UnorderedStreams                    bool // several streams, and no event between them
	EdgesDropped                        int  // that made a cycle
	LaunchSamples, GapSamples           int
	Inferred, Events                    int
	Blocking, Blocked, Staged           int // calls that wait for work, or could; that did; that last as long as a copy
	Collectives                         int
	Unlinked                            int   // collectives of the CPU without a known waiter
	DeviceWaits, Outrun                 int   // waits for all work of a device; those that its work outran
	GPUTime, Unlaunched                 int64 // ns of GPU work, and of that whose launch is not in the trace
	Impossible                          int   // events whose times cannot be true
}

// Delays are typical of a trace, in ns.
type Delays struct{ Launch, Gap, GraphLaunch, GraphGap, Return, Staging int64 }

// A Graph is what the nodes of one rank, or of several that are joined, wait for.
type Graph struct {
	start, dur []int64 // of the nodes
	nodes      []node
	long       map[int32]int64 // lags of chains that take more than 32 bits
	extra      []edge
	last       int32     // the node that the newest edge goes into
	order      []int32   // each node follows the sources of its edges
	plan       []stretch // the same, for replays
	Steps      []Step

	ranks    []*source
	streams  [][]int32 // works of each stream, by start
	calls    []launcher
	typical  Delays
	Counts   Counts
	doubts   []string          // see [Graph.Doubt]
	overlap  *float64          // see overlapped
	changing *changing         // the changes of the latest forecast
	second   *changing         // those of another at the same time
	scratch  []int64           // starts, for replays
	unmarked []uint16          // the flags of a rule that changes nothing
	origin   int64             // the first start
	events   profilercost.Cost // of recording an event
	cost     float64           // ns of recording an event, which forecasts are without
	light    []int64           // durations without it; see base
	lightAt  float64           // the cost that they are without
	quarters []uint8           // see recording
	fit      *Fit              // by which the cost was found

	Copies Copying // how fast copies are
}

// A launcher is a call that launched work.
type launcher struct {
	span  int32 // of its source
	rank  int
	node  int32
	works []int32
	graph bool
}

// A source has the events that the nodes of a rank stand for.
type source struct {
	t     *trace.Trace
	spans []span
	works []work

	tracks     []trace.TrackID // of the threads
	rank       int
	hostComm   []int32 // nodes of collectives of the CPU, by start
	kineto     bool    // PyTorch's profiler recorded it
	impossible int     // events whose times cannot be true
	offset     int64   // of its clock, which is subtracted from all times

	phase    func(at int64) string // see [Options.Phase]
	isModule []bool                // by name
	forward  *byID                 // operators of forward passes by sequence number; nil if the trace has no modules
}

// A work is one piece of GPU work.
type work struct {
	a      *trace.Activity
	call   int32 // number of its launcher, or none
	stream int32
}

// A Window is a step as the host marked it.
type Window struct {
	Name  string
	Track trace.TrackID // the thread of the marker
	Span  interval.Span
}

// Options say how to make a graph.
type Options struct {
	Rank    int
	Rules   *classify.Rules
	Windows []Window              // the steps by start; none for the whole trace
	Phase   func(at int64) string // the phase at a time, or ""; nil if there are none
}

const (
	far     = 1 << 61                         // times of nodes are less, so that sums with a delay do not overflow
	latest  = far - far/8                     // events start before: the year 2033 in ns
	longest = 1 << 60                         // no duration is longer after a change
	real    = 100 * 3600 * 1000 * 1000 * 1000 // no event of a program lasts longer: 100 hours
)

// within returns the time that is closest to t and not beyond a limit.
func within(t, limit int64) int64 { return min(max(t, -limit), limit) }

// scaled returns t times a factor that is not negative.
func scaled(t int64, f float64) int64 {
	x := float64(t) * f
	if math.Abs(x) < far {
		return int64(x)
	} else if x < 0 {
		return -far
	}
	return far
}

// fits reports whether an event can have the duration, and moves its start to the times that are
// computed with. An event that cannot is left out.
func (s *source) fits(start *int64, dur int64) bool {
	t := within(*start, latest)
	if dur = max(0, dur); dur > real {
		s.impossible++
		return false
	} else if t != *start {
		s.impossible++
		*start = t
	}
	return true
}

// Offset returns what is added to times of the graph for times on the clock of a rank.
func (g *Graph) Offset(rank int) int64 { return g.ranks[rank].offset }

// typ returns the typical delay of the chain of v.
func (g *Graph) typ(v int32) int64 {
	switch n := &g.nodes[v]; {
	case n.flags&isGPU == 0:
		return 0
	case n.flags&graphGap != 0:
		return g.typical.GraphGap
	default:
		return g.typical.Gap
	}
}

// chainKind returns the kind of the chain of v.
func (g *Graph) chainKind(v int32) kind {
	if g.nodes[v].flags&isGPU != 0 {
		return stream
	}
	return program
}

// add returns the number of a new node, whose chain follows pred.
func (g *Graph) add(start, end int64, class Class, owner, pred int32, flags uint8) int32 {
	g.start, g.dur = append(g.start, start), append(g.dur, max(0, end-start))
	g.nodes = append(g.nodes, node{class: class, owner: owner, pred: pred, first: none, flags: flags})
	return int32(len(g.nodes) - 1)
}

// reserve makes room for a number of nodes more.
func (g *Graph) reserve(n int) {
	g.start, g.dur, g.nodes = slices.Grow(g.start, n), slices.Grow(g.dur, n), slices.Grow(g.nodes, n)
}

func (g *Graph) end(v int32) int64 { return g.start[v] + g.dur[v] }

// lagOf returns the delay of the chain of v.
func (g *Graph) lagOf(v int32) int64 {
	if lag := g.nodes[v].lag; lag != longLag {
		return int64(lag)
	}
	return g.long[v]
}

func (g *Graph) setLag(v int32, lag int64) {
	if n := &g.nodes[v]; lag > longLag && lag <= math.MaxInt32 {
		n.lag = int32(lag)
		return
	}
	if g.long == nil {
		g.long = make(map[int32]int64)
	}
	g.nodes[v].lag, g.long[v] = longLag, lag
}

// link adds an edge from src to v after those that v has.
func (g *Graph) link(src, v int32, typ int64, k kind) {
	if src == none || src == v {
		return
	}
	g.extra = append(g.extra, edge{typ: typ, src: src, next: none, kind: k})
	id := int32(len(g.extra) - 1)
	last := g.last
	g.last = v
	if g.nodes[v].first == none {
		g.nodes[v].first = id
		return
	}
	at := g.nodes[v].first
	if last == v {
		at = id - 1
	}
	for g.extra[at].next != none {
		at = g.extra[at].next
	}
	g.extra[at].next = id
}

// from returns when the source of an edge allows its target to start, without the delay.
func (g *Graph) from(src int32, k kind) int64 {
	if k.fromEnd() {
		return g.end(src)
	}
	return g.start[src]
}

// launchOf returns the launcher of work, or nil.
func (g *Graph) launchOf(v int32) *launcher {
	w := g.work(v)
	if w.call == none {
		return nil
	}
	return &g.calls[w.call]
}

func (g *Graph) work(v int32) *work { return &g.ranks[g.nodes[v].rank].works[g.nodes[v].owner] }

// spanOf returns the event around a node: of a node of the host the innermost that is open, of
// work the call that launched it. It may be nil.
func (g *Graph) spanOf(v int32) *span {
	n := &g.nodes[v]
	s := n.owner
	if n.flags&isGPU != 0 {
		l := g.launchOf(v)
		if l == nil {
			return nil
		}
		s = l.span
	}
	if s == none {
		return nil
	}
	return &g.ranks[n.rank].spans[s]
}

// Name returns the name of a node: of its work or its innermost event.
func (g *Graph) name(v int32) string {
	n := &g.nodes[v]
	src := g.ranks[n.rank]
	if n.flags&isGPU != 0 {
		return src.t.Name(src.works[n.owner].a.Name)
	}
	if n.owner == none {
		return "(no span)"
	}
	return src.t.Name(src.spans[n.owner].name)
}

// operator returns the name of the innermost operator around a node, or "".
func (g *Graph) operator(v int32) string {
	src := g.ranks[g.nodes[v].rank]
	if s := g.spanOf(v); s != nil && s.op != none {
		return src.t.Name(src.spans[s.op].name)
	}
	return ""
}

func (s *source) parent(x *span) *span {
	if x.parent == none {
		return nil
	}
	return &s.spans[x.parent]
}
