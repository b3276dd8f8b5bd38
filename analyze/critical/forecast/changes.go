package forecast

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"assay/analyze/critical"
	"assay/analyze/critical/change"
	"assay/analyze/critical/graph"
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

// A ranked is a name in the trace of a rank.
type ranked struct {
	name trace.Sym
	rank uint16
}

// A changing applies changes to the nodes of a graph.
type changing struct {
	g       *Model
	r       *critical.Rule
	any     bool                   // a change has an effect
	byClass [graph.Classes][]int32 // nodes
	byName  map[ranked][]int32     // works
	can     *fusing                // if it was needed
	start   []int64                // for the starts of a replay
	differ  float64                // by how much the ratio of works that are made alike differs, in percent
	touched []int32                // nodes that the changes are to
	at      float64                // the cost of recording for which the rest has its durations
}

// noCost is no cost of recording.
const noCost = -1

// newChanging lists the nodes of a graph by what changes select.
func newChanging(g *Model) *changing {
	c := &changing{g: g, r: g.Unchanged(), byName: make(map[ranked][]int32), start: g.Scratch, touched: make([]int32, 0, len(g.Nodes)/8), at: noCost}
	c.r.Dur, c.r.Flags = make([]int64, len(g.Dur)), make([]uint16, len(g.Dur))
	var count [graph.Classes]int
	for v := range g.Nodes {
		count[g.Nodes[v].Class]++
	}
	for k, n := range count {
		c.byClass[k] = make([]int32, 0, n)
	}
	for v := range g.Nodes {
		n := &g.Nodes[v]
		c.byClass[n.Class] = append(c.byClass[n.Class], int32(v))
		if n.Flags&graph.IsGPU != 0 {
			key := ranked{g.Work(int32(v)).A.Name, n.Rank}
			c.byName[key] = append(c.byName[key], int32(v))
		}
	}
	return c
}

// apply returns the rule of several changes together, and reports whether they change anything. The
// rule is valid until the next call.
func (g *Model) apply(list []change.Change) (*critical.Rule, bool, error) {
	if g.changing == nil {
		g.changing = newChanging(g)
	}
	any, err := g.changing.apply(list)
	return g.changing.r, any, err
}

func (c *changing) apply(list []change.Change) (any bool, err error) {
	c.reset()
	c.r.Before, c.r.Marked, c.r.Launch, c.r.Gap, c.r.OnTime = nil, 0, 1, 1, graph.None
	for _, x := range list {
		p, err := x.Parse()
		if err == nil {
			err = effects[p.Name](c, p.What, p.Factor)
		}
		if err != nil {
			return false, err
		}
	}
	c.r.Rejoin(c.g.Program)
	return c.any, nil
}

// reset undoes the changes before.
func (c *changing) reset() {
	base := c.g.base()
	if len(c.touched) == cap(c.touched) || c.at != c.g.cost { // most of the nodes, or all
		copy(c.r.Dur, base)
		clear(c.r.Flags)
		c.at = c.g.cost
	} else {
		for _, v := range c.touched {
			c.r.Dur[v], c.r.Flags[v] = base[v], 0
		}
	}
	clear(c.r.Arrivals)
	c.any, c.differ, c.touched = false, 0, c.touched[:0]
}

// touch notes that a node is changed.
func (c *changing) touch(v int32) {
	if c.any = true; len(c.touched) < cap(c.touched) {
		c.touched = append(c.touched, v)
	}
}

// twin returns memory for changes at the same time.
func (c *changing) twin() *changing {
	r := *c.r
	r.Dur, r.Flags, r.Arrivals = make([]int64, len(r.Dur)), make([]uint16, len(r.Flags)), nil
	return &changing{g: c.g, r: &r, byClass: c.byClass, byName: c.byName, start: make([]int64, len(c.start)), touched: make([]int32, 0, cap(c.touched)), at: noCost}
}

// replayEach replays changes, each alone, and calls f for those that change anything. Two are replayed at the same
// time: more would take too much memory.
func (g *Model) replayEach(list []change.Change, order []critical.Run, f func(i int, c *changing, t *critical.Times)) {
	if g.changing == nil {
		g.changing = newChanging(g)
	}
	workers := []*changing{g.changing}
	if len(list) > 1 {
		if g.second == nil {
			g.second = g.changing.twin()
		}
		workers = append(workers, g.second)
	}
	g.base() // and what else all need is found once
	g.recording()
	g.overlapped()
	var next atomic.Int32
	var all errgroup.Group
	for _, c := range workers {
		all.Go(func() error {
			for i := int(next.Add(1)) - 1; i < len(list); i = int(next.Add(1)) - 1 {
				if any, err := c.apply(list[i : i+1]); any && err == nil {
					t := g.ReplayInto(c.start, c.r, false, order)
					f(i, c, &t)
				}
			}
			return nil
		})
	}
	_ = all.Wait()
}

// ofComm reports whether communication takes less time.
func (c *changing) ofComm() bool {
	return slices.ContainsFunc(c.byClass[graph.Comm], func(v int32) bool { return c.r.Dur[v] < c.g.Dur[v] })
}

