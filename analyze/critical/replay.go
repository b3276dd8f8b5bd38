package critical

import (
	"math"
	"slices"

	"assay/analyze/critical/graph"
)

// What a change does to a node.
const (
	IsSet     uint16 = 1 << iota // its duration is given, not scaled
	IsRemoved                    // no time, no gap, no launch
	NoDelay                      // --hide: its launch is not slowed
	NoSync                       // does not wait for work
	NoWait                       // does not wait for events
	OffStream                    // not in the order of its stream
	NoLaunch                     // not launched by itself, as part of a captured graph; or launched in time
)

// A Rule says what changes do to durations and delays.
type Rule struct {
	Dur      []int64
	Flags    []uint16
	Marked   uint16            // the flags of any node
	Arrivals map[int32]float64 // factors of the time at which batches come
	Launch   float64           // factor of launch delays
	Gap      float64           // factor of gaps between kernels
	origin   int64             // from which arrivals are scaled
	strict   bool              // no delay is longer than typical
	OnTime   int32             // the rank that no other waits for in collectives, or none
	Before   []int32           // of work that leaves its stream: the last work before that stays, or none
}

// Unchanged returns the rule that changes nothing. Its durations are those of the graph, its flags are none.
func (g *Program) Unchanged() *Rule {
	return &Rule{Dur: g.Dur, Launch: 1, Gap: 1, OnTime: graph.None, Flags: g.unmarked, origin: g.origin}
}

// Rejoin finds what follows work that leaves the order of its stream.
func (r *Rule) Rejoin(g *Program) {
	if r.Marked&OffStream == 0 {
		return
	}
	r.Before = make([]int32, len(g.Nodes))
	for _, v := range g.Order { // sources come first
		if src := g.Nodes[v].Pred; src != graph.None && r.Flags[src]&OffStream != 0 {
			r.Before[v] = r.Before[src]
		} else {
			r.Before[v] = src
		}
	}
}

// A Run has the nodes from one number to before another. In a chain each starts when the one before it ends.
type Run struct {
	from, to int32
	chain    bool
}

// stretches divides an order of nodes: most are in long chains of events of the host, whose replay is a sum.
func (g *Program) stretches(order []int32) (out []Run) {
	for _, v := range order {
		n := &g.Nodes[v]
		chain := n.InProgramOrder() && n.Pred == v-1 && n.Lag == 0
		if k := len(out) - 1; k >= 0 && out[k].to == v && out[k].chain == chain {
			out[k].to++
			continue
		}
		out = append(out, Run{v, v + 1, chain})
	}
	return out
}

// ReplayInto computes the starts of nodes anew: of all, or of those that a step depends on. Each follows
// the sources of its edges. It uses memory for the starts, which may be nil, as may r.
func (g *Program) ReplayInto(start []int64, r *Rule, strict bool, order []Run) Times {
	if r == nil {
		r = g.Unchanged()
	}
	r.strict = strict
	if start == nil {
		start = make([]int64, len(g.Nodes))
	}
	t := Times{start: start, dur: r.Dur, rule: r}
	plain := !strict && r.Gap == 1 && r.Launch == 1 && r.Marked&OffStream == 0 && r.OnTime == graph.None
	for _, s := range order {
		if s.chain {
			at, starts := t.End(s.from-1), start[s.from:s.to]
			for i, dur := range r.Dur[s.from:s.to] {
				at = min(at, graph.Far)
				starts[i] = at
				at += dur // no sum overflows, see far and longest
			}
			continue
		}
		for v := s.from; v < s.to; v++ {
			if plain && r.Flags[v] == 0 && g.Nodes[v].Flags&graph.IsArrival == 0 {
				t.start[v] = graph.Within(r.soonest(g, &t, v), graph.Far)
				continue
			}
			h, at := r.latest(g, &t, v)
			switch {
			case g.Nodes[v].Flags&graph.IsArrival != 0:
				if came := r.arrival(g, v); h.src == graph.None || came > at {
					at = came
				}
			case h.src == graph.None:
				at = g.Start[v]
			}
			t.start[v] = graph.Within(at, graph.Far)
		}
	}
	return t
}

// Needed returns the nodes that the ends of steps depend on, in the order of a replay.
func Needed(g *Program, steps []int) []Run {
	need, n := make([]bool, len(g.Nodes)), 0
	for _, i := range steps {
		for _, v := range g.Steps[i].Ends {
			need[v] = true
		}
		if v := g.Steps[i].First; v != graph.None {
			need[v] = true
		}
	}
	for _, v := range slices.Backward(g.Order) {
		if !need[v] {
			continue
		}
		n++
		x := &g.Nodes[v]
		if x.Pred != graph.None {
			need[x.Pred] = true
		}
		for e := x.First; e != graph.None; e = g.Extra[e].Next {
			need[g.Extra[e].Src] = true
		}
	}
	out := make([]int32, 0, n)
	for _, v := range g.Order {
		if need[v] {
			out = append(out, v)
		}
	}
	return g.stretches(out)
}

