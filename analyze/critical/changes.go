package critical

import (
	"fmt"
	"slices"
	"strings"

	"assay/analyze/critical/change"
	"assay/internal/lazyregexp"
	"assay/trace"
)

// effects has what each kind of change does to the nodes.
var effects = map[string]func(c *changing, what string, factor float64) error{
	"scale":      (*changing).scale,
	"host":       (*changing).host,
	"launch":     (*changing).launch,
	"gap":        (*changing).gaps,
	"copy":       (*changing).copies,
	"hide-comm":  (*changing).hideComm,
	"hide":       (*changing).hide,
	"remove":     (*changing).remove,
	"pinned":     (*changing).pinned,
	"fuse":       (*changing).fuse,
	"graph":      (*changing).graph,
	"overlap":    (*changing).overlap,
	"contention": (*changing).contend,
	"early":      (*changing).early,
	"like":       (*changing).like,
	"on-time":    (*changing).onTime,
}

// A changing applies changes to the nodes of a graph.
type changing struct {
	g       *Graph
	r       *rule
	any     bool               // a change has an effect
	byClass [Classes][]int32   // nodes
	byName  map[ranked][]int32 // works
	can     *fusing            // if it was needed
}

// newChanging lists the nodes of a graph by what changes select.
func newChanging(g *Graph) *changing {
	c := &changing{g: g, r: g.unchanged(), byName: make(map[ranked][]int32)}
	c.r.dur = make([]int64, len(g.dur))
	var count [Classes]int
	for v := range g.nodes {
		count[g.nodes[v].class]++
	}
	for k, n := range count {
		c.byClass[k] = make([]int32, 0, n)
	}
	for v := range g.nodes {
		n := &g.nodes[v]
		c.byClass[n.class] = append(c.byClass[n.class], int32(v))
		if n.flags&isGPU != 0 {
			key := ranked{g.work(int32(v)).a.Name, n.rank}
			c.byName[key] = append(c.byName[key], int32(v))
		}
	}
	return c
}

// apply returns the rule of several changes together, and reports whether they change anything. The
// rule is valid until the next call.
func (g *Graph) apply(list []change.Change) (*rule, bool, error) {
	if g.changing == nil {
		g.changing = newChanging(g)
	}
	c := g.changing
	c.any = false
	copy(c.r.dur, g.base())
	clear(c.r.flags)
	clear(c.r.arrivals)
	c.r.before, c.r.marked, c.r.launch, c.r.gap, c.r.onTime = nil, 0, 1, 1, none
	for _, x := range list {
		p, err := x.Parse()
		if err == nil {
			err = effects[p.Name](c, p.What, p.Factor)
		}
		if err != nil {
			return nil, false, err
		}
	}
	c.r.rejoin(g)
	return c.r, c.any, nil
}

// ofComm reports whether communication takes less time.
func (c *changing) ofComm() bool {
	return slices.ContainsFunc(c.byClass[Comm], func(v int32) bool { return c.r.dur[v] < c.g.dur[v] })
}

// scaleBy multiplies the duration of a node, unless a change gives it.
func (c *changing) scaleBy(v int32, f float64) {
	c.any = true
	if c.r.flags[v]&(isSet|isRemoved) != 0 || f == 1 {
		return
	}
	if c.g.nodes[v].flags&isArrival != 0 {
		if c.r.arrivals == nil {
			c.r.arrivals = make(map[int32]float64)
		}
		before, ok := c.r.arrivals[v]
		if !ok {
			before = 1
		}
		c.r.arrivals[v] = before * f
	}
	c.r.dur[v] = min(scaled(c.r.dur[v], f), max(longest, c.g.dur[v]))
}

func (c *changing) mark(v int32, flags uint16) {
	c.any = true
	c.r.marked |= flags
	if c.r.flags[v] |= flags; flags&isRemoved != 0 {
		c.r.dur[v] = 0
	}
}

func (c *changing) set(v int32, dur int64) {
	if c.r.flags[v]&isRemoved == 0 {
		c.r.dur[v] = min(max(0, dur), max(longest, c.g.dur[v]))
	}
	c.mark(v, isSet)
}

