// Package layers draws the layers of a model: the kernels of one of them, and which take longer than the others.
package layers

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"assay/internal/label"
	"assay/internal/stat"
	"assay/internal/unit"
	"assay/report/plot"
	"assay/report/words"
	"assay/summary"
	"assay/summary/view/layers"
)

// The limits of the pictures of layers.
const (
	mostLayerKernels = 30   // rows of the typical layer
	mostLayerRows    = 40   // steps, or ranks
	leastLayerTime   = 0.03 // difference from the median without which there is nothing to see
)

// layerColors are the colours of the parts of layers.
var layerColors = map[string]plot.Color{
	"attention": plot.ColorCompute, "mlp": plot.ColorWork, "moe": plot.ColorHost, "norm": plot.ColorDependency,
	"communication": plot.ColorComm, "other": plot.ColorOpaque,
}

// Typical shows the kernels of one layer of median length.
func Typical(s *summary.Summary) (plot.Chart, bool) {
	of := typicalRow(s)
	if of == nil {
		return plot.Chart{}, false
	}
	rows, end, main := joinedKernels(of.Typical), int64(0), mainStream(of.Typical)
	g := plot.Gantt{Form: label.Kernel}
	present := map[string]bool{}
	for _, k := range rows {
		end, present[k.Part] = max(end, k.AtNS+k.NS), true
		row := plot.GanttRow{Label: k.Name, Color: layerColors[k.Part], AtNS: k.AtNS, NS: k.NS, Note: k.note}
		if k.Stream != main {
			row.Note += fmt.Sprintf(", stream %d", k.Stream)
		}
		g.Rows = append(g.Rows, row)
	}
	g.SpanNS = end
	name := words.Layers(shownName(s, of))
	c := plot.Chart{
		Title:    "One of " + unit.Count(of.Count) + " " + name + passText(of.Pass),
		Subtitle: fmt.Sprintf("kernels of a layer of about the median time, %s; in the order of their starts", unit.Duration(of.MedianNS)),
		Body:     g,
		Alt:      fmt.Sprintf("Kernels of one layer: %d in %s", len(of.Typical), unit.Duration(end)),
	}
	for _, p := range of.Parts.Each() {
		if present[p.Name] {
			c.Legend = append(c.Legend, plot.Swatch{Color: layerColors[p.Name], Text: words.LayerPart(p.Name)})
		}
	}
	return c, true
}

// typicalRow returns the row whose layer is drawn: of the kind and pass with the most time, the median nearest to that of all steps.
func typicalRow(s *summary.Summary) (of *summary.Layer) {
	groups := layers.Groups(s)
	if len(groups) == 0 {
		return nil
	}
	kinds := groups[0].Kinds()
	k := slices.MaxFunc(kinds, func(a, b layers.Kind) int { return cmp.Compare(a.NS(), b.NS()) })
	away := func(l *summary.Layer) int64 { return max(l.MedianNS-k.MedianNS, k.MedianNS-l.MedianNS) }
	for _, st := range groups[0].Steps {
		for _, l := range st.Layers {
			if l.Kind == k.Kind && l.Pass == k.Pass && len(l.Typical) > 0 && (of == nil || away(l) < away(of)) {
				of = l
			}
		}
	}
	for i := range s.Layers { // that step may be of another group
		if l := &s.Layers[i]; of == nil && l.Kind == k.Kind && l.Pass == k.Pass && len(l.Typical) > 0 {
			of = l
		}
	}
	return of
}

// shownName returns the name of the kind of a row, as the tables show it.
func shownName(s *summary.Summary, of *summary.Layer) string {
	for _, g := range layers.Groups(s) {
		for _, k := range g.Kinds() {
			if k.Kind == of.Kind && k.Pass == of.Pass {
				return k.Name
			}
		}
	}
	return of.Kind
}

func passText(pass string) string {
	if pass == "" {
		return ""
	}
	return ", " + label.Clip(label.Clean(pass), 20)
}

// mainStream returns the stream with the most time.
func mainStream(list []summary.LayerKernel) (main int64) {
	busy := map[int64]int64{}
	for _, k := range list {
		busy[k.Stream] += k.NS
		if busy[k.Stream] > busy[main] {
			main = k.Stream
		}
	}
	return main
}

// A layerRow is a kernel, or several neighbours that are joined.
type layerRow struct {
	summary.LayerKernel
	note    string
	longest int64
	count   int
}

// joinedKernels returns the kernels by their starts. Of too many it joins neighbours of one part and stream, the shortest
// first, and then leaves out the shortest.
func joinedKernels(list []summary.LayerKernel) (rows []layerRow) {
	all := int64(0)
	for _, k := range list {
		all += k.NS
	}
	small := layerRow{LayerKernel: summary.LayerKernel{Name: "other", Part: "other", Stream: mainStream(list)}}
	for _, k := range list {
		if 100*k.NS < all {
			small.NS, small.count = small.NS+k.NS, small.count+1
		}
	}
	for _, k := range list {
		if small.count > 1 && 100*k.NS < all {
			continue
		}
		rows = append(rows, layerRow{k, "", k.NS, 1})
	}
	slices.SortStableFunc(rows, func(a, b layerRow) int { return cmp.Compare(a.AtNS, b.AtNS) })
	for len(rows) > mostLayerKernels {
		best := -1
		for i := range len(rows) - 1 {
			a, b := rows[i], rows[i+1]
			if a.Part == b.Part && a.Stream == b.Stream && (best < 0 || a.NS+b.NS < rows[best].NS+rows[best+1].NS) {
				best = i
			}
		}
		if best < 0 {
			shortest := 0
			for i := range rows {
				if rows[i].NS < rows[shortest].NS {
					shortest = i
				}
			}
			rows = slices.Delete(rows, shortest, shortest+1)
			continue
		}
		a, b := &rows[best], rows[best+1]
		if b.longest > a.longest {
			a.Name, a.longest = b.Name, b.longest
		}
		a.NS, a.count = b.AtNS+b.NS-a.AtNS, a.count+b.count
		a.note = fmt.Sprintf(", %d kernels", a.count)
		rows = slices.Delete(rows, best+1, best+2)
	}
	if small.count > 1 {
		small.note = fmt.Sprintf(", %d kernels below 1%% each", small.count)
		for _, k := range list {
			small.AtNS = max(small.AtNS, k.AtNS+k.NS-small.NS)
		}
		rows = append(rows, small)
	}
	return rows
}