// soonest returns when the edges into v allow it to start, if no change is to their delays: what latest says of most work.
func (r *Rule) soonest(g *Program, t *Times, v int32) int64 {
	n := &g.Nodes[v]
	if n.Pred == graph.None && n.First == graph.None {
		return g.Start[v]
	}
	at := int64(math.MinInt64)
	if n.Pred != graph.None {
		at = t.start[n.Pred] + t.dur[n.Pred] + g.LagOf(v)
	}
	for e := n.First; e != graph.None; {
		x := &g.Extra[e]
		from, lag := t.start[x.Src], x.Lag
		switch {
		case x.Kind.FromEnd():
			from += t.dur[x.Src]
		case (x.Kind == graph.Launch || x.Kind == graph.Staged) && t.dur[x.Src] != g.Dur[x.Src]:
			lag = r.delay(g, v, x.Src, x.Kind, x.Typ, lag)
		}
		at = max(at, from+lag)
		e = x.Next
	}
	return at
}

// latest returns the edge into v that allows it to start last under the rule, and when. The source is
// none if there is no edge. Of edges that allow the same time, the launch comes first, then the chain.
func (r *Rule) latest(g *Program, t *Times, v int32) (best hop, at int64) {
	n := &g.Nodes[v]
	best, at = hop{src: graph.None}, math.MinInt64
	e := n.First
	if e != graph.None && g.Extra[e].Kind == graph.Launch {
		x := &g.Extra[e]
		if e = x.Next; r.Flags[v]&(NoLaunch|IsRemoved) == 0 {
			best, at = hop{x.Src, graph.Launch, x.Typ}, t.start[x.Src]+r.delay(g, v, x.Src, graph.Launch, x.Typ, x.Lag)
		}
	}
	if n.Pred != graph.None {
		k, src, typ, lag := g.ChainKind(v), n.Pred, g.Typ(v), g.LagOf(v)
		if k == graph.Stream && r.Flags[src]&OffStream != 0 { // follow the work before the one that moved
			src, typ, lag = r.Before[src], 0, 0
		}
		if src != graph.None {
			if start := t.End(src) + r.delay(g, v, src, k, typ, lag); start > at {
				best, at = hop{src, k, typ}, start
			}
		}
	}
	for ; e != graph.None; e = g.Extra[e].Next {
		x := &g.Extra[e]
		switch {
		case (x.Kind == graph.Sync || x.Kind == graph.SyncGuess || x.Kind == graph.Free || x.Kind == graph.Staged) && r.Flags[v]&NoSync != 0:
		case (x.Kind == graph.Event || x.Kind == graph.EventGuess) && r.Flags[v]&NoWait != 0:
		case x.Kind == graph.Collective && r.OnTime != graph.None && int32(g.Nodes[x.Src].Rank) == r.OnTime:
		default:
			if start := t.from(x.Src, x.Kind) + r.delay(g, v, x.Src, x.Kind, x.Typ, x.Lag); start > at {
				best, at = hop{x.Src, x.Kind, x.Typ}, start
			}
		}
	}
	return best, at
}

// arrival returns when an arrival comes under the rule.
func (r *Rule) arrival(g *Program, v int32) int64 {
	if r.Flags[v]&IsSet != 0 {
		return r.origin
	} else if f, ok := r.Arrivals[v]; ok {
		return r.origin + graph.Scaled(g.Start[v]-r.origin, f)
	}
	return g.Start[v]
}

// delay returns the delay of an edge under the rule.
func (r *Rule) delay(g *Program, v, src int32, k graph.Kind, typ, lag int64) int64 {
	return graph.Within(r.lagOf(g, v, src, k, typ, lag), 2*graph.Far-1)
}

func (r *Rule) lagOf(g *Program, v, src int32, k graph.Kind, typ, lag int64) int64 {
	if r.strict {
		lag = min(lag, typ)
	}
	switch k {
	case graph.Launch: // the part within the call scales with the call
		if r.Dur[src] == g.Dur[src] && r.Launch == 1 && r.Flags[v]&NoDelay == 0 {
			return lag
		}
		own := min(lag, g.Dur[src])
		f := 1.0
		if d := g.Dur[src]; d != 0 {
			f = float64(r.Dur[src]) / float64(d)
		}
		if r.Flags[v]&NoDelay != 0 && r.Launch == 1 {
			return graph.Scaled(own, f)
		}
		return graph.Scaled(own, min(f, 1)) + graph.Scaled(lag-own, r.Launch)
	case graph.Staged:
		return graph.Scaled(lag, float64(r.Dur[src])/float64(max(1, g.Dur[src])))
	case graph.Stream, graph.Event, graph.EventGuess:
		switch {
		case r.Flags[v]&IsRemoved != 0:
			return 0
		case r.Flags[v]&NoLaunch != 0 || r.Gap == 1:
			return lag
		}
		own := lag // the delay itself, not a wait that nothing explains
		if lag > typ+graph.Jitter {
			own = typ
		}
		return graph.Scaled(own, r.Gap) + lag - own
	}
	return lag
}
