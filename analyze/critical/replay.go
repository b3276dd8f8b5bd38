package critical

import (
	"math"
	"slices"
)

// What a change does to a node.
const (
	isSet     uint16 = 1 << iota // its duration is given, not scaled
	isRemoved                    // no time, no gap, no launch
	noDelay                      // --hide: its launch is not slowed
	noSync                       // does not wait for work
	noWait                       // does not wait for events
	offStream                    // not in the order of its stream
	noLaunch                     // part of a captured graph: not launched by itself
)

// A rule says what changes do to durations and delays.
type rule struct {
	dur      []int64
	flags    []uint16
	marked   uint16            // the flags of any node
	arrivals map[int32]float64 // factors of the time at which batches come
	launch   float64           // factor of launch delays
	gap      float64           // factor of gaps between kernels
	origin   int64             // from which arrivals are scaled
	strict   bool              // no delay is longer than typical
	onTime   int32             // the rank that no other waits for in collectives, or none
	before   []int32           // of work that leaves its stream: the last work before that stays, or none
}

// unchanged returns the rule that changes nothing. Its durations are those of the graph, its flags are none.
func (g *Graph) unchanged() *rule {
	if g.unmarked == nil && len(g.start) > 0 {
		g.unmarked, g.origin = make([]uint16, len(g.nodes)), slices.Min(g.start)
	}
	return &rule{dur: g.dur, launch: 1, gap: 1, onTime: none, flags: g.unmarked, origin: g.origin}
}

// rejoin finds what follows work that leaves the order of its stream.
func (r *rule) rejoin(g *Graph) {
	if r.marked&offStream == 0 {
		return
	}
	r.before = make([]int32, len(g.nodes))
	for _, v := range g.order { // sources come first
		if src := g.nodes[v].pred; src != none && r.flags[src]&offStream != 0 {
			r.before[v] = r.before[src]
		} else {
			r.before[v] = src
		}
	}
}

// A stretch has the nodes from one number to before another. In a chain each starts when the one before it ends.
type stretch struct {
	from, to int32
	chain    bool
}

// stretches divides an order of nodes: most are in long chains of events of the host, whose replay is a sum.
func (g *Graph) stretches(order []int32) (out []stretch) {
	for _, v := range order {
		n := &g.nodes[v]
		chain := n.inProgramOrder() && n.pred == v-1 && n.lag == 0
		if k := len(out) - 1; k >= 0 && out[k].to == v && out[k].chain == chain {
			out[k].to++
			continue
		}
		out = append(out, stretch{v, v + 1, chain})
	}
	return out
}

// replay computes the starts of nodes anew: of all, or of those that a step depends on. Each follows
// the sources of its edges. r may be nil.
func (g *Graph) replay(r *rule, strict bool, order []stretch) times {
	return g.replayInto(nil, r, strict, order)
}

// replayInto is replay with memory for the starts, which may be nil.
func (g *Graph) replayInto(start []int64, r *rule, strict bool, order []stretch) times {
	if r == nil {
		r = g.unchanged()
	}
	r.strict = strict
	if start == nil {
		start = make([]int64, len(g.nodes))
	}
	t := times{start: start, dur: r.dur, rule: r}
	plain := !strict && r.gap == 1 && r.launch == 1 && r.marked&offStream == 0 && r.onTime == none
	for _, s := range order {
		if s.chain {
			at, starts := t.end(s.from-1), start[s.from:s.to]
			for i, dur := range r.dur[s.from:s.to] {
				at = min(at, far)
				starts[i] = at
				at += dur // no sum overflows, see far and longest
			}
			continue
		}
		for v := s.from; v < s.to; v++ {
			if plain && r.flags[v] == 0 && g.nodes[v].flags&isArrival == 0 {
				t.start[v] = within(r.soonest(g, &t, v), far)
				continue
			}
			h, at := r.latest(g, &t, v)
			switch {
			case g.nodes[v].flags&isArrival != 0:
				if came := r.arrival(g, v); h.src == none || came > at {
					at = came
				}
			case h.src == none:
				at = g.start[v]
			}
			t.start[v] = within(at, far)
		}
	}
	return t
}

// needed returns the nodes that the ends of steps depend on, in the order of a replay.
func needed(g *Graph, steps []int) []stretch {
	need, n := make([]bool, len(g.nodes)), 0
	for _, i := range steps {
		for _, v := range g.Steps[i].ends {
			need[v] = true
		}
		if v := g.Steps[i].first; v != none {
			need[v] = true
		}
	}
	for _, v := range slices.Backward(g.order) {
		if !need[v] {
			continue
		}
		n++
		x := &g.nodes[v]
		if x.pred != none {
			need[x.pred] = true
		}
		for e := x.first; e != none; e = g.extra[e].next {
			need[g.extra[e].src] = true
		}
	}
	out := make([]int32, 0, n)
	for _, v := range g.order {
		if need[v] {
			out = append(out, v)
		}
	}
	return g.stretches(out)
}

