// Package layers adds up the layers of a model by kind and pass, over the ranks and steps of a run.
package layers

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/internal/stat"
	"assay/summary"
)

// A Step is one step of one GPU, with the layers of the model in it.
type Step struct {
	summary.GPU
	Name    string
	Kind    string           // of the step: prefill, decode, mixed, or ""
	StartNS int64            // of the step, or of the window of the GPU if the layers belong to no step
	WallNS  int64            // its length; 0 if it is not known
	WorkNS  int64            // without a step: the time of the window in which kernels ran
	Layers  []*summary.Layer // in order of time
}

// NS returns the time of the layers of a step.
func (s *Step) NS() (ns int64) {
	for _, l := range s.Layers {
		ns = summary.Plus(ns, lengthOf(l))
	}
	return ns
}

// Mostly reports whether layers are most of the step or, without one, of the window or its kernels: a window may have a setup too.
func (s *Step) Mostly() bool {
	kernels := int64(0)
	for _, l := range s.Layers {
		kernels = summary.Plus(kernels, l.Parts.Sum())
	}
	return 2*s.NS() > s.WallNS || s.WorkNS > 0 && 2*kernels > s.WorkNS
}

func lengthOf(l *summary.Layer) (ns int64) {
	if len(l.LengthNS) == 0 {
		return l.MedianNS * l.Count
	}
	for _, n := range l.LengthNS {
		ns = summary.Plus(ns, n)
	}
	return ns
}

// A Group has the steps whose layers can be compared: steps of one kind with the same kinds of layers, as many of
// each.
type Group struct {
	Kind    string // of the steps
	Steps   []Step
	Typical *Step // the step whose layers take the median time
}

// NS returns the time of the layers of all steps.
func (g *Group) NS() (ns int64) {
	for i := range g.Steps {
		ns = summary.Plus(ns, g.Steps[i].NS())
	}
	return ns
}

// kernelNS returns the kernel time of the layers of all steps.
func (g *Group) kernelNS() (ns int64) {
	for i := range g.Steps {
		for _, l := range g.Steps[i].Layers {
			ns = summary.Plus(ns, l.Parts.Sum())
		}
	}
	return ns
}

// Groups returns the groups of the steps that have layers, those with the most kernel time in layers first: layers of a
// warm-up last long and compute little.
func Groups(s *summary.Summary) (out []Group) {
	at := map[string]int{}
	for _, st := range layerSteps(s) {
		key := st.Kind
		for _, l := range st.Layers {
			key += fmt.Sprintf("\x00%s\x00%s\x00%d", l.Pass, l.Kind, l.Count)
		}
		i, ok := at[key]
		if !ok {
			i = len(out)
			at[key] = i
			out = append(out, Group{Kind: st.Kind})
		}
		out[i].Steps = append(out[i].Steps, st)
	}
	for i := range out {
		g := &out[i]
		order := make([]*Step, len(g.Steps))
		for k := range g.Steps {
			order[k] = &g.Steps[k]
		}
		slices.SortStableFunc(order, func(a, b *Step) int { return cmp.Compare(a.NS(), b.NS()) })
		g.Typical = order[(len(order)-1)/2]
	}
	slices.SortStableFunc(out, func(a, b Group) int { return cmp.Compare(b.kernelNS(), a.kernelNS()) })
	return out
}

// layerSteps returns the steps that have layers, by GPU and time.
func layerSteps(s *summary.Summary) (out []Step) {
	type key struct {
		summary.GPU
		start int64
		name  string
	}
	steps := map[summary.GPU][]*summary.Step{}
	for i := range s.Steps {
		st := &s.Steps[i]
		g := summary.GPU{Input: st.Input, Rank: st.Rank, Device: st.Device}
		steps[g] = append(steps[g], st)
	}
	at := map[key]int{}
	for i := range s.Layers {
		l := &s.Layers[i]
		step := Step{GPU: summary.GPU{Input: l.Input, Rank: l.Rank, Device: l.Device}, Name: l.Step}
		step.within(s, steps[step.GPU], l)
		k := key{step.GPU, step.StartNS, step.Name}
		n, ok := at[k]
		if !ok {
			n = len(out)
			at[k] = n
			out = append(out, step)
		}
		out[n].Layers = append(out[n].Layers, l)
	}
	return out
}

// within fills in the step of a row: of the steps of its name the last that starts before it, because the work of a
// step may end after the step. Without a step it is the window of the GPU.
func (s *Step) within(of *summary.Summary, steps []*summary.Step, l *summary.Layer) {
	var best *summary.Step
	for _, st := range steps {
		if st.Name == l.Step && st.StartNS <= l.StartNS && (best == nil || st.StartNS >= best.StartNS) {
			best = st
		}
	}
	if best != nil {
		s.Kind, s.StartNS, s.WallNS = best.Kind, best.StartNS, best.WallNS
		return
	}
	for _, d := range of.Devices {
		if l.Step == "" && d.Input == l.Input && d.Rank == l.Rank && d.Device == l.Device {
			s.StartNS, s.WallNS = d.StartNS, d.WindowNS
			s.WorkNS = d.Activity.With(summary.ClassCompute | summary.ClassComm)
		}
	}
}

