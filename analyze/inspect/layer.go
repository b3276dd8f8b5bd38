package inspect

import (
	"cmp"
	"slices"

	"assay/analyze"
	"assay/analyze/attribute"
	"assay/analyze/layers"
	"assay/analyze/steps"
	"assay/internal/diag"
	"assay/summary"
)

// A Layer is one layer of the model in one step of one GPU, compared with the layer of its kind whose length is the
// median.
type Layer struct {
	summary.GPU
	Step    string        `json:"step"`
	Kind    string        `json:"kind"`
	Pass    string        `json:"pass"`
	Index   int32         `json:"index"`
	NS      int64         `json:"ns"`
	Runs    int           `json:"runs"` // runs through the model in which it was measured; this one has the median time of them
	MinNS   int64         `json:"min_ns"`
	MaxNS   int64         `json:"max_ns"`
	Median  int32         `json:"median_index"` // the layer of about the median time
	OfNS    int64         `json:"median_ns"`    // its length
	Parts   []LayerPart   `json:"parts"`        // the largest difference first
	Kernels []LayerKernel `json:"kernels"`      // in the order of their starts
	Others  int           `json:"others"`       // layers of its kind in the step, without this one
}

// A LayerPart is the time of a part in both layers. Rows add up to the lengths of the layers: with the kernel time of parts there are
// the time without kernels, named "", and "overlapped", which takes off what kernels that run at the same time count twice, and what
// runs after the layer.
type LayerPart struct {
	Name string `json:"name"`
	NS   int64  `json:"ns"`
	OfNS int64  `json:"median_ns"`
}

// A LayerKernel is a kernel of the layer, and the one that has its place in the median layer.
type LayerKernel struct {
	summary.LayerKernel
	Of   string `json:"median_name,omitempty"`   // its name, if it is another one
	OfNS *int64 `json:"median_ns"`               // null if the median layer has no such kernel
	Only string `json:"only,omitempty"`          // "this" or "median" if only one layer has it
	Gap  int64  `json:"gap_ns,omitempty"`        // time before its start in which no kernel of the layer runs
	Was  int64  `json:"median_gap_ns,omitempty"` // the same in the median layer
}

// Layers returns the layer of a number, of the run that has the median time, for each GPU, kind and pass. last is the
// largest number, or -1.
func (c *Capture) Layers(index int) (out []Layer, last int32) {
	last = -1
	h := attribute.HostOf(c.t)
	a := c.attribution(h)
	var unused diag.Ledger
	marks := steps.MarksOf(steps.NewVocabulary(c.t, c.opt.Phases), &unused)
	each := func(row *summary.Layer, kernels func(int) []summary.LayerKernel) {
		for i, at := range row.Index {
			if last = max(last, at); int(at) == index {
				out = append(out, c.layer(row, i, kernels))
			}
		}
	}
	layers.Of(layers.Measured{Timeline: c.tl, Links: h.Links, Marks: marks, Steps: analyze.Steps(c.t, c.in.Rank, c.opt),
		Pass: a.PassOf, Module: a.ModuleOf, Named: a.Module, Each: each}, c.in.Rank, &unused)
	return typicalRuns(out), last
}

// typicalRuns returns one layer for each GPU, kind and pass.
func typicalRuns(list []Layer) (out []Layer) {
	type key struct {
		summary.GPU
		pass, kind string
	}
	of, order := map[key][]Layer{}, []key{}
	for _, l := range list {
		k := key{l.GPU, l.Pass, l.Kind}
		if of[k] == nil {
			order = append(order, k)
		}
		of[k] = append(of[k], l)
	}
	for _, k := range order {
		runs := of[k]
		slices.SortStableFunc(runs, func(a, b Layer) int { return cmp.Compare(a.NS, b.NS) })
		l := runs[(len(runs)-1)/2]
		l.Runs, l.MinNS, l.MaxNS = len(runs), runs[0].NS, runs[len(runs)-1].NS
		out = append(out, l)
	}
	return out
}