// scaleBy multiplies the duration of a node, unless a change gives it.
func (c *changing) scaleBy(v int32, f float64) {
	c.touch(v)
	if c.r.Flags[v]&(critical.IsSet|critical.IsRemoved) != 0 || f == 1 {
		return
	}
	if c.g.Nodes[v].Flags&graph.IsArrival != 0 {
		if c.r.Arrivals == nil {
			c.r.Arrivals = make(map[int32]float64)
		}
		before, ok := c.r.Arrivals[v]
		if !ok {
			before = 1
		}
		c.r.Arrivals[v] = before * f
	}
	c.r.Dur[v] = min(graph.Scaled(c.r.Dur[v], f), max(graph.Longest, c.g.Dur[v]))
}

func (c *changing) mark(v int32, flags uint16) {
	c.touch(v)
	c.r.Marked |= flags
	if c.r.Flags[v] |= flags; flags&critical.IsRemoved != 0 {
		c.r.Dur[v] = 0
	}
}

func (c *changing) set(v int32, dur int64) {
	if c.r.Flags[v]&critical.IsRemoved == 0 {
		c.r.Dur[v] = min(max(0, dur), max(graph.Longest, c.g.Dur[v]))
	}
	c.mark(v, critical.IsSet)
}

// each calls f with the nodes of the GPU, or of the host.
func (c *changing) each(gpu bool, f func(v int32, n *graph.Node)) {
	for k, vs := range c.byClass {
		if graph.Class(k) != graph.Comm && graph.Class(k).OnGPU() != gpu { // collectives of the CPU are communication too
			continue
		}
		for _, v := range vs {
			if n := &c.g.Nodes[v]; n.Flags&graph.IsGPU != 0 == gpu {
				f(v, n)
			}
		}
	}
}

// work calls f with the work whose name matches a pattern.
func (c *changing) work(pattern string, f func(v int32, n *graph.Node)) {
	matches := c.matcher(pattern)
	for key, vs := range c.byName {
		if matches(key.rank, key.name) {
			for _, v := range vs {
				f(v, &c.g.Nodes[v])
			}
		}
	}
}

// matcher returns a function that reports whether a name of a rank matches a pattern, which
// compiles.
func (c *changing) matcher(pattern string) func(rank uint16, s trace.Sym) bool {
	match, _ := change.Compile(pattern)
	of := make([]func(trace.Sym) bool, len(c.g.Ranks))
	for i, r := range c.g.Ranks {
		of[i] = graph.Named(r.T, match)
	}
	return func(rank uint16, s trace.Sym) bool { return of[rank](s) }
}

// within returns a function that reports whether an event around a node matches a pattern: for
// work, around its launch.
func (c *changing) within(pattern string) func(v int32) bool {
	match, _ := change.Compile(pattern)
	inside := make([][]bool, len(c.g.Ranks)) // by span: it or one around it matches
	for r, src := range c.g.Ranks {
		matches, in := graph.Named(src.T, match), make([]bool, len(src.Spans))
		for i := range src.Spans { // parents come first
			x := &src.Spans[i]
			in[i] = x.Parent != graph.None && in[x.Parent] || matches(x.Name)
		}
		inside[r] = in
	}
	return func(v int32) bool {
		n := &c.g.Nodes[v]
		s := n.Owner
		if n.Flags&graph.IsGPU != 0 {
			l := c.g.LaunchOf(v)
			if l == nil {
				return false
			}
			s = l.Span
		}
		return s != graph.None && inside[n.Rank][s]
	}
}

func (c *changing) scale(what string, f float64) error {
	scale := func(v int32, _ *graph.Node) { c.scaleBy(v, f) }
	if re, ok := strings.CutPrefix(what, "kernel~"); ok {
		c.work(re, scale)
	} else if re, ok := strings.CutPrefix(what, "op~"); ok {
		in := c.within(re)
		c.each(false, func(v int32, n *graph.Node) {
			if in(v) {
				scale(v, n)
			}
		})
	} else {
		class := graph.Class(slices.Index(change.Classes, what[len("class:"):]))
		for _, v := range c.byClass[class] {
			c.scaleBy(v, f)
		}
	}
	return nil
}

func (c *changing) host(_ string, f float64) error {
	c.each(false, func(v int32, n *graph.Node) {
		if n.Flags&graph.IsArrival == 0 && n.Class != graph.Comm {
			c.scaleBy(v, f)
		}
	})
	return nil
}

func (c *changing) launch(_ string, f float64) error {
	c.r.Launch *= f
	for i := range c.g.Calls {
		if v := c.g.Calls[i].Node; c.g.Nodes[v].Flags&(graph.Blocks|graph.IsJoin|graph.IsArrival) == 0 {
			c.scaleBy(v, f)
		}
	}
	return nil
}

func (c *changing) gaps(_ string, f float64) error {
	c.r.Gap *= f
	c.any = c.any || len(c.g.Streams) > 0
	return nil
}

