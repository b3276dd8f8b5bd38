package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/doc"
	"assay/report/section"
	"assay/report/words"
	"assay/summary"
	"assay/summary/view/layers"
)

// The limits of what is shown of layers.
const (
	screenLayerGroups = 2 // kinds of steps
	mostLayerGroups   = 4
	screenLayerParts  = 4
	mostOddLayers     = 10
	mostKernelName    = 30
)

// layerGroups returns the kinds of steps whose layers are known. Without usable numbers of the GPUs there are none.
func layerGroups(ctx *section.Context) []layers.Group {
	if ctx.Result.Unusable() != nil {
		return nil
	}
	return layers.Groups(ctx.Summary)
}

// ScreenLayers says how many layers the model has and what one takes, if they are most of a step, or why it has none.
func ScreenLayers(ctx *section.Context) doc.Section {
	s := doc.Section{Title: "Layers"}
	groups := layerGroups(ctx)
	for i := range groups[:min(screenLayerGroups, len(groups))] {
		g := &groups[i]
		if !g.Typical.Mostly() {
			continue
		}
		kinds := g.Kinds()
		text := layersText(g, kinds)
		if len(s.Blocks) == 0 {
			text += ". " + partsText(kinds)
			if floor := floorText(mainKind(kinds)); floor != "" {
				text += " " + floor
			}
			if odd := oddText(kinds); odd != "" {
				text += " " + odd
			}
		}
		s.Blocks = append(s.Blocks, doc.Paragraph{Text: text})
	}
	if len(groups) == 0 && ctx.Result.Unusable() == nil && ctx.Summary.Issue("layers-interleaved") != nil {
		s.Blocks = append(s.Blocks, doc.Paragraph{Text: "Not shown: kernels of forward and backward passes alternate on one stream. " +
			"Modules in the trace (with_modules=True) would distinguish them."})
	}
	return s
}

// layersText returns what the layers of the typical step take: "decode: 36 layers × 268 µs; 9.65 ms of 10.7 ms a step",
// and in training "12 layers: forward 331 µs, backward 706 µs".
func layersText(g *layers.Group, kinds []layers.Kind) string {
	type model struct {
		name        string
		count, runs int64
	}
	of, order := map[model][]passTime{}, []model{}
	for _, k := range kinds {
		name := words.Layers
		if k.Count == 1 {
			name = words.Layer
		}
		m := model{kindName(&k, name), k.Count, k.Runs}
		if of[m] == nil {
			order = append(order, m)
		}
		n := k.Count * k.Runs * k.MedianNS
		of[m] = append(of[m], passTime{passName(k.Pass), unit.Duration(k.MedianNS), 20*max(n-k.NS(), k.NS()-n) > k.NS()})
	}
	var list []string
	for _, m := range order {
		text := unit.Count(m.count) + " " + m.name
		if m.runs > 1 {
			text = unit.Count(m.runs) + " × " + text
		}
		list = append(list, text+passesText(of[m]))
	}
	text := strings.Join(list, ", ")
	if g.Kind != "" {
		text = label.Clip(label.Clean(g.Kind), 20) + ": " + text
	}
	if ns := g.Typical.WallNS; ns > 0 {
		text += "; " + unit.DurationOf(min(ns, g.Typical.NS()), ns)
		if g.Typical.Name != "" {
			text += " a step"
		}
	}
	return text
}

// A passTime is the time of one layer in a pass. If it is uneven, the product with the number of layers is another sum than theirs.
type passTime struct {
	pass, time string
	uneven     bool
}

// passesText returns what follows the name of some layers: the time of one, or of each pass. A single forward pass is not named.
func passesText(list []passTime) string {
	if p := list[0]; len(list) == 1 {
		text := ""
		if p.pass != "" && p.pass != "forward" {
			text = " " + p.pass
		}
		if p.uneven {
			return text + ", median " + p.time
		}
		return text + " × " + p.time
	}
	var each []string
	for _, p := range list {
		if p.uneven {
			p.time = "median " + p.time
		}
		each = append(each, strings.TrimSpace(p.pass+" "+p.time))
	}
	return ": " + strings.Join(each, ", ")
}

// kindName returns the name of a kind, with what it differs by from the other kind of its name.
func kindName(k *layers.Kind, name func(string) string) string {
	if k.Differs == "" {
		return name(k.Name)
	}
	return name(strings.TrimRight(k.Name, "-0123456789")) + " " + k.Differs
}

func passName(pass string) string { return label.Clip(label.Clean(pass), 20) }

// mainKind returns the kind of layers with the most time.
func mainKind(kinds []layers.Kind) *layers.Kind {
	k := slices.MaxFunc(kinds, func(a, b layers.Kind) int { return cmp.Compare(a.NS(), b.NS()) })
	return &k
}