// each calls f with the nodes of the GPU, or of the host.
func (c *changing) each(gpu bool, f func(v int32, n *node)) {
	for k, vs := range c.byClass {
		if Class(k) != Comm && Class(k).onGPU() != gpu { // collectives of the CPU are communication too
			continue
		}
		for _, v := range vs {
			if n := &c.g.nodes[v]; n.flags&isGPU != 0 == gpu {
				f(v, n)
			}
		}
	}
}

// work calls f with the work whose name matches a pattern.
func (c *changing) work(pattern string, f func(v int32, n *node)) {
	matches := c.matcher(pattern)
	for key, vs := range c.byName {
		if matches(key.rank, key.name) {
			for _, v := range vs {
				f(v, &c.g.nodes[v])
			}
		}
	}
}

// matcher returns a function that reports whether a name of a rank matches a pattern, which
// compiles.
func (c *changing) matcher(pattern string) func(rank uint16, s trace.Sym) bool {
	match, _ := change.Compile(pattern)
	of := make([]func(trace.Sym) bool, len(c.g.ranks))
	for i, r := range c.g.ranks {
		of[i] = named(r.t, match)
	}
	return func(rank uint16, s trace.Sym) bool { return of[rank](s) }
}

// within returns a function that reports whether an event around a node matches a pattern: for
// work, around its launch.
func (c *changing) within(pattern string) func(v int32) bool {
	match, _ := change.Compile(pattern)
	inside := make([][]bool, len(c.g.ranks)) // by span: it or one around it matches
	for r, src := range c.g.ranks {
		matches, in := named(src.t, match), make([]bool, len(src.spans))
		for i := range src.spans { // parents come first
			x := &src.spans[i]
			in[i] = x.parent != none && in[x.parent] || matches(x.name)
		}
		inside[r] = in
	}
	return func(v int32) bool {
		n := &c.g.nodes[v]
		s := n.owner
		if n.flags&isGPU != 0 {
			l := c.g.launchOf(v)
			if l == nil {
				return false
			}
			s = l.span
		}
		return s != none && inside[n.rank][s]
	}
}

func (c *changing) scale(what string, f float64) error {
	scale := func(v int32, _ *node) { c.scaleBy(v, f) }
	if re, ok := strings.CutPrefix(what, "kernel~"); ok {
		c.work(re, scale)
	} else if re, ok := strings.CutPrefix(what, "op~"); ok {
		in := c.within(re)
		c.each(false, func(v int32, n *node) {
			if in(v) {
				scale(v, n)
			}
		})
	} else {
		class := Class(slices.Index(change.Classes, what[len("class:"):]))
		for _, v := range c.byClass[class] {
			c.scaleBy(v, f)
		}
	}
	return nil
}

func (c *changing) host(_ string, f float64) error {
	c.each(false, func(v int32, n *node) {
		if n.flags&isArrival == 0 && n.class != Comm {
			c.scaleBy(v, f)
		}
	})
	return nil
}

func (c *changing) launch(_ string, f float64) error {
	c.r.launch *= f
	for i := range c.g.calls {
		if v := c.g.calls[i].node; c.g.nodes[v].flags&(blocks|isJoin|isArrival) == 0 {
			c.scaleBy(v, f)
		}
	}
	return nil
}

func (c *changing) gaps(_ string, f float64) error {
	c.r.gap *= f
	c.any = c.any || len(c.g.streams) > 0
	return nil
}

func (c *changing) copies(_ string, f float64) error {
	c.each(true, func(v int32, n *node) {
		if n.class == Copy {
			c.scaleBy(v, f)
		}
	})
	return nil
}

func (c *changing) hideComm(what string, _ float64) error { return c.hidden(what, true) }

func (c *changing) hide(what string, _ float64) error {
	return c.hidden(strings.TrimPrefix(what, "kernel~"), false)
}

func (c *changing) hidden(re string, onlyComm bool) error {
	c.work(re, func(v int32, n *node) {
		if !onlyComm || n.class == Comm {
			c.set(v, 0)
			c.mark(v, noDelay)
		}
	})
	return nil
}