func (c *changing) copies(_ string, f float64) error {
	c.each(true, func(v int32, n *graph.Node) {
		if n.Class == graph.Copy {
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
	c.work(re, func(v int32, n *graph.Node) {
		if !onlyComm || n.Class == graph.Comm {
			c.set(v, 0)
			c.mark(v, critical.NoDelay)
		}
	})
	return nil
}

func (c *changing) remove(what string, _ float64) error {
	kind, re, _ := strings.Cut(what, "~")
	switch kind {
	case "kernel":
		c.work(re, func(v int32, n *graph.Node) {
			c.mark(v, critical.IsRemoved)
			if l := c.g.LaunchOf(v); l != nil && n.Flags&graph.IsGraph == 0 {
				c.set(l.Node, 0)
			}
		})
	case "wait":
		c.work(re, func(v int32, _ *graph.Node) { c.mark(v, critical.NoWait) })
	case "op":
		in := c.within(re)
		for v := int32(0); v < int32(len(c.g.Nodes)); v++ {
			if !in(v) {
				continue
			}
			if c.mark(v, critical.NoSync); c.g.Nodes[v].Flags&graph.IsGPU != 0 {
				c.mark(v, critical.IsRemoved)
			} else {
				c.set(v, 0)
			}
		}
	case "sync":
		in := c.within(re)
		c.each(false, func(v int32, n *graph.Node) {
			if n.Flags&(graph.Blocks|graph.IsJoin) == 0 || !in(v) {
				return
			}
			if c.mark(v, critical.NoSync); !c.launches(n) {
				c.set(v, 0)
			}
		})
	}
	return nil
}

// launches reports whether a node of the host is in a call that launched work.
func (c *changing) launches(n *graph.Node) bool {
	return n.Owner != graph.None && c.g.Ranks[n.Rank].Spans[n.Owner].Call != graph.None
}

// toGPU matches names of copies from the memory of the host.
var toGPU = lazyregexp.New(`HtoD|HostToDevice|HOST_TO_DEVICE`)

func (c *changing) pinned(_ string, f float64) error {
	if f != 1 {
		c.work("(?i)pageable", func(v int32, n *graph.Node) {
			if n.Class == graph.Copy {
				c.scaleBy(v, f)
			}
		})
	}
	c.each(false, func(v int32, n *graph.Node) {
		if n.Flags&(graph.Blocks|graph.IsJoin) != 0 && (c.launches(n) || c.afterCopy(n)) {
			if c.mark(v, critical.NoSync); !c.launches(n) {
				c.set(v, 0)
			}
		}
	})
	return nil
}

// afterCopy reports whether a call that waits for work follows a copy to the GPU in the same operator: if that
// does not block, nothing needs the wait. After a copy to the host its reader does.
func (c *changing) afterCopy(n *graph.Node) bool {
	if n.Owner == graph.None {
		return false
	}
	src := c.g.Ranks[n.Rank]
	wait := &src.Spans[n.Owner]
	for i := n.Owner - 1; i >= 0 && wait.Parent != graph.None && i > wait.Parent; i-- {
		if x := &src.Spans[i]; x.Parent == wait.Parent && x.Call != graph.None {
			return toGPU().MatchString(c.g.Name(c.g.Calls[x.Call].Works[0]))
		}
	}
	return false
}

func (c *changing) overlap(what string, _ float64) error {
	c.work(what, func(v int32, _ *graph.Node) { c.mark(v, critical.OffStream) })
	return nil
}

func (c *changing) like(_ string, f float64) error {
	rank := slices.IndexFunc(c.g.Ranks, func(s *graph.Source) bool { return float64(s.Rank) == f })
	if len(c.g.Ranks) < 2 {
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
		n := &c.g.Nodes[vs[0]]
		track := &c.g.Ranks[n.Rank].T.Tracks[c.g.Work(vs[0]).A.Track]
		return key{n.Rank, [2]int64{track.Device, track.Stream}}
	}
	for _, vs := range c.g.Streams {
		streams[keyOf(vs)] = vs
	}
	ratios := make(map[string][]int64) // by name, in thousandths
	for _, vs := range c.g.Streams {
		other := streams[key{uint16(rank), keyOf(vs).id}]
		for i := range min(len(vs), len(other)) {
			a, b := vs[i], other[i]
			if c.g.Nodes[a].Class == graph.Compute && c.g.Name(a) == c.g.Name(b) {
				if name := c.g.Name(a); int(c.g.Nodes[a].Rank) != rank {
					ratios[name] = append(ratios[name], 1000*c.g.Dur[a]/max(1, c.g.Dur[b]))
				}
				c.set(a, c.g.Dur[b])
			}
		}
	}
	c.differ = differing(ratios)
	return nil
}

// mostDiffer is by how much ratios of durations differ that are the same but for noise, in percent.
const mostDiffer = 10

// differing returns by how much samples typically differ from the median of their name, in percent.
func differing(samples map[string][]int64) float64 {
	var off []int64
	for _, list := range samples {
		middle := graph.TypicalOf(list, 0)
		for _, x := range list {
			if middle > 0 {
				off = append(off, 1000*max(x-middle, middle-x)/middle)
			}
		}
	}
	return float64(graph.TypicalOf(off, 0)) / 10
}