// partsText returns the parts of one layer with the most time: "One MoE layer: MoE 176 µs, attention 41 µs."
func partsText(kinds []layers.Kind) string {
	k := mainKind(kinds)
	parts := slices.Clone(k.Parts[:])
	slices.SortStableFunc(parts, func(a, b summary.PathPart) int { return cmp.Compare(b.NS, a.NS) })
	var list []string
	for _, p := range parts[:screenLayerParts] {
		if p.NS > 0 {
			list = append(list, words.LayerPart(p.Name)+" "+unit.Duration(p.NS))
		}
	}
	if len(list) == 0 {
		return ""
	}
	if free := k.MedianNS - k.KernelNS(); 10*free >= k.MedianNS {
		list = append(list, words.LayerPart("")+" "+unit.Duration(free))
	}
	if over := k.KernelNS() - k.MedianNS; 50*over >= k.MedianNS {
		list = append(list, unit.Duration(over)+" of it overlapped")
	}
	of := kindName(k, words.Layer)
	if slices.ContainsFunc(kinds, func(o layers.Kind) bool { return o.Pass != k.Pass }) {
		of += ", " + passName(k.Pass)
	}
	return "One " + of + ": " + strings.Join(list, ", ") + "."
}

// oddText names the most unusual layer: "Layer 17 takes 1.4 times the median (MoE)."
func oddText(kinds []layers.Kind) string {
	var best *layers.Odd
	pass, when := "", ""
	for i := range kinds {
		for n := range kinds[i].Odd {
			if o := &kinds[i].Odd[n]; o.Times > 1 && (best == nil || o.Times > best.Times) {
				if best, pass, when = o, kinds[i].Pass, ""; kinds[i].Steps*kinds[i].Runs == 1 {
					when = " in this step" // a single event
				}
			}
		}
	}
	if best == nil {
		return ""
	}
	text := fmt.Sprintf("Layer %d", best.Index)
	if pass != "" && pass != "forward" {
		text += " of " + passName(pass)
	}
	why := words.LayerPart(best.Part)
	if best.Kernel != "" {
		why += ": " + label.Short(label.Kernel, []string{label.Clean(best.Kernel)}, mostKernelName)[0]
	}
	return text + fmt.Sprintf(" takes %.1f times the median%s (%s).", best.Times, when, why)
}

// Layers returns the layers of the model in each kind of step, with the layers that differ.
func Layers(ctx *section.Context) doc.Section {
	groups := layerGroups(ctx)
	if len(groups) == 0 {
		return doc.Section{}
	}
	s := doc.Section{Title: "Layers of the model", Lead: "found from the order of kernels; layers are numbered from 0 in each pass"}
	for i := range groups[:min(mostLayerGroups, len(groups))] {
		g := &groups[i]
		kinds := g.Kinds()
		text := layersText(g, kinds) + fmt.Sprintf(" (median of %s)", label.Plural(int64(len(g.Steps)), "step"))
		s.Blocks = append(s.Blocks, doc.Paragraph{Text: doc.Capital(text) + ".", Strong: i == 0})
		if text := pairText(kinds); text != "" {
			s.Blocks = append(s.Blocks, doc.Paragraph{Text: text})
		}
		s.Blocks = append(s.Blocks, layerTable(g, kinds))
		for _, t := range []doc.Table{floorTable(kinds), oddTable(kinds)} {
			if len(t.Rows) > 0 {
				s.Blocks = append(s.Blocks, t)
			}
		}
	}
	s.Blocks = append(s.Blocks, ctx.Pictures("layers-typical.png", "layers.png")...)
	return s
}

// pairText compares the passes of training, if each has one kind of layers and as many.
func pairText(kinds []layers.Kind) string {
	of := map[string][]layers.Kind{}
	for _, k := range kinds {
		of[k.Pass] = append(of[k.Pass], k)
	}
	forward, backward := of["forward"], of["backward"]
	if len(forward) != 1 || len(backward) != 1 || forward[0].Count != backward[0].Count || forward[0].MedianNS == 0 {
		return ""
	}
	return fmt.Sprintf("The backward pass of a layer takes %.1f times its forward pass.", float64(backward[0].MedianNS)/float64(forward[0].MedianNS))
}

