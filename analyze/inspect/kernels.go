package inspect

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"assay/analyze/attribute"
	"assay/analyze/gpu"
	"assay/analyze/hosttree"
	"assay/analyze/launches"
	"assay/summary"
	"assay/trace"
)

// A found is a GPU operation that matches the question.
type found struct {
	*trace.Activity
	device int64
	number int
}

// longer sorts operations longest first.
func longer(a, b found) int {
	return cmp.Or(cmp.Compare(b.Dur, a.Dur), cmp.Compare(a.Start, b.Start), cmp.Compare(a.device, b.device),
		cmp.Compare(a.number, b.number))
}

// Kernels returns the GPU operations whose name matches the pattern or, if there are none, the
// kernels of the category with this id. An operation belongs to the window in which it starts, with
// its whole duration. Tables have at most top rows.
func (c *Capture) Kernels(pattern string, top int) *Kernels {
	out := &Kernels{}
	has := newFinder(c.t, pattern).has
	if !c.anyWork(has) {
		category := c.ofCategory(pattern)
		if out.Category = c.anyWork(category); out.Category {
			has = category
		}
	}
	var all []found
	byName := make(map[trace.Sym]*Named)
	for _, d := range c.tl.Devices {
		for _, w := range d.Work {
			if !c.tl.Starts(w) {
				continue
			}
			a := c.tl.Activity(w)
			out.GPUNS = summary.Plus(out.GPUNS, a.Dur)
			if !has(a.Name) {
				continue
			}
			all = append(all, found{a, d.Ordinal, int(w.Number)})
			if byName[a.Name] == nil {
				byName[a.Name] = &Named{Name: c.t.Name(a.Name)}
			}
			byName[a.Name].add(a.Dur)
			out.add(a.Dur)
		}
	}
	if len(all) == 0 {
		out.Instead = suggest(pattern, c.workNames())
		return out
	}
	for _, n := range byName {
		out.Names = append(out.Names, *n)
	}
	h := attribute.HostOf(c.t)
	ops := launchingOps(c.t, h.Links)
	a := c.attribution(h)
	sites := newSiteTable(a)
	for _, k := range all {
		sites.add(k.number, k.Dur)
	}
	out.Sites, out.Shapes = sites.sites(), c.shapes(all, h.Links, ops)
	slices.SortFunc(all, longer)
	all, _ = cut(all, top)
	out.Longest = c.instances(all, a, ops)
	return out
}

// anyWork reports whether has is true for the name of any operation of the window.
func (c *Capture) anyWork(has func(trace.Sym) bool) bool {
	for _, d := range c.tl.Devices {
		for _, w := range d.Work {
			if c.tl.Starts(w) && has(c.tl.Activity(w).Name) {
				return true
			}
		}
	}
	return false
}

// ofCategory returns a function that reports whether kernels of a name belong to a category.
func (c *Capture) ofCategory(id string) func(trace.Sym) bool {
	return func(name trace.Sym) bool {
		return strings.EqualFold(c.tl.Classes[name].Category, strings.TrimSpace(id))
	}
}

// workNames returns the names of GPU operations by descending time.
func (c *Capture) workNames() []string {
	total := make(map[string]int64)
	for _, d := range c.tl.Devices {
		for _, w := range d.Work {
			name := c.t.Name(c.tl.Activity(w).Name)
			total[name] = summary.Plus(total[name], w.Dur)
		}
	}
	return largestFirst(total)
}

// largestFirst returns the keys by descending value.
func largestFirst(total map[string]int64) []string {
	return slices.SortedFunc(maps.Keys(total), func(a, b string) int {
		return cmp.Or(cmp.Compare(total[b], total[a]), cmp.Compare(a, b))
	})
}

// An opWalker finds the innermost operator around each launch.
type opWalker struct {
	t     *trace.Trace
	links *launches.Links
	of    []*trace.Op // by link
}

// launchingOps returns the innermost operator around each launch, or nil, by link.
func launchingOps(t *trace.Trace, l *launches.Links) []*trace.Op {
	w := &opWalker{t, l, make([]*trace.Op, len(l.List))}
	for _, th := range hosttree.Threads(t) {
		hosttree.Walk(th, w)
	}
	return w.of
}

func (w *opWalker) Enter(open []hosttree.Open[*trace.Op]) {
	top := &open[len(open)-1]
	if top.Kind == trace.CPUOp {
		top.Data = w.t.Ops.At(top.Row)
	} else if len(open) > 1 {
		top.Data = open[len(open)-2].Data
	}
	switch {
	case top.IsCall():
		if i, ok := w.links.OfCall(top.Row); ok {
			w.of[i] = top.Data
		}
	case top.Kind == trace.CPUOp:
		if i, ok := w.links.OfOp(top.Row); ok {
			w.of[i] = top.Data
		}
	}
}

func (w *opWalker) Leave([]hosttree.Open[*trace.Op]) {}

func (w *opWalker) Between(_, _ int64, _ []hosttree.Open[*trace.Op]) {}

// shapes sums the operations by the argument shapes of the operator that launched them.
func (c *Capture) shapes(all []found, l *launches.Links, ops []*trace.Op) (out []Shape) {
	type key struct {
		op    trace.Sym
		shape trace.ShapeID
	}
	rows := make(map[key]*Shape)
	for _, k := range all {
		i := l.Of[k.number]
		if i < 0 || ops[i] == nil || c.t.Shape(ops[i].Shape).Dims == 0 {
			continue
		}
		at := key{ops[i].Name, ops[i].Shape}
		if rows[at] == nil {
			dims, types := attribute.ShapeOf(c.t, ops[i])
			rows[at] = &Shape{Op: c.t.Name(ops[i].Name), Dims: dims, Types: types}
		}
		rows[at].add(k.Dur)
	}
	for _, r := range rows {
		out = append(out, *r)
	}
	return out
}

