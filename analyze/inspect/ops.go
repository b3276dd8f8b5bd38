package inspect

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"assay/analyze/attribute"
	"assay/analyze/hosttree"
	"assay/analyze/launches"
	"assay/internal/label"
	"assay/summary"
	"assay/trace"
)

// Ops answers which operators have a name like the pattern, or which annotated ranges and
// slices where no operator has. If operators have the very name, with or without a namespace,
// only these count: "mm" is in "comms", too. A call belongs to the window in which it starts, and so does
// the work that it launched.
func (c *Capture) Ops(pattern string, top int) *Ops {
	h := attribute.HostOf(c.t)
	w := &runWalker{c: c, links: h.Links, find: newFinder(c.t, pattern), kinds: trace.Of(trace.CPUOp), top: top,
		rows: make(map[trace.Sym]*opSums)}
	w.Exact, w.Containing = w.find.exactly()
	w.walk()
	if len(w.rows) == 0 {
		w.kinds = trace.Of(trace.Annotation, trace.OtherKind)
		w.walk()
		w.Ranges = len(w.rows) > 0
	}
	out := &w.Ops
	if len(w.rows) == 0 {
		out.Instead = suggest(pattern, c.opNames())
		return out
	}
	for _, r := range w.rows {
		out.Names = append(out.Names, r.row())
	}
	a := c.attribution(h)
	sites, byName := newSiteTable(a), make(map[trace.Sym]*Named)
	for _, d := range c.tl.Devices {
		for _, work := range d.Work {
			i := h.Links.Of[work.Number]
			if i < 0 || !w.within[i] || !c.tl.Starts(work) {
				continue
			}
			k := c.tl.Activity(work)
			sites.add(int(work.Number), k.Dur)
			if byName[k.Name] == nil {
				byName[k.Name] = &Named{Name: c.t.Name(k.Name)}
			}
			byName[k.Name].add(k.Dur)
		}
	}
	for _, n := range byName {
		out.Kernels = append(out.Kernels, *n)
	}
	out.Sites = sites.sites()
	return out
}

// opNames returns the names of operators and ranges by descending time.
func (c *Capture) opNames() []string {
	total := make(map[string]int64)
	for o := range c.t.Ops.All() {
		name := c.t.Name(o.Name)
		total[name] = summary.Plus(total[name], o.Dur)
	}
	for s := range c.t.Spans.All() {
		if s.Kind == trace.Annotation || s.Kind == trace.OtherKind {
			name := c.t.Name(s.Name)
			total[name] = summary.Plus(total[name], s.Dur)
		}
	}
	return largestFirst(total)
}

// An opSums has the calls of one name.
type opSums struct {
	Op
	t      *trace.Trace
	open   int // number of open calls: nested ones do not count in totals
	shapes map[trace.ShapeID]*OpSums
	first  map[trace.ShapeID]*trace.Op
}

// row returns the row, with shapes that look the same joined.
func (r *opSums) row() Op {
	by := make(map[[2]string]*OpShape)
	for id, s := range r.shapes {
		dims, types := attribute.ShapeOf(r.t, r.first[id])
		key := [2]string{dims, types}
		if by[key] == nil {
			by[key] = &OpShape{Dims: dims, Types: types}
		}
		by[key].plus(*s)
	}
	r.Shapes = shapeRows(by)
	return r.Op
}

func shapeRows(by map[[2]string]*OpShape) (out []OpShape) {
	for _, s := range by {
		out = append(out, *s)
	}
	slices.SortFunc(out, func(a, b OpShape) int {
		return cmp.Or(cmp.Compare(b.GPUNS, a.GPUNS), cmp.Compare(b.CPUNS, a.CPUNS), cmp.Compare(a.Dims, b.Dims),
			cmp.Compare(a.Types, b.Types))
	})
	return out
}

// A runWalker sums the calls of operators on all threads.
type runWalker struct {
	Ops
	c      *Capture
	links  *launches.Links
	find   *finder
	kinds  trace.Kinds
	top    int
	rows   map[trace.Sym]*opSums
	within []bool // by link: one of the calls was open
	track  trace.TrackID
}

// runData has the sums of an open event.
type runData struct {
	inner   int // index of the innermost event of the kinds, or -1
	found   int // number of open events that match, itself included
	self    int64
	gpu     int64
	matches bool
}