// Parts is the number of parts that a layer is divided into.
const Parts = 6

// A Kind is all layers of one kind and pass in the steps of a group.
type Kind struct {
	Kind, Pass string
	Name       string // the kind, as it is shown: attention layers with a feed-forward network are "transformer-layer"
	Count      int64  // layers in one run through the model
	Runs       int64  // runs in a step: several of a draft model, or of a model without steps
	Steps      int64
	MedianNS   int64  // the median over steps of the median length of a layer
	Differs    string // from the only other kind of this name and pass: "with longer attention", "of the first pass"; or ""
	SumNS      int64  // the lengths of all its layers in the typical step
	// Parts is the kernel time of one layer: that of median length, in the step where the median is nearest to that of all steps. Means
	// are over all layers, the median over steps. Kernels that run at the same time count fully each.
	Parts, Means [Parts]summary.PathPart
	Floor        []summary.PartFloor // of the parts of one layer that have one, and of the head; of the row nearest to the median
	Odd          []Odd               // the most unusual first
}

// A Odd is a layer that takes much longer or shorter than the others of its kind, in at least half of the steps.
type Odd struct {
	Index int32
	Runs  int64   // in which it does
	Times float64 // its length, as a multiple of the median; the median over those steps
	// Part differs in most of them, and in it these kernels.
	Part, Kernel string
}

// Kinds returns the kinds of layers of a group: passes in order of time, and in a pass those with the most time first.
func (g *Group) Kinds() (out []Kind) {
	type key struct{ kind, pass string }
	rows := map[key][]*summary.Layer{}
	var order []key
	passes := map[string]int{}
	for i := range g.Steps {
		for _, l := range g.Steps[i].Layers {
			k := key{l.Kind, l.Pass}
			if rows[k] == nil {
				order = append(order, k)
			}
			if _, ok := passes[l.Pass]; !ok {
				passes[l.Pass] = len(passes)
			}
			rows[k] = append(rows[k], l)
		}
	}
	for _, k := range order {
		kind := layerKind(k.kind, k.pass, rows[k], int64(len(g.Steps)))
		for _, l := range g.Typical.Layers {
			if l.Kind == k.kind && l.Pass == k.pass {
				kind.SumNS = summary.Plus(kind.SumNS, lengthOf(l))
			}
		}
		out = append(out, kind)
	}
	shown(out)
	g.differ(out)
	slices.SortStableFunc(out, func(a, b Kind) int {
		return cmp.Or(cmp.Compare(passes[a.Pass], passes[b.Pass]), cmp.Compare(b.NS(), a.NS()))
	})
	return out
}

// shown sets the names of kinds. In a hybrid model the layers differ by what takes the place of attention; elsewhere
// a layer of attention and a feed-forward network is what is called a transformer layer.
func shown(kinds []Kind) {
	hybrid := slices.ContainsFunc(kinds, func(k Kind) bool {
		return strings.HasPrefix(k.Kind, "mamba-layer") || strings.HasPrefix(k.Kind, "linear-attention-layer")
	})
	for i := range kinds {
		k := &kinds[i]
		k.Name = summary.LayerName(k.Kind, !hybrid && k.Part("mlp") > 0)
	}
}

// differ says by what two kinds of one name and pass differ: by the place of their passes in the step, as of a prompt and the
// tokens after it; or by attention that takes a quarter longer in one of them, as that to all tokens does beside a sliding
// window, where the rest of the layer takes the same time.
func (g *Group) differ(kinds []Kind) {
	byName := map[string][]*Kind{}
	for i := range kinds {
		name := strings.TrimRight(kinds[i].Kind, "-0123456789")
		byName[kinds[i].Pass+" "+name] = append(byName[kinds[i].Pass+" "+name], &kinds[i])
	}
	for _, pair := range byName {
		if len(pair) != 2 {
			continue
		}
		short, long := pair[0], pair[1]
		if g.precedes(long, short) {
			short, long = long, short
		}
		if g.precedes(short, long) {
			short.Differs, long.Differs = "of the first pass", "of later passes"
			continue
		}
		if long.Part("attention") < short.Part("attention") {
			short, long = long, short
		}
		s, l := short.Part("attention"), long.Part("attention")
		rest, other := short.meanNS()-s, long.meanNS()-l
		if s > 0 && 4*l >= 5*s && 4*max(rest, other) < 5*max(1, min(rest, other)) {
			short.Differs, long.Differs = "with shorter attention", "with longer attention"
		}
	}
}

