package graph

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

// OnGPU reports whether a class is work of a GPU.
func (c Class) OnGPU() bool { return c == Compute || c == Comm || c == Copy }

const (
	Us = 1000

	// Delays for which a trace has fewer than three samples.
	defaultGap    = 1300
	defaultLaunch = 2 * Us
	defaultReturn = 5 * Us

	Jitter     = 10 * Us // what a delay may exceed its typical length by before it is unexplained
	tight      = 5 * Us  // the source of an inferred edge ends at most this long before its target starts
	loaderOwn  = 10 * Us // what a call of a data loader takes itself; the rest is waiting for a batch
	returnMost = 50 * Us // what the return of a blocking call takes at most
	queueLong  = 200     // waiting launches on a stream from which a launch call may block
)

// A Kind is what makes one node wait for another.
type Kind uint8

const (
	Program    Kind = iota // the order of a thread
	Stream                 // the order of a stream
	Launch                 // from the start of the launch call
	Handoff                // a thread waits for another: autograd
	Event                  // cudaStreamWaitEvent, as recorded
	EventGuess             // cudaStreamWaitEvent, inferred
	Sync                   // a call that waits for work
	SyncGuess              // the same, with a target that is inferred
	Free                   // cudaFree waits for the device
	Staged                 // the call of a copy from pageable memory lasts as long as its copy: from the start of that
	Queue                  // a launch call waits for room: from the start of work
	Collective             // from the start of the collective of each rank
	Kinds
)

var kindNames = [Kinds]string{"program", "stream", "launch", "handoff", "event", "event?", "sync", "sync?", "free?", "staged", "queue", "collective"}

func (k Kind) String() string { return kindNames[k] }

// FromEnd reports whether edges of a kind start at the end of their source, not at its start.
func (k Kind) FromEnd() bool { return k != Launch && k != Staged && k != Queue && k != Collective }

func (k Kind) Inferred() bool { return k == EventGuess || k == SyncGuess || k == Free }

// None is the number of no node, span or edge.
const None int32 = -1

// What a node is besides its class.
const (
	IsGPU     uint8 = 1 << iota
	IsArrival       // starts at a time that nothing in the graph determines
	IsGraph         // work of a CUDA graph launch
	graphGap        // the stream's previous work belongs to the same graph launch
	Blocks          // the own part of a call that blocks
	IsJoin          // the end of a call that blocks
	IsMatched       // the arrival of a rank at a collective
	isMoved         // what follows it follows its join
)

// A Node is an activity; its start and its duration are in lists of their own. Its chain is the order
// of its thread or stream: that of most nodes is their only edge, so it is part of the node.
type Node struct {
	Lag   int32 // of the chain; longLag if it is in Graph.long
	Pred  int32 // the chain's source, or none
	Owner int32 // the span of the host, or the number of the work; none without an open span
	First int32 // edge besides the chain, or none
	Class Class
	Flags uint8
	Rank  uint16
}

// InProgramOrder reports whether a node of the host follows the one before on its thread and waits for nothing else.
func (n *Node) InProgramOrder() bool {
	return n.First == None && n.Flags&(IsGPU|IsArrival) == 0 && n.Pred != None
}

// longLag stands for a lag that takes more than 32 bits.
const longLag = math.MinInt32

// An edge is a constraint besides the chain.
type edge struct {
	Typ, Lag int64 // its typical delay; its delay here
	Src      int32
	Next     int32
	Kind     Kind
	Binds    bool // it determined the start of its target; if no edge did, the chain did
}

// A Step is a part of the program's time that is answered for.
type Step struct {
	Name  string
	Start int64
	Ends  []int32 // the last node of the host, and the works launched in the step
	First int32   // node of the host at the start, or none
	Rank  int
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
	Start, Dur []int64 // of the nodes
	Nodes      []Node
	long       map[int32]int64 // lags of chains that take more than 32 bits
	Extra      []edge
	Batches    []int32 // nodes with which batches of other processes are taken: arrivals, or calls that are too short for one
	last       int32   // the node that the newest edge goes into
	Order      []int32 // each node follows the sources of its edges
	Steps      []Step

	Ranks   []*Source
	Streams [][]int32 // works of each stream, by start
	Calls   []launcher
	typical Delays
	Counts  Counts
	Doubts  []string          // see [Graph.Doubt]
	Events  profilercost.Cost // of recording an event
}

// A launcher is a call that launched work.
type launcher struct {
	Span  int32 // of its source
	Rank  int
	Node  int32
	Works []int32
	graph bool
}

// A Source has the events that the nodes of a rank stand for.
type Source struct {
	T     *trace.Trace
	Spans []Span
	Works []work

	Tracks     []trace.TrackID // of the threads
	Rank       int
	hostComm   []int32 // nodes of collectives of the CPU, by start
	Kineto     bool    // PyTorch's profiler recorded it
	impossible int     // events whose times cannot be true
	Offset     int64   // of its clock, which is subtracted from all times

	unrecorded interval.Set // see [Graph.UnrecordedWait], on the clock of the rank

	Phase    func(at int64) string // see [Options.Phase]
	isModule []bool                // by name
	Forward  *byID                 // operators of forward passes by sequence number; nil if the trace has no modules
}

// A work is one piece of GPU work.
type work struct {
	A      *trace.Activity
	Call   int32 // number of its launcher, or none
	Stream int32
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
	Far     = 1 << 61                         // times of nodes are less, so that sums with a delay do not overflow
	latest  = Far - Far/8                     // events start before: the year 2033 in ns
	Longest = 1 << 60                         // no duration is longer after a change
	Real    = 100 * 3600 * 1000 * 1000 * 1000 // no event of a program lasts longer: 100 hours
)