func (w *runWalker) walk() {
	w.within = make([]bool, len(w.links.List))
	for _, th := range hosttree.Threads(w.c.t) {
		w.track = th.Track
		hosttree.Walk(th, w)
		th.Release()
	}
}

// Enter counts a call, and the work that the event launched.
func (w *runWalker) Enter(open []hosttree.Open[runData]) {
	top := &open[len(open)-1]
	f, d := &top.Frame, &top.Data
	if d.inner = -1; len(open) > 1 {
		d.inner, d.found = open[len(open)-2].Data.inner, open[len(open)-2].Data.found
	}
	if w.kinds.Has(f.Kind) {
		d.inner = len(open) - 1
		if d.matches = w.find.has(f.Name); d.matches {
			d.found++
			w.of(f.Name).open++
		}
	}
	link, ok := int32(-1), false
	switch {
	case f.IsCall():
		link, ok = w.links.OfCall(f.Row)
	case f.Kind == trace.CPUOp:
		link, ok = w.links.OfOp(f.Row)
	}
	if !ok {
		return
	}
	ns := w.links.List[link].WorkNS
	d.gpu = summary.Plus(d.gpu, ns)
	if d.inner >= 0 {
		open[d.inner].Data.self = summary.Plus(open[d.inner].Data.self, ns)
	}
	if d.found > 0 {
		w.within[link] = true
		w.GPUNS = summary.Plus(w.GPUNS, ns)
	}
}

func (w *runWalker) of(name trace.Sym) *opSums {
	r := w.rows[name]
	if r == nil {
		r = &opSums{t: w.c.t, Op: Op{Name: w.c.t.Name(name)}, shapes: make(map[trace.ShapeID]*OpSums),
			first: make(map[trace.ShapeID]*trace.Op)}
		w.rows[name] = r
	}
	return r
}

// Leave adds a call up.
func (w *runWalker) Leave(open []hosttree.Open[runData]) {
	top := &open[len(open)-1]
	if len(open) > 1 {
		outer := &open[len(open)-2].Data
		outer.gpu = summary.Plus(outer.gpu, top.Data.gpu)
	}
	if !top.Data.matches {
		return
	}
	r := w.of(top.Name)
	r.open--
	sums := OpSums{GPUSelfNS: top.Data.self}
	if r.open == 0 {
		sums.GPUNS = top.Data.gpu
	}
	if w.c.t.Window.Starts(top.Start) {
		if sums.Count = 1; r.open == 0 {
			sums.CPUNS = top.End - top.Start
		}
	}
	r.plus(sums)
	w.Count += sums.Count
	w.GPUSelfNS = summary.Plus(w.GPUSelfNS, sums.GPUSelfNS)
	if top.Data.found == 1 { // not nested in another match
		w.CPUNS = summary.Plus(w.CPUNS, sums.CPUNS)
	}
	if top.Kind == trace.CPUOp {
		r.addShape(w.c.t.Ops.At(top.Row), sums)
	}
	if sums.Count > 0 || top.Data.gpu > 0 {
		w.keep(open)
	}
}

// addShape adds a call to the sums of its argument shapes, if they were recorded.
func (r *opSums) addShape(o *trace.Op, sums OpSums) {
	if r.t.Shape(o.Shape).Dims == 0 {
		return
	}
	if r.shapes[o.Shape] == nil {
		r.shapes[o.Shape], r.first[o.Shape] = new(OpSums), o
	}
	r.shapes[o.Shape].plus(sums)
}

func (w *runWalker) Between(_, _ int64, _ []hosttree.Open[runData]) {}

// keep adds the last event of the stack to the longest calls, if it is one of them.
func (w *runWalker) keep(open []hosttree.Open[runData]) {
	top := &open[len(open)-1]
	run := Run{
		Name: w.c.t.Name(top.Name), Input: w.c.in.Index, Rank: w.c.in.Rank, StartNS: top.Start, AtNS: w.c.since(top.Start),
		NS:        top.End - top.Start,
		GPUSelfNS: top.Data.self, GPUNS: top.Data.gpu,
	}
	if len(w.Longest) == w.top && longerRun(w.Longest[w.top-1], run) <= 0 {
		return
	}
	run.Thread = w.c.thread(w.track)
	if top.Kind == trace.CPUOp {
		run.Dims, _ = attribute.ShapeOf(w.c.t, w.c.t.Ops.At(top.Row))
	}
	for i := len(open) - 1; i >= 0 && len(run.Stack) < attribute.MaxSiteLines; i-- {
		if name := w.c.t.Name(open[i].Name); open[i].Kind == trace.Python && label.IsUserCode(name) {
			f := attribute.FrameOf(name)
			run.Stack = append(run.Stack, Frame{f.Name, f.File, f.Line})
		}
	}
	at, _ := slices.BinarySearchFunc(w.Longest, run, longerRun)
	w.Longest = slices.Insert(w.Longest, at, run)
	w.Longest = w.Longest[:min(len(w.Longest), w.top)]
}