// instances describes operations.
func (c *Capture) instances(all []found, a *attribute.Attribution, ops []*trace.Op) []Instance {
	bytes := gpu.CopyBytes(c.t)
	out := make([]Instance, len(all))
	for i, k := range all {
		track := &c.t.Tracks[k.Track]
		r := Instance{
			Name: c.t.Name(k.Name), GPU: c.gpu(k.device), Stream: track.Stream,
			StartNS: k.Start, AtNS: c.since(k.Start), NS: k.Dur, Step: c.step(k.device, k.Start),
		}
		if d := c.t.Detail(k.Detail); d.Block[0] > 0 {
			r.Grid, r.Block = slices.Clone(d.Grid[:]), slices.Clone(d.Block[:])
		}
		if n, known := bytes(k.Activity); known && k.Kind != trace.Kernel {
			r.Bytes = &n
		}
		if id, ok := a.SiteID(k.number); ok {
			s := siteOf(a.Site(id))
			r.Site = &s
			link := a.Links.Of[k.number]
			r.Launch = c.launch(a.Links.Call(link), k.Activity)
			if op := ops[link]; op != nil {
				r.Dims, _ = attribute.ShapeOf(c.t, op)
			}
		}
		out[i] = r
	}
	c.neighbours(all, out)
	return out
}

// neighbours finds the operations before and after on the same stream, also outside of the window.
func (c *Capture) neighbours(all []found, out []Instance) {
	byTrack := make(map[trace.TrackID][]int)
	before, after := make([]*trace.Activity, len(all)), make([]*trace.Activity, len(all))
	for i, k := range all {
		byTrack[k.Track] = append(byTrack[k.Track], i)
	}
	for o := range c.whole.Activities.All() {
		for _, i := range byTrack[o.Track] {
			k := all[i].Activity
			switch {
			case *o == *k:
			case o.Start < k.Start || o.Start == k.Start && o.Dur < k.Dur:
				if b := before[i]; b == nil || o.Start > b.Start || o.Start == b.Start && o.Dur > b.Dur {
					before[i] = o
				}
			default:
				if b := after[i]; b == nil || o.Start < b.Start || o.Start == b.Start && o.Dur < b.Dur {
					after[i] = o
				}
			}
		}
	}
	for i, k := range all {
		if b := before[i]; b != nil {
			out[i].Before = &Neighbour{c.t.Name(b.Name), b.Dur, apart(b.End(), k.Start)}
		}
		if b := after[i]; b != nil {
			out[i].After = &Neighbour{c.t.Name(b.Name), b.Dur, apart(k.End(), b.Start)}
		}
	}
}

// JoinKernels joins the answers of several inputs to the same question. Tables have at most top rows.
// It takes over the slices of the answers.
func JoinKernels(all []*Kernels, top int) *Kernels {
	out := &Kernels{}
	names, shapes := make(map[string]*Named), make(map[[3]string]*Shape)
	var instead []Suggestion
	if slices.ContainsFunc(all, func(k *Kernels) bool { return k.Count > 0 && !k.Category }) {
		all = slices.DeleteFunc(slices.Clone(all), func(k *Kernels) bool { return k.Category })
	}
	for _, k := range all {
		out.Category = out.Category || k.Category
		out.Times.join(k.Times)
		out.GPUNS = summary.Plus(out.GPUNS, k.GPUNS)
		out.Longest, out.Sites = append(out.Longest, k.Longest...), append(out.Sites, k.Sites...)
		for _, n := range k.Names {
			if names[n.Name] == nil {
				names[n.Name] = &Named{Name: n.Name}
			}
			names[n.Name].join(n.Times)
		}
		for _, s := range k.Shapes {
			key := [3]string{s.Op, s.Dims, s.Types}
			if shapes[key] == nil {
				shapes[key] = &Shape{Op: s.Op, Dims: s.Dims, Types: s.Types}
			}
			shapes[key].join(s.Times)
		}
		instead = append(instead, k.Instead)
	}
	out.finish()
	out.Names, out.Left.Names = cut(namedRows(names), top)
	for _, s := range shapes {
		s.finish()
		out.Shapes = append(out.Shapes, *s)
	}
	slices.SortFunc(out.Shapes, func(a, b Shape) int {
		return cmp.Or(cmp.Compare(b.TotalNS, a.TotalNS), cmp.Compare(a.Op, b.Op), cmp.Compare(a.Dims, b.Dims),
			cmp.Compare(a.Types, b.Types))
	})
	out.Shapes, out.Left.Shapes = cut(out.Shapes, top)
	out.Sites, out.Left.Sites = cut(joinSites(out.Sites), top)
	slices.SortStableFunc(out.Longest, func(a, b Instance) int {
		return cmp.Or(cmp.Compare(b.NS, a.NS), cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.AtNS, b.AtNS))
	})
	out.Longest, _ = cut(out.Longest, top)
	out.Instead = joinSuggestions(instead)
	return out
}

// namedRows returns the rows, largest total first.
func namedRows(names map[string]*Named) (out []Named) {
	for _, n := range names {
		n.finish()
		out = append(out, *n)
	}
	slices.SortFunc(out, func(a, b Named) int {
		return cmp.Or(cmp.Compare(b.TotalNS, a.TotalNS), cmp.Compare(a.Name, b.Name))
	})
	return out
}