// Times shows by how much each layer is longer than the median of its kind: by rank if there are several, else by step.
func Times(s *summary.Summary) (plot.Chart, bool) {
	groups := layers.Groups(s)
	if len(groups) == 0 {
		return plot.Chart{}, false
	}
	g := &groups[0]
	pass := mainPass(g)
	rows, width, by := layerTimes(g, pass)
	if width < 3 {
		return plot.Chart{}, false
	}
	h := plot.HeatMap{Places: plot.Places{Name: "layer"}, Head: "all layers", Middle: "median of its kind"}
	for i := range width {
		h.Places.Labels = append(h.Places.Labels, fmt.Sprint(i))
	}
	most := 0.0
	for _, r := range rows[:min(mostLayerRows, len(rows))] {
		h.Rows = append(h.Rows, plot.HeatRow{Label: r.label, Note: unit.Duration(r.ns), Values: r.values})
		for _, v := range r.values {
			if !math.IsNaN(v) {
				most = max(most, math.Abs(v))
			}
		}
	}
	if most < leastLayerTime {
		return plot.Chart{}, false
	}
	kind := g.Kind
	if kind != "" {
		kind = ", " + label.Clip(label.Clean(kind), 20)
	}
	c := plot.Chart{
		Title:    "Time of each layer by " + by + passText(pass) + kind,
		Subtitle: "difference from the median of the layers of its kind, in % of it",
		Body:     h,
		Alt:      fmt.Sprintf("Heat map of the time of %d layers: the largest difference from the median is %s", width, plot.Signed(most)),
	}
	if rest := len(rows) - len(h.Rows); rest > 0 {
		c.Caption = fmt.Sprintf("The first %d; %d more.", len(h.Rows), rest)
	}
	return c, true
}

// mainPass returns the pass whose layers take the most time.
func mainPass(g *layers.Group) (pass string) {
	sums := map[string]int64{}
	for _, k := range g.Kinds() {
		sums[k.Pass] += k.NS()
		if sums[k.Pass] > sums[pass] {
			pass = k.Pass
		}
	}
	return pass
}

// A timedRow has the layers of a step, or the medians of a GPU over its steps.
type timedRow struct {
	label  string
	ns     int64
	values []float64 // relative to the median of the kind; NaN if there is no such layer
}

// layerTimes returns the rows of the heat map, the number of layers, and what a row is.
func layerTimes(g *layers.Group, pass string) (rows []timedRow, width int, by string) {
	medians := map[string]int64{}
	for _, k := range g.Kinds() {
		if k.Pass == pass {
			medians[k.Kind] = k.MedianNS
		}
	}
	var gpus []summary.GPU
	steps := map[summary.GPU][]timedRow{}
	for i := range g.Steps {
		st := &g.Steps[i]
		r := timedRow{label: label.Clip(label.Clean(cmp.Or(st.Name, "window")), 24)}
		var runs []float64 // through each layer
		for _, l := range st.Layers {
			if l.Pass != pass {
				continue
			}
			for n, at := range l.Index {
				for at >= 0 && int(at) >= len(r.values) && at < 10_000 {
					r.values, runs = append(r.values, 0), append(runs, 0)
				}
				if m := medians[l.Kind]; m > 0 && at >= 0 && int(at) < len(r.values) {
					r.values[at], runs[at] = r.values[at]+float64(l.LengthNS[n])/float64(m)-1, runs[at]+1
					r.ns += l.LengthNS[n]
				}
			}
		}
		for i := range r.values {
			r.values[i] /= runs[i] // the mean; NaN without a run
		}
		width = max(width, len(r.values))
		if steps[st.GPU] == nil {
			gpus = append(gpus, st.GPU)
		}
		steps[st.GPU] = append(steps[st.GPU], r)
	}
	if len(gpus) == 1 {
		return steps[gpus[0]], width, "step"
	}
	single := !slices.ContainsFunc(gpus, func(x summary.GPU) bool { return x.Device != gpus[0].Device })
	for _, gpu := range gpus {
		r := medianRow(steps[gpu], width)
		if r.label = fmt.Sprintf("rank %d", gpu.Rank); !single {
			r.label += fmt.Sprintf(" GPU %d", gpu.Device)
		}
		rows = append(rows, r)
	}
	return rows, width, "rank"
}

// medianRow returns the median of each layer over the steps of a GPU.
func medianRow(steps []timedRow, width int) (r timedRow) {
	r.ns = stat.MedianBy(steps, func(x timedRow) int64 { return x.ns })
	for i := range width {
		var list []float64
		for _, st := range steps {
			if i < len(st.values) && !math.IsNaN(st.values[i]) {
				list = append(list, st.values[i])
			}
		}
		v := math.NaN()
		if len(list) > 0 {
			v = stat.Median(list)
		}
		r.values = append(r.values, v)
	}
	return r
}
