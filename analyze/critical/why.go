package critical

import (
	"slices"
	"strings"

	"assay/internal/interval"
	"assay/trace"
)

// Starts answers why the nodes of a graph started when they did.
type Starts struct{ *Graph }

// StartsOf returns the starts of a graph.
func StartsOf(g *Graph) Starts {
	g.finish()
	return Starts{g}
}

// A Place is where a node is: on a stream of a GPU or on a thread of the host.
type Place struct {
	Rank     int // its number, and its place in the order of [Join]
	Input    int
	Track    trace.TrackID
	GPU      bool
	Class    Class
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

	kind kind
}

// Find returns the node of GPU work that starts on a stream at a time of its rank's clock.
func (g Starts) Find(input int, device, stream, start int64, name string) (v int32, ok bool) {
	start -= g.Offset(input)
	tracks := g.ranks[input].t.Tracks
	for v := range g.nodes {
		n := &g.nodes[v]
		if n.flags&isGPU == 0 || int(n.rank) != input || g.start[v] != start || g.name(int32(v)) != name {
			continue
		}
		if t := &tracks[g.work(int32(v)).a.Track]; t.Device == device && t.Stream == stream {
			return int32(v), true
		}
	}
	return none, false
}

// Place returns where a node is.
func (g Starts) Place(v int32) Place {
	n := &g.nodes[v]
	src := g.ranks[n.rank]
	p := Place{Rank: src.rank, Input: int(n.rank), Class: n.class, GPU: n.flags&isGPU != 0, Name: g.name(v), Operator: g.operator(v),
		Span: interval.Span{Start: g.start[v], End: g.end(v)}}
	if p.GPU {
		p.Track, p.Launched = src.works[n.owner].a.Track, src.works[n.owner].call != none
		return p
	}
	for u := v; u != none; u = g.nodes[u].pred { // time without a span is on the thread of what came before
		if o := g.nodes[u].owner; o != none {
			p.Track = src.tracks[src.spans[o].thread]
			break
		}
	}
	return p
}

// Causes returns what v waited for, in the order in which edges are considered.
func (g Starts) Causes(v int32) (out []Cause) {
	n := &g.nodes[v]
	arrives := n.flags&isArrival != 0 && n.pred != none && g.start[v] > g.end(n.pred)
	add := func(src int32, k kind, typ int64, binds bool) {
		ready := g.from(src, k)
		c := Cause{Kind: strings.TrimSuffix(k.String(), "?"), Inferred: k.inferred(), Source: src, Ready: ready,
			Delay: g.start[v] - ready, Typical: typ, Binds: binds, kind: k}
		if late := c.Delay - typ; !binds {
			c.Spare = max(0, late)
		} else if late > jitter && k != free {
			c.Unexplained = late
		}
		out = append(out, c)
	}
	bound := true // by the chain
	for e := n.first; e != none; e = g.extra[e].next {
		x := &g.extra[e]
		bound = bound && !x.binds
		add(x.src, x.kind, x.typ, x.binds)
	}
	if n.pred != none {
		add(n.pred, g.chainKind(v), g.typ(v), bound && !arrives)
	}
	if arrives {
		out = append(out, Cause{Kind: "arrival", Source: none, Ready: g.start[v], Binds: true})
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
	for c != nil && c.Source != none && c.Unexplained == 0 && len(out) < most {
		l := Link{First: c.Source, Last: c.Source, Names: make(map[string]int64)}
		until := g.from(c.Source, c.kind)
		for {
			n := &g.nodes[l.First]
			l.Nodes++
			if d := min(g.end(l.First), until) - g.start[l.First]; d > 0 {
				l.Names[g.Label(&Piece{class: n.class, node: l.First})] += d
			}
			l.Causes = g.Causes(l.First)
			c = Bound(l.Causes)
			if c == nil || c.Source != n.pred || c.Unexplained > 0 || g.start[l.First] <= since {
				break
			}
			l.First = c.Source
		}
		l.Span = interval.Span{Start: g.start[l.First], End: until}
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
	n := &g.nodes[v]
	for i := range paths {
		if p := &paths[i]; p.Rank == int(n.rank) && p.Window.Start <= g.start[v] && g.start[v] < p.Window.End {
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
	n := &g.nodes[v]
	return slices.ContainsFunc(g.Pieces(p), func(x Piece) bool {
		o := &g.nodes[x.node]
		return !x.delay && o.flags&isGPU != 0 && o.owner == n.owner && o.rank == n.rank
	})
}

// A Stretch is a piece of a path with what its node waited for.
type Stretch struct {
	Class Class
	Place Place // of the node whose time or wait it is
	Delay bool  // it is the wait, not the time of the node
	Bound *Cause
	Next  *Cause // the cause with the least slack that did not bind
}

// Stretch returns what a piece of a path is.
func (g Starts) Stretch(p *Piece) Stretch {
	out := Stretch{Class: p.class, Place: g.Place(p.node), Delay: p.delay}
	causes := g.Causes(p.node)
	out.Bound = Bound(causes)
	for i := range causes {
		if c := &causes[i]; !c.Binds && (out.Next == nil || c.Spare < out.Next.Spare) {
			out.Next = c
		}
	}
	return out
}
