package critical

import "slices"

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
	arrivals map[int32]float64 // factors of the time at which batches come
	launch   float64           // factor of launch delays
	gap      float64           // factor of gaps between kernels
	origin   int64             // from which arrivals are scaled
	strict   bool              // no delay is longer than typical
	before   []int32           // of work that leaves its stream: the last work before that stays, or none
}

// unchanged returns the rule that changes nothing.
func (g *Graph) unchanged() *rule {
	r := &rule{dur: make([]int64, len(g.nodes)), launch: 1, gap: 1, flags: make([]uint16, len(g.nodes))}
	for v := range g.nodes {
		r.dur[v] = g.nodes[v].dur
		if v == 0 || g.nodes[v].start < r.origin {
			r.origin = g.nodes[v].start
		}
	}
	return r
}

// rejoin finds what follows work that leaves the order of its stream.
func (r *rule) rejoin(g *Graph) {
	if !slices.ContainsFunc(r.flags, func(f uint16) bool { return f&offStream != 0 }) {
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

// replay computes the starts of nodes anew: of all, or of those that a step depends on. Each follows
// the sources of its edges. r may be nil.
func (g *Graph) replay(r *rule, strict bool, order []int32) times {
	return g.replayInto(nil, r, strict, order)
}

// replayInto is replay with memory for the starts, which may be nil.
func (g *Graph) replayInto(start []int64, r *rule, strict bool, order []int32) times {
	if r == nil {
		r = g.unchanged()
	}
	r.strict = strict
	if start == nil {
		start = make([]int64, len(g.nodes))
	}
	t := times{start: start, dur: r.dur, rule: r}
	at, any := int64(0), false
	latest := func(_ int32, _ kind, _, start int64) {
		if !any || start > at {
			at, any = start, true
		}
	}
	for _, v := range order {
		n := &g.nodes[v]
		if n.first == none && n.flags&(isGPU|isArrival) == 0 && n.pred != none { // most nodes, which are host events
			lag := n.lag
			if strict {
				lag = min(lag, 0)
			}
			t.start[v] = within(t.end(n.pred)+within(lag, 2*far-1), far)
			continue
		}
		at, any = 0, false
		if r.edges(g, &t, v, latest); !any {
			at = n.start
		}
		t.start[v] = within(at, far)
	}
	return t
}

// needed returns the nodes that the ends of steps depend on, in the order of a replay.
func needed(g *Graph, steps []int) (out []int32) {
	need := make([]bool, len(g.nodes))
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
		out = append(out, v)
		n := &g.nodes[v]
		if n.pred != none {
			need[n.pred] = true
		}
		for e := n.first; e != none; e = g.extra[e].next {
			need[g.extra[e].src] = true
		}
	}
	slices.Reverse(out)
	return out
}

// edges calls f with every edge into v that the rule leaves, and when it allows v to start. A
// source of none is a fixed time.
func (r *rule) edges(g *Graph, t *times, v int32, f func(src int32, k kind, typ, start int64)) {
	n := &g.nodes[v]
	e := n.first
	if e != none && g.extra[e].kind == launch {
		x := &g.extra[e]
		if e = x.next; r.flags[v]&(noLaunch|isRemoved) == 0 {
			f(x.src, launch, x.typ, t.start[x.src]+r.delay(g, v, x.src, launch, x.typ, x.lag))
		}
	}
	if n.pred != none {
		k, src, typ, lag := g.chainKind(v), n.pred, g.typ(v), n.lag
		if k == stream && r.flags[src]&offStream != 0 { // follow the work before the one that moved
			src, typ, lag = r.before[src], 0, 0
		}
		if src != none {
			f(src, k, typ, t.end(src)+r.delay(g, v, src, k, typ, lag))
		}
	}
	for ; e != none; e = g.extra[e].next {
		x := &g.extra[e]
		switch {
		case (x.kind == sync || x.kind == syncGuess || x.kind == free) && r.flags[v]&noSync != 0:
		case (x.kind == event || x.kind == eventGuess) && r.flags[v]&noWait != 0:
		default:
			f(x.src, x.kind, x.typ, t.from(x.src, x.kind)+r.delay(g, v, x.src, x.kind, x.typ, x.lag))
		}
	}
	if n.flags&isArrival != 0 {
		at := n.start
		if f, ok := r.arrivals[v]; ok {
			at = r.origin + scaled(n.start-r.origin, f)
		} else if r.flags[v]&isSet != 0 {
			at = r.origin
		}
		f(none, program, 0, at)
	}
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
		own := min(lag, g.nodes[src].dur)
		f := 1.0
		if d := g.nodes[src].dur; d != 0 {
			f = float64(r.dur[src]) / float64(d)
		}
		if r.flags[v]&noDelay != 0 && r.launch == 1 {
			return scaled(own, f)
		}
		return scaled(own, min(f, 1)) + scaled(lag-own, r.launch)
	case stream, event, eventGuess:
		switch {
		case r.flags[v]&isRemoved != 0:
			return 0
		case r.flags[v]&noLaunch != 0:
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