// longerRun sorts calls by descending GPU time, then by descending CPU time.
func longerRun(a, b Run) int {
	return cmp.Or(cmp.Compare(b.GPUNS, a.GPUNS), cmp.Compare(b.NS, a.NS), cmp.Compare(a.Rank, b.Rank),
		cmp.Compare(a.StartNS, b.StartNS), strings.Compare(a.Thread, b.Thread))
}

// JoinOps joins the answers of several inputs to the same question. Tables have at most top rows. It
// takes over the slices of the answers. Ranges count only if no input has a matching operator.
func JoinOps(all []*Ops, top int) *Ops {
	out := &Ops{}
	if slices.ContainsFunc(all, func(o *Ops) bool { return len(o.Names) > 0 && !o.Ranges }) {
		all = slices.DeleteFunc(slices.Clone(all), func(o *Ops) bool { return o.Ranges })
	}
	if slices.ContainsFunc(all, func(o *Ops) bool { return o.Exact }) {
		all = slices.DeleteFunc(slices.Clone(all), func(o *Ops) bool { return !o.Exact })
	}
	names, kernels := make(map[string]*Op), make(map[string]*Named)
	shapes := make(map[string]map[[2]string]*OpShape)
	var instead []Suggestion
	for _, o := range all {
		out.Ranges, out.Exact, out.Containing = out.Ranges || o.Ranges, out.Exact || o.Exact,
			max(out.Containing, o.Containing)
		out.Count += o.Count
		out.CPUNS, out.GPUSelfNS, out.GPUNS = summary.Plus(out.CPUNS, o.CPUNS), summary.Plus(out.GPUSelfNS, o.GPUSelfNS),
			summary.Plus(out.GPUNS, o.GPUNS)
		out.Longest, out.Sites = append(out.Longest, o.Longest...), append(out.Sites, o.Sites...)
		for _, n := range o.Names {
			if names[n.Name] == nil {
				names[n.Name], shapes[n.Name] = &Op{Name: n.Name}, make(map[[2]string]*OpShape)
			}
			names[n.Name].plus(n.OpSums)
			for _, s := range n.Shapes {
				key := [2]string{s.Dims, s.Types}
				if shapes[n.Name][key] == nil {
					shapes[n.Name][key] = &OpShape{Dims: s.Dims, Types: s.Types}
				}
				shapes[n.Name][key].plus(s.OpSums)
			}
		}
		for _, k := range o.Kernels {
			if kernels[k.Name] == nil {
				kernels[k.Name] = &Named{Name: k.Name}
			}
			kernels[k.Name].join(k.Times)
		}
		instead = append(instead, o.Instead)
	}
	for name, n := range names {
		left := 0
		n.Shapes, left = cut(shapeRows(shapes[name]), top)
		out.Left.Shapes += left
	}
	byTime := slices.SortedFunc(maps.Keys(names), func(a, b string) int {
		x, y := names[a], names[b]
		return cmp.Or(cmp.Compare(y.GPUNS, x.GPUNS), cmp.Compare(y.CPUNS, x.CPUNS), cmp.Compare(a, b))
	})
	for _, name := range byTime {
		out.Names = append(out.Names, *names[name])
	}
	out.Names, out.Left.Names = cut(out.Names, top)
	out.Kernels, out.Left.Kernels = cut(namedRows(kernels), top)
	out.Sites, out.Left.Sites = cut(joinSites(out.Sites), top)
	slices.SortStableFunc(out.Longest, longerRun)
	out.Longest, _ = cut(out.Longest, top)
	out.Instead = joinSuggestions(instead)
	return out
}