// layer compares one layer of a row with its median layer.
func (c *Capture) layer(row *summary.Layer, i int, kernels func(int) []summary.LayerKernel) Layer {
	order := make([]int, len(row.LengthNS))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(row.LengthNS[a], row.LengthNS[b]) })
	median := order[(len(order)-1)/2]
	l := Layer{GPU: c.gpu(row.Device), Step: row.Step, Kind: row.Kind, Pass: row.Pass, Index: row.Index[i], NS: row.LengthNS[i],
		Median: row.Index[median], OfNS: row.LengthNS[median], Others: len(row.Index) - 1}
	this, of := kernels(i), kernels(median)
	l.Kernels, l.Parts = paired(this, of), partsOf(this, of, l.NS, l.OfNS)
	if max(len(this), len(of)) >= layers.MostKernels { // what follows the last one listed is not known
		l.Parts = slices.DeleteFunc(l.Parts, func(p LayerPart) bool { return p.Name == "" || p.Name == "overlapped" })
	}
	return l
}

// partsOf adds up the parts of two layers, those that differ most first.
func partsOf(this, of []summary.LayerKernel, length, ofLength int64) (out []LayerPart) {
	at := map[string]int{}
	add := func(list []summary.LayerKernel, length int64, to func(*LayerPart) *int64) {
		plus := func(part string, ns int64) {
			i, ok := at[part]
			if !ok {
				i = len(out)
				at[part] = i
				out = append(out, LayerPart{Name: part})
			}
			*to(&out[i]) = summary.Plus(*to(&out[i]), ns)
		}
		left := length // what kernels leave of the length, if none overlap
		for _, k := range list {
			plus(k.Part, k.NS)
			left -= k.NS
		}
		free := length - busy(list, length)
		plus("", free)
		if left != free {
			plus("overlapped", left-free)
		}
	}
	add(this, length, func(p *LayerPart) *int64 { return &p.NS })
	add(of, ofLength, func(p *LayerPart) *int64 { return &p.OfNS })
	away := func(p LayerPart) int64 { return max(p.NS-p.OfNS, p.OfNS-p.NS) }
	slices.SortStableFunc(out, func(a, b LayerPart) int { return cmp.Compare(away(b), away(a)) })
	return out
}

// busy returns the time in which at least one kernel of a layer runs.
func busy(list []summary.LayerKernel, length int64) int64 {
	free, end := length, int64(0)
	for i, gap := range gapsBefore(list) {
		free -= min(gap, length-min(length, end))
		end = max(end, list[i].AtNS+list[i].NS)
	}
	return free - max(0, length-end)
}

// gapsBefore returns for each kernel how long none ran before it. Kernels are in the order of their starts.
func gapsBefore(list []summary.LayerKernel) []int64 {
	out, end := make([]int64, len(list)), int64(0)
	for i, k := range list {
		out[i] = max(0, k.AtNS-end)
		end = max(end, k.AtNS+k.NS)
	}
	return out
}

// paired aligns the kernels of two layers by the longest common subsequence of their names. Kernels between two common
// ones are in one row if they belong to the same part.
func paired(this, of []summary.LayerKernel) (out []LayerKernel) {
	n, m := len(this), len(of)
	length := make([][]int, n+1) // of the common subsequence of this[i:] and of[k:]
	for i := range length {
		length[i] = make([]int, m+1)
	}
	for i := n - 1; i >= 0; i-- {
		for k := m - 1; k >= 0; k-- {
			if length[i][k] = max(length[i+1][k], length[i][k+1]); this[i].Name == of[k].Name {
				length[i][k] = length[i+1][k+1] + 1
			}
		}
	}
	gaps, was := gapsBefore(this), gapsBefore(of)
	i, k := 0, 0
	for i < n || k < m {
		switch {
		case i < n && k < m && this[i].Name == of[k].Name:
			out = append(out, LayerKernel{LayerKernel: this[i], OfNS: &of[k].NS, Gap: gaps[i], Was: was[k]})
			i, k = i+1, k+1
		case i < n && k < m && this[i].Part == of[k].Part && length[i+1][k+1] == length[i][k]:
			out = append(out, LayerKernel{LayerKernel: this[i], Of: of[k].Name, OfNS: &of[k].NS, Gap: gaps[i], Was: was[k]})
			i, k = i+1, k+1
		case k == m || i < n && length[i+1][k] == length[i][k]:
			out = append(out, LayerKernel{LayerKernel: this[i], Only: "this", Gap: gaps[i]})
			i++
		default:
			out = append(out, LayerKernel{LayerKernel: of[k], OfNS: &of[k].NS, Only: "median", Was: was[k]})
			k++
		}
	}
	return out
}