// Within returns the time that is closest to t and not beyond a limit.
func Within(t, limit int64) int64 { return min(max(t, -limit), limit) }

// Scaled returns t times a factor that is not negative.
func Scaled(t int64, f float64) int64 {
	x := float64(t) * f
	if math.Abs(x) < Far {
		return int64(x)
	} else if x < 0 {
		return -Far
	}
	return Far
}

// fits reports whether an event can have the duration, and moves its start to the times that are
// computed with. An event that cannot is left out.
func (s *Source) fits(start *int64, dur int64) bool {
	t := Within(*start, latest)
	if dur = max(0, dur); dur > Real {
		s.impossible++
		return false
	} else if t != *start {
		s.impossible++
		*start = t
	}
	return true
}

// Offset returns what is added to times of the graph for times on the clock of a rank.
func (g *Graph) Offset(rank int) int64 { return g.Ranks[rank].Offset }

// Typ returns the typical delay of the chain of v.
func (g *Graph) Typ(v int32) int64 {
	switch n := &g.Nodes[v]; {
	case n.Flags&IsGPU == 0:
		return 0
	case n.Flags&graphGap != 0:
		return g.typical.GraphGap
	default:
		return g.typical.Gap
	}
}

// ChainKind returns the kind of the chain of v.
func (g *Graph) ChainKind(v int32) Kind {
	if g.Nodes[v].Flags&IsGPU != 0 {
		return Stream
	}
	return Program
}

// add returns the number of a new node, whose chain follows pred.
func (g *Graph) add(start, end int64, class Class, owner, pred int32, flags uint8) int32 {
	g.Start, g.Dur = append(g.Start, start), append(g.Dur, max(0, end-start))
	g.Nodes = append(g.Nodes, Node{Class: class, Owner: owner, Pred: pred, First: None, Flags: flags})
	return int32(len(g.Nodes) - 1)
}

// reserve makes room for a number of nodes more.
func (g *Graph) reserve(n int) {
	g.Start, g.Dur, g.Nodes = slices.Grow(g.Start, n), slices.Grow(g.Dur, n), slices.Grow(g.Nodes, n)
}

func (g *Graph) End(v int32) int64 { return g.Start[v] + g.Dur[v] }

// LagOf returns the delay of the chain of v.
func (g *Graph) LagOf(v int32) int64 {
	if lag := g.Nodes[v].Lag; lag != longLag {
		return int64(lag)
	}
	return g.long[v]
}

func (g *Graph) setLag(v int32, lag int64) {
	if n := &g.Nodes[v]; lag > longLag && lag <= math.MaxInt32 {
		n.Lag = int32(lag)
		return
	}
	if g.long == nil {
		g.long = make(map[int32]int64)
	}
	g.Nodes[v].Lag, g.long[v] = longLag, lag
}

// link adds an edge from src to v after those that v has.
func (g *Graph) link(src, v int32, typ int64, k Kind) {
	if src == None || src == v {
		return
	}
	g.Extra = append(g.Extra, edge{Typ: typ, Src: src, Next: None, Kind: k})
	id := int32(len(g.Extra) - 1)
	last := g.last
	g.last = v
	if g.Nodes[v].First == None {
		g.Nodes[v].First = id
		return
	}
	at := g.Nodes[v].First
	if last == v {
		at = id - 1
	}
	for g.Extra[at].Next != None {
		at = g.Extra[at].Next
	}
	g.Extra[at].Next = id
}

// From returns when the source of an edge allows its target to start, without the delay.
func (g *Graph) From(src int32, k Kind) int64 {
	if k.FromEnd() {
		return g.End(src)
	}
	return g.Start[src]
}

// LaunchOf returns the launcher of work, or nil.
func (g *Graph) LaunchOf(v int32) *launcher {
	w := g.Work(v)
	if w.Call == None {
		return nil
	}
	return &g.Calls[w.Call]
}

func (g *Graph) Work(v int32) *work { return &g.Ranks[g.Nodes[v].Rank].Works[g.Nodes[v].Owner] }

// SpanOf returns the event around a node: of a node of the host the innermost that is open, of
// work the call that launched it. It may be nil.
func (g *Graph) SpanOf(v int32) *Span {
	n := &g.Nodes[v]
	s := n.Owner
	if n.Flags&IsGPU != 0 {
		l := g.LaunchOf(v)
		if l == nil {
			return nil
		}
		s = l.Span
	}
	if s == None {
		return nil
	}
	return &g.Ranks[n.Rank].Spans[s]
}

// Name returns the name of a node: of its work or its innermost event.
func (g *Graph) Name(v int32) string {
	n := &g.Nodes[v]
	src := g.Ranks[n.Rank]
	if n.Flags&IsGPU != 0 {
		return src.T.Name(src.Works[n.Owner].A.Name)
	}
	if n.Owner == None {
		return "(no span)"
	}
	return src.T.Name(src.Spans[n.Owner].Name)
}

// Operator returns the name of the innermost operator around a node, or "".
func (g *Graph) Operator(v int32) string {
	src := g.Ranks[g.Nodes[v].Rank]
	if s := g.SpanOf(v); s != nil && s.Op != None {
		return src.T.Name(src.Spans[s.Op].Name)
	}
	return ""
}

func (s *Source) Parent(x *Span) *Span {
	if x.Parent == None {
		return nil
	}
	return &s.Spans[x.Parent]
}

// Percent returns part of whole in percent.
func Percent(part, whole int64) float64 { return 100 * float64(part) / float64(max(1, whole)) }