// precedes reports whether, in each step, one pass through layers of a kind comes before all of several passes through as many
// layers of another kind.
func (g *Group) precedes(first, later *Kind) bool {
	if first.Runs != 1 || later.Runs < 2 || first.Count != later.Count {
		return false
	}
	for i := range g.Steps {
		end, start := int64(-1<<63), int64(1<<63-1)
		for _, l := range g.Steps[i].Layers {
			switch {
			case l.Pass != first.Pass:
			case l.Kind == first.Kind:
				end = max(end, l.StartNS)
			case l.Kind == later.Kind:
				start = min(start, l.StartNS)
			}
		}
		if end >= start {
			return false
		}
	}
	return true
}

// layerKind joins the rows of one kind. A step may have several, for example of each pass of a draft model.
func layerKind(kind, pass string, rows []*summary.Layer, steps int64) Kind {
	k := Kind{Kind: kind, Pass: pass, Steps: steps, Count: rows[0].Count, Runs: max(1, int64(len(rows))/max(1, steps))}
	if slices.ContainsFunc(rows, func(l *summary.Layer) bool { return l.Count != k.Count }) { // not runs of one model
		k.Count, k.Runs = 0, 1
		for _, l := range rows {
			k.Count += l.Count
		}
		k.Count /= max(1, steps)
	}
	var medians []int64
	parts := [Parts][]int64{}
	for _, l := range rows {
		medians = append(medians, l.MedianNS)
		for i, p := range l.Parts.Each() {
			k.Means[i].Name = p.Name
			parts[i] = append(parts[i], p.NS/max(1, l.Count))
		}
	}
	k.MedianNS = stat.Median(medians)
	for i := range parts {
		k.Means[i].NS = stat.Median(parts[i])
	}
	if k.Parts = k.Means; nearest(rows, k.MedianNS).TypicalParts.Sum() > 0 { // older summaries have none
		copy(k.Parts[:], nearest(rows, k.MedianNS).TypicalParts.Each())
	}
	if floors := slices.DeleteFunc(slices.Clone(rows), func(l *summary.Layer) bool { return l.Floor == nil }); len(floors) > 0 {
		k.Floor = nearest(floors, k.MedianNS).Floor
	}
	k.Odd = oddOf(rows, int64(len(rows)))
	return k
}

// nearest returns the row whose median is nearest to that of all, the first of several.
func nearest(rows []*summary.Layer, median int64) *summary.Layer {
	away := func(l *summary.Layer) int64 { return max(l.MedianNS-median, median-l.MedianNS) }
	return slices.MinFunc(rows, func(a, b *summary.Layer) int { return cmp.Compare(away(a), away(b)) })
}

// oddOf returns the layers that are unusual in more than half of the runs: of two, one may be chance.
func oddOf(rows []*summary.Layer, runs int64) (out []Odd) {
	type cause struct{ part, kernel string }
	times, causes := map[int32][]float64{}, map[int32]map[cause]int{}
	for _, l := range rows {
		for _, o := range l.Odd {
			times[o.Index] = append(times[o.Index], float64(o.NS)/float64(max(1, l.MedianNS)))
			if causes[o.Index] == nil {
				causes[o.Index] = map[cause]int{}
			}
			causes[o.Index][cause{o.Part, o.Kernel}]++
		}
	}
	for i, list := range times {
		if 2*int64(len(list)) <= runs {
			continue
		}
		odd := Odd{Index: i, Runs: int64(len(list)), Times: stat.MedianBy(list, func(x float64) float64 { return x })}
		best := cause{}
		for c, n := range causes[i] {
			if most := causes[i][best]; n > most || n == most && (c.part < best.part || c.part == best.part && c.kernel < best.kernel) {
				best = c
			}
		}
		odd.Part, odd.Kernel = best.part, best.kernel
		out = append(out, odd)
	}
	away := func(o Odd) float64 { return max(o.Times, 1/max(o.Times, 1e-9)) }
	slices.SortFunc(out, func(a, b Odd) int { return cmp.Or(cmp.Compare(away(b), away(a)), cmp.Compare(a.Index, b.Index)) })
	return out
}

// KernelNS returns the kernel time of one layer. It is more than its length if many kernels run at the same time.
func (k *Kind) KernelNS() (ns int64) {
	for _, p := range k.Parts {
		ns = summary.Plus(ns, p.NS)
	}
	return ns
}

// meanNS returns the mean kernel time of a layer.
func (k *Kind) meanNS() (ns int64) {
	for _, p := range k.Means {
		ns = summary.Plus(ns, p.NS)
	}
	return ns
}

// NS returns the time of all layers of the kind in the typical step.
func (k *Kind) NS() int64 { return k.SumNS }

// Part returns the mean time of a part of one layer, by its name.
func (k *Kind) Part(name string) int64 {
	for _, p := range k.Means {
		if p.Name == name {
			return p.NS
		}
	}
	return 0
}

// Key identifies the kind in comparisons.
func (k *Kind) Key() string { return strings.TrimSpace(k.Pass + " " + k.Kind) }
