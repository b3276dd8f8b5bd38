package critical

import (
	"slices"
	"strings"

	"assay/analyze/critical/graph"
	"assay/internal/interval"
	"assay/trace"
)

// Starts answers why the nodes of a graph started when they did.
type Starts struct{ *Program }

// A Place is where a node is: on a stream of a GPU or on a thread of the host.
type Place struct {
	Rank     int // its number, and its place in the order of [Join]
	Input    int
	Track    trace.TrackID
	GPU      bool
	Class    graph.Class
	Name     string
	Operator string        // the innermost around it, or around its launch; ""
	Launched bool          // GPU work whose launch is in the trace
	Span     interval.Span // on the clock of the graph
}

// A Cause is one thing that had to come before a node could start. Times are on the clock of the
// graph.
type Cause struct {
	Kind     string // program, stream, launch, handoff, event, sync, free, queue, collective or arrival
	Inferred bool   // not recorded, but concluded from the order of calls
	Source   int32  // the node that it waited for; none for an arrival
	Ready    int64  // when the source allowed the start, before the delay
	Delay    int64  // from then to the start
	Typical  int64  // what this delay usually is
	Binds    bool   // it determined the start

	// Spare is how much later the source could have come without moving the start.
	Spare int64
	// Unexplained is the part of the delay that nothing in the trace explains, if this binds.
	Unexplained int64

	kind graph.Kind
}

// Find returns the node of GPU work that starts on a stream at a time of its rank's clock.
func (g Starts) Find(input int, device, stream, start int64, name string) (v int32, ok bool) {
	start -= g.Offset(input)
	tracks := g.Ranks[input].T.Tracks
	for v := range g.Nodes {
		n := &g.Nodes[v]
		if n.Flags&graph.IsGPU == 0 || int(n.Rank) != input || g.Start[v] != start || g.Name(int32(v)) != name {
			continue
		}
		if t := &tracks[g.Work(int32(v)).A.Track]; t.Device == device && t.Stream == stream {
			return int32(v), true
		}
	}
	return graph.None, false
}

// Place returns where a node is.
func (g Starts) Place(v int32) Place {
	n := &g.Nodes[v]
	src := g.Ranks[n.Rank]
	p := Place{Rank: src.Rank, Input: int(n.Rank), Class: n.Class, GPU: n.Flags&graph.IsGPU != 0, Name: g.Name(v), Operator: g.Operator(v),
		Span: interval.Span{Start: g.Start[v], End: g.End(v)}}
	if p.GPU {
		p.Track, p.Launched = src.Works[n.Owner].A.Track, src.Works[n.Owner].Call != graph.None
		return p
	}
	for u := v; u != graph.None; u = g.Nodes[u].Pred { // time without a span is on the thread of what came before
		if o := g.Nodes[u].Owner; o != graph.None {
			p.Track = src.Tracks[src.Spans[o].Thread]
			break
		}
	}
	return p
}

// Causes returns what v waited for, in the order in which edges are considered.
func (g Starts) Causes(v int32) (out []Cause) {
	n := &g.Nodes[v]
	arrives := n.Flags&graph.IsArrival != 0 && n.Pred != graph.None && g.Start[v] > g.End(n.Pred)
	add := func(src int32, k graph.Kind, typ int64, binds bool) {
		ready := g.From(src, k)
		c := Cause{Kind: strings.TrimSuffix(k.String(), "?"), Inferred: k.Inferred(), Source: src, Ready: ready,
			Delay: g.Start[v] - ready, Typical: typ, Binds: binds, kind: k}
		if late := c.Delay - typ; !binds {
			c.Spare = max(0, late)
		} else if late > graph.Jitter && k != graph.Free {
			c.Unexplained = late
		}
		out = append(out, c)
	}
	bound := true // by the chain
	for e := n.First; e != graph.None; e = g.Extra[e].Next {
		x := &g.Extra[e]
		bound = bound && !x.Binds
		add(x.Src, x.Kind, x.Typ, x.Binds)
	}
	if n.Pred != graph.None {
		add(n.Pred, g.ChainKind(v), g.Typ(v), bound && !arrives)
	}
	if arrives {
		out = append(out, Cause{Kind: "arrival", Source: graph.None, Ready: g.Start[v], Binds: true})
	}
	return out
}

// A Link is a run of nodes that follow each other on one lane, and what the first of them waited
// for.
type Link struct {
	First, Last int32
	Nodes       int
	Span        interval.Span    // until it allowed what came after
	Causes      []Cause          // of the first
	Names       map[string]int64 // what the time of the nodes was spent on, in ns
}

// Bound returns the cause that determined a start, or nil.
func Bound(list []Cause) *Cause {
	for i := range list {
		if list[i].Binds {
			return &list[i]
		}
	}
	return nil
}

// Chain returns what a start waited for, and what that waited for, and so on: at most a number of
// links, back to a time of the graph, or to a start that the trace does not explain.
func (g Starts) Chain(c *Cause, most int, since int64) (out []Link) {
	for c != nil && c.Source != graph.None && c.Unexplained == 0 && len(out) < most {
		l := Link{First: c.Source, Last: c.Source, Names: make(map[string]int64)}
		until := g.From(c.Source, c.kind)
		for {
			n := &g.Nodes[l.First]
			l.Nodes++
			if d := min(g.End(l.First), until) - g.Start[l.First]; d > 0 {
				l.Names[g.Label(&Piece{Class: n.Class, Node: l.First})] += d
			}
			l.Causes = g.Causes(l.First)
			c = Bound(l.Causes)
			if c == nil || c.Source != n.Pred || c.Unexplained > 0 || g.Start[l.First] <= since {
				break
			}
			l.First = c.Source
		}
		l.Span = interval.Span{Start: g.Start[l.First], End: until}
		out = append(out, l)
		if l.Span.Start <= since {
			break
		}
	}
	return out
}

// StepOf returns the path of the step in which a node starts, or nil, and how far what the node
// waited for can be trusted.
func (g Starts) StepOf(paths []Path, v int32) (*Path, Verdict) {
	n := &g.Nodes[v]
	for i := range paths {
		if p := &paths[i]; p.Rank == int(n.Rank) && p.Window.Start <= g.Start[v] && g.Start[v] < p.Window.End {
			return p, p.Verdict
		}
	}
	out := g.verdict(&Path{})
	out.Add(Warn, "it starts outside of the steps")
	return nil, out
}

// On reports whether a path leads through the GPU work of v: of a collective of several ranks, also
// through its transfer.
func (g Starts) On(p *Path, v int32) bool {
	n := &g.Nodes[v]
	return slices.ContainsFunc(g.Pieces(p), func(x Piece) bool {
		o := &g.Nodes[x.Node]
		return !x.Delay && o.Flags&graph.IsGPU != 0 && o.Owner == n.Owner && o.Rank == n.Rank
	})
}

// A Stretch is a piece of a path with what its node waited for.
type Stretch struct {
	Class graph.Class
	Place Place // of the node whose time or wait it is
	Delay bool  // it is the wait, not the time of the node
	Bound *Cause
	Next  *Cause // the cause with the least slack that did not bind
}

// Stretch returns what a piece of a path is.
func (g Starts) Stretch(p *Piece) Stretch {
	out := Stretch{Class: p.Class, Place: g.Place(p.Node), Delay: p.Delay}
	causes := g.Causes(p.Node)
	out.Bound = Bound(causes)
	for i := range causes {
		if c := &causes[i]; !c.Binds && (out.Next == nil || c.Spare < out.Next.Spare) {
			out.Next = c
		}
	}
	return out
}