// layerTable has a row for each kind of layers.
func layerTable(g *layers.Group, kinds []layers.Kind) doc.Table {
	var times []int64
	for _, k := range kinds {
		times = append(times, k.MedianNS)
	}
	scale, total := doc.ScaleOf(times...), doc.ScaleOf(g.Typical.WallNS, g.Typical.NS())
	t := doc.Table{Title: "kinds of layers", Columns: []doc.Column{doc.Col("pass", doc.Text), doc.Col("kind", doc.Text), doc.Col("layers", doc.Number), doc.Col(scale.Head("one layer"), doc.Number)},
		Note: "One layer is the median. Parts are kernel time in this layer; kernels that run at the same time count fully each. All: sum of the lengths in the typical step. %: of the step, or of the window."}
	for _, p := range kinds[0].Parts {
		t.Columns = append(t.Columns, doc.Col(words.LayerPart(p.Name), doc.Number))
	}
	t.Columns = append(t.Columns, doc.Col(total.Head("all"), doc.Number), doc.Col("%", doc.Number))
	for _, k := range kinds {
		cells := []string{passName(k.Pass), kindName(&k, words.Layers), unit.Count(k.Count), scale.Text(k.MedianNS)}
		for _, p := range k.Parts {
			cells = append(cells, scaled(scale, p.NS))
		}
		all := k.NS()
		share := ""
		if g.Typical.WallNS > 0 {
			share = unit.Share(min(all, g.Typical.WallNS), g.Typical.WallNS)
		}
		t.Rows = append(t.Rows, doc.Row{Cells: append(cells, total.Text(all), share)})
	}
	return t.WithoutEmpty()
}

// scaled prints a time, or nothing if there is none.
func scaled(s doc.Scale, ns int64) string {
	if ns == 0 {
		return ""
	}
	return s.Text(ns)
}

// oddTable has the layers that take much longer or shorter than the others of their kind.
func oddTable(kinds []layers.Kind) doc.Table {
	t := doc.Table{Title: "unusual layers", Columns: []doc.Column{doc.Col("layer", doc.Number), doc.Col("pass", doc.Text), doc.Col("kind", doc.Text), doc.Col("of the median", doc.Number), doc.Col("most of it in", doc.Text), doc.Col("kernel", doc.KernelName), doc.Col("runs", doc.Text)},
		Note: "Layers that take much longer or shorter than others of their kind in more than half of the runs through the model."}
	for _, k := range kinds {
		for _, o := range k.Odd {
			t.Rows = append(t.Rows, doc.Row{Cells: []string{fmt.Sprint(o.Index), passName(k.Pass), kindName(&k, words.Layers), fmt.Sprintf("%.2f×", o.Times), words.LayerPart(o.Part), o.Kernel, fmt.Sprintf("%d of %d", o.Runs, k.Steps*k.Runs)}})
		}
	}
	return t.Cut(mostOddLayers).WithoutEmpty()
}

// floorText compares the largest parts of one layer with the least time that the hardware needs for them: those that take more than twice
// this time, if kernels are most of the layer, or all if the user gave the model.
func floorText(k *layers.Kind) string {
	var list []string
	mostly := 2*k.KernelNS() >= k.MedianNS
	for _, f := range k.Floor {
		if told := f.From == summary.FloorOfModel || mostly && 2*f.NS < f.KernelNS; told && 10*f.KernelNS >= k.MedianNS && f.Part != summary.HeadPart {
			list = append(list, words.LayerPart(f.Part)+" "+unit.DurationOf(f.NS, f.KernelNS)+" ("+unit.Share(f.NS, f.KernelNS)+")")
		}
	}
	if list == nil {
		return ""
	}
	return "Least time by bytes and FLOPs: " + strings.Join(list, ", ") + "."
}

// floorTable compares the parts of one layer of each kind and pass with the least time that the hardware needs for them.
func floorTable(kinds []layers.Kind) doc.Table {
	var times []int64
	for _, k := range kinds {
		for _, f := range k.Floor {
			times = append(times, f.KernelNS)
		}
	}
	scale := doc.ScaleOf(times...)
	t := doc.Table{Title: "floors of layers", Columns: []doc.Column{doc.Col("pass", doc.Text), doc.Col("kind", doc.Text), doc.Col("part", doc.Text),
		doc.Col(scale.Head("kernel time"), doc.Number), doc.Col(scale.Head("least time"), doc.Number), doc.Col("%", doc.Number), doc.Col("limited by", doc.Text),
		doc.Col("bytes", doc.Number), doc.Col("GFLOP", doc.Number), doc.Col("from", doc.Text)},
		Note: "Least time: bytes at the bandwidth or FLOPs at the peak, by recorded sizes of operators and collectives, or by the model. " +
			"The head is the output layer. Assumed: all weights are trained."}
	for _, k := range kinds {
		for _, f := range k.Floor {
			t.Rows = append(t.Rows, doc.Row{Cells: []string{passName(k.Pass), kindName(&k, words.Layers), words.LayerPart(f.Part), scale.Text(f.KernelNS), scale.Text(f.NS),
				unit.Share(f.NS, f.KernelNS), label.Clip(label.Clean(f.Bound), 20), unit.Bytes(f.Bytes), fmt.Sprintf("%.3g", float64(f.FLOPs)/1e9), label.Clip(label.Clean(f.From), 20)}})
		}
	}
	return t.WithoutEmpty()
}
