package inspect

import (
	"cmp"
	"slices"

	"assay/analyze/attribute"
	"assay/analyze/hosttree"
	"assay/analyze/limits"
	"assay/internal/interval"
	"assay/trace"
)

// Longest returns the n longest gaps of the GPUs, without their causes, longest first. Ties are
// sorted by GPU, then by time, as in the table of a report.
func (c *Capture) Longest(n int) (out []Gap) {
	for _, d := range c.tl.Devices {
		if limits.Implausible(d.Window) {
			continue
		}
		for g := range d.Gaps() {
			if len(out) >= 2*n+1024 {
				out = RankGaps(out, n)
			}
			out = append(out, Gap{GPU: c.gpu(d.Ordinal), StartNS: g.Start, AtNS: c.since(g.Start), NS: g.Len()})
		}
	}
	return RankGaps(out, n)
}

// RankGaps sorts and numbers gaps, and keeps the first n.
func RankGaps(all []Gap, n int) []Gap {
	slices.SortStableFunc(all, func(a, b Gap) int {
		return cmp.Or(cmp.Compare(b.NS, a.NS), cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Input, b.Input),
			cmp.Compare(a.Device, b.Device), cmp.Compare(a.StartNS, b.StartNS))
	})
	all, _ = cut(all, n)
	for i := range all {
		all[i].Number = i + 1
	}
	return all
}

// Explain adds the details of a gap: its causes, the work around it, and what the thread that
// launched the work after the gap did during it. Tables have at most top rows.
func (c *Capture) Explain(g *Gap, top int) {
	device := c.index(g.Device)
	h := attribute.HostOf(c.t)
	h.Explain(device, g.StartNS)
	c.explain(g, c.attribution(h), top)
}

// index returns the index of a device in the timeline.
func (c *Capture) index(ordinal int64) int {
	for i, d := range c.tl.Devices {
		if d.Ordinal == ordinal {
			return i
		}
	}
	return -1
}

func (c *Capture) explain(g *Gap, a *attribute.Attribution, top int) {
	g.Step = c.step(g.Device, g.StartNS)
	found, ok := a.GapAt(c.index(g.Device), g.StartNS)
	if !ok {
		return
	}
	g.Before, g.After = c.work(found.Before), c.work(found.After)
	for _, r := range found.Causes {
		g.Causes = append(g.Causes, Cause{r.Owner, r.State, r.Name, r.NS})
	}
	g.Causes, _ = cut(g.Causes, top)
	if found.Call != nil {
		g.Launch = c.launch(found.Call, found.After)
		g.Around, g.Inside = c.doing(found.Call.Track, interval.Span{Start: g.StartNS, End: g.StartNS + g.NS}, top)
	}
}

func (c *Capture) work(a *trace.Activity) *Work {
	if a == nil {
		return nil
	}
	return &Work{Name: c.t.Name(a.Name), Stream: c.t.Tracks[a.Track].Stream, NS: a.Dur}
}

// doing returns what a thread did in a span of time: the events that were open during all of it, from
// outer to inner, and at most top rows of other events.
func (c *Capture) doing(track trace.TrackID, in interval.Span, top int) (around, inside []Span) {
	for _, th := range hosttree.Threads(c.whole) {
		if th.Track != track {
			continue
		}
		w := &gapWalker{c: c, in: in}
		hosttree.Walk(th, w)
		rows := top
		return w.around, w.spans(w.root.kids, &rows, 0)
	}
	return nil, nil
}

// A gapWalker sums what a thread did in a span of time.
type gapWalker struct {
	c      *Capture
	in     interval.Span
	around []Span
	root   node
}

// A node is all events of one name at one place.
type node struct {
	name  trace.Sym
	kind  trace.Kind
	first int64
	count int64
	ns    int64
	kids  []*node
}

// A path is the node of an open event, or nil before the span.
type path struct {
	node *node
	all  bool // the event is open during the whole span
}

func (w *gapWalker) Enter([]hosttree.Open[path]) {}
func (w *gapWalker) Leave([]hosttree.Open[path]) {}

func (w *gapWalker) Between(from, to int64, open []hosttree.Open[path]) {
	part := interval.Span{Start: from, End: to}.And(w.in)
	if part.Empty() {
		return
	}
	at := &w.root
	for i := range open {
		o := &open[i]
		if o.Data.node == nil && !o.Data.all {
			if o.Data.all = at == &w.root && o.Start <= w.in.Start && o.End >= w.in.End; o.Data.all {
				w.around = append(w.around, w.c.span(&o.Frame))
			} else {
				o.Data.node = at.kid(o.Frame)
			}
		}
		if o.Data.all {
			continue
		}
		at = o.Data.node
		at.ns += part.Len()
	}
}

// kid returns the node of an event in n, and counts the event.
func (n *node) kid(f hosttree.Frame) *node {
	for _, k := range n.kids {
		if k.name == f.Name && k.kind == f.Kind {
			k.count++
			return k
		}
	}
	k := &node{name: f.Name, kind: f.Kind, first: f.Start, count: 1}
	n.kids = append(n.kids, k)
	return k
}

// spans converts nodes to spans, longest first, while *rows is positive.
func (w *gapWalker) spans(nodes []*node, rows *int, depth int) (out []Span) {
	const deepest = 12
	slices.SortStableFunc(nodes, func(a, b *node) int {
		return cmp.Or(cmp.Compare(b.ns, a.ns), cmp.Compare(a.first, b.first))
	})
	for _, n := range nodes {
		if *rows <= 0 || depth > deepest {
			break
		}
		*rows--
		s := Span{Name: w.c.eventName(n.name, n.kind), Kind: n.kind.String(), Count: n.count, AtNS: w.c.since(n.first),
			NS: n.ns}
		s.In = w.spans(n.kids, rows, depth+1)
		out = append(out, s)
	}
	return out
}

// span returns an open event.
func (c *Capture) span(f *hosttree.Frame) Span {
	return Span{Name: c.eventName(f.Name, f.Kind), Kind: f.Kind.String(), AtNS: c.since(f.Start), NS: f.End - f.Start}
}

// eventName returns the name of a host event. For a Python function, the function comes first, as in
// a stack.
func (c *Capture) eventName(name trace.Sym, kind trace.Kind) string {
	if kind == trace.Python {
		return attribute.FrameOf(c.t.Name(name)).Name
	}
	return c.t.Name(name)
}