// soonest returns when the edges into v allow it to start, if no change is to their delays: what latest says of most work.
func (r *rule) soonest(g *Graph, t *times, v int32) int64 {
	n := &g.nodes[v]
	if n.pred == none && n.first == none {
		return g.start[v]
	}
	at := int64(math.MinInt64)
	if n.pred != none {
		at = t.start[n.pred] + t.dur[n.pred] + g.lagOf(v)
	}
	for e := n.first; e != none; {
		x := &g.extra[e]
		from, lag := t.start[x.src], x.lag
		switch {
		case x.kind.fromEnd():
			from += t.dur[x.src]
		case (x.kind == launch || x.kind == staged) && t.dur[x.src] != g.dur[x.src]:
			lag = r.delay(g, v, x.src, x.kind, x.typ, lag)
		}
		at = max(at, from+lag)
		e = x.next
	}
	return at
}

// latest returns the edge into v that allows it to start last under the rule, and when. The source is
// none if there is no edge. Of edges that allow the same time, the launch comes first, then the chain.
func (r *rule) latest(g *Graph, t *times, v int32) (best hop, at int64) {
	n := &g.nodes[v]
	best, at = hop{src: none}, math.MinInt64
	e := n.first
	if e != none && g.extra[e].kind == launch {
		x := &g.extra[e]
		if e = x.next; r.flags[v]&(noLaunch|isRemoved) == 0 {
			best, at = hop{x.src, launch, x.typ}, t.start[x.src]+r.delay(g, v, x.src, launch, x.typ, x.lag)
		}
	}
	if n.pred != none {
		k, src, typ, lag := g.chainKind(v), n.pred, g.typ(v), g.lagOf(v)
		if k == stream && r.flags[src]&offStream != 0 { // follow the work before the one that moved
			src, typ, lag = r.before[src], 0, 0
		}
		if src != none {
			if start := t.end(src) + r.delay(g, v, src, k, typ, lag); start > at {
				best, at = hop{src, k, typ}, start
			}
		}
	}
	for ; e != none; e = g.extra[e].next {
		x := &g.extra[e]
		switch {
		case (x.kind == sync || x.kind == syncGuess || x.kind == free || x.kind == staged) && r.flags[v]&noSync != 0:
		case (x.kind == event || x.kind == eventGuess) && r.flags[v]&noWait != 0:
		case x.kind == collective && r.onTime != none && int32(g.nodes[x.src].rank) == r.onTime:
		default:
			if start := t.from(x.src, x.kind) + r.delay(g, v, x.src, x.kind, x.typ, x.lag); start > at {
				best, at = hop{x.src, x.kind, x.typ}, start
			}
		}
	}
	return best, at
}

// arrival returns when an arrival comes under the rule.
func (r *rule) arrival(g *Graph, v int32) int64 {
	if r.flags[v]&isSet != 0 {
		return r.origin
	} else if f, ok := r.arrivals[v]; ok {
		return r.origin + scaled(g.start[v]-r.origin, f)
	}
	return g.start[v]
}

// delay returns the delay of an edge under the rule.
func (r *rule) delay(g *Graph, v, src int32, k kind, typ, lag int64) int64 {
	return within(r.lagOf(g, v, src, k, typ, lag), 2*far-1)
}

func (r *rule) lagOf(g *Graph, v, src int32, k kind, typ, lag int64) int64 {
	if r.strict {
		lag = min(lag, typ)
	}
	switch k {
	case launch: // the part within the call scales with the call
		if r.dur[src] == g.dur[src] && r.launch == 1 && r.flags[v]&noDelay == 0 {
			return lag
		}
		own := min(lag, g.dur[src])
		f := 1.0
		if d := g.dur[src]; d != 0 {
			f = float64(r.dur[src]) / float64(d)
		}
		if r.flags[v]&noDelay != 0 && r.launch == 1 {
			return scaled(own, f)
		}
		return scaled(own, min(f, 1)) + scaled(lag-own, r.launch)
	case staged:
		return scaled(lag, float64(r.dur[src])/float64(max(1, g.dur[src])))
	case stream, event, eventGuess:
		switch {
		case r.flags[v]&isRemoved != 0:
			return 0
		case r.flags[v]&noLaunch != 0 || r.gap == 1:
			return lag
		}
		own := lag // the delay itself, not a wait that nothing explains
		if lag > typ+jitter {
			own = typ
		}
		return scaled(own, r.gap) + lag - own
	}
	return lag
}