func (c *changing) remove(what string, _ float64) error {
	kind, re, _ := strings.Cut(what, "~")
	switch kind {
	case "kernel":
		c.work(re, func(v int32, n *node) {
			c.mark(v, isRemoved)
			if l := c.g.launchOf(v); l != nil && n.flags&isGraph == 0 {
				c.set(l.node, 0)
			}
		})
	case "wait":
		c.work(re, func(v int32, _ *node) { c.mark(v, noWait) })
	case "op":
		in := c.within(re)
		for v := int32(0); v < int32(len(c.g.nodes)); v++ {
			if !in(v) {
				continue
			}
			if c.mark(v, noSync); c.g.nodes[v].flags&isGPU != 0 {
				c.mark(v, isRemoved)
			} else {
				c.set(v, 0)
			}
		}
	case "sync":
		in := c.within(re)
		c.each(false, func(v int32, n *node) {
			if n.flags&(blocks|isJoin) == 0 || !in(v) {
				return
			}
			if c.mark(v, noSync); !c.launches(n) {
				c.set(v, 0)
			}
		})
	}
	return nil
}

// launches reports whether a node of the host is in a call that launched work.
func (c *changing) launches(n *node) bool {
	return n.owner != none && c.g.ranks[n.rank].spans[n.owner].call != none
}

// toGPU matches names of copies from the memory of the host.
var toGPU = lazyregexp.New(`HtoD|HostToDevice|HOST_TO_DEVICE`)

func (c *changing) pinned(_ string, f float64) error {
	c.work("(?i)pageable", func(v int32, n *node) {
		if f != 1 && n.class == Copy {
			c.scaleBy(v, f)
		}
	})
	c.each(false, func(v int32, n *node) {
		if n.flags&(blocks|isJoin) != 0 && (c.launches(n) || c.afterCopy(n)) {
			if c.mark(v, noSync); !c.launches(n) {
				c.set(v, 0)
			}
		}
	})
	return nil
}

// afterCopy reports whether a call that waits for work follows a copy to the GPU in the same operator: if that
// does not block, nothing needs the wait. After a copy to the host its reader does.
func (c *changing) afterCopy(n *node) bool {
	if n.owner == none {
		return false
	}
	src := c.g.ranks[n.rank]
	wait := &src.spans[n.owner]
	for i := n.owner - 1; i >= 0 && wait.parent != none && i > wait.parent; i-- {
		if x := &src.spans[i]; x.parent == wait.parent && x.call != none {
			return toGPU().MatchString(c.g.name(c.g.calls[x.call].works[0]))
		}
	}
	return false
}

func (c *changing) overlap(what string, _ float64) error {
	c.work(what, func(v int32, _ *node) { c.mark(v, offStream) })
	return nil
}

func (c *changing) like(_ string, f float64) error {
	rank := slices.IndexFunc(c.g.ranks, func(s *source) bool { return float64(s.rank) == f })
	if len(c.g.ranks) < 2 {
		return fmt.Errorf("--like %g needs several ranks that are joined by their collectives", f)
	} else if rank < 0 {
		return fmt.Errorf("--like %g: there is no such rank", f)
	}
	type key struct {
		rank uint16
		id   [2]int64
	}
	streams := make(map[key][]int32)
	keyOf := func(vs []int32) key {
		n := &c.g.nodes[vs[0]]
		track := &c.g.ranks[n.rank].t.Tracks[c.g.work(vs[0]).a.Track]
		return key{n.rank, [2]int64{track.Device, track.Stream}}
	}
	for _, vs := range c.g.streams {
		streams[keyOf(vs)] = vs
	}
	for _, vs := range c.g.streams {
		other := streams[key{uint16(rank), keyOf(vs).id}]
		for i := range min(len(vs), len(other)) {
			a, b := vs[i], other[i]
			if c.g.nodes[a].class == Compute && c.g.name(a) == c.g.name(b) {
				c.set(a, c.g.dur[b])
			}
		}
	}
	return nil
}
