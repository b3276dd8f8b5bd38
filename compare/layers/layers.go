// Package layers compares the layers of a model in two runs.
//
// [Of] matches kinds of layers by the kind of step, the pass and the kind of the layers, and compares the time of one
// layer and of its parts. Models with another number of layers, or with layers of another kind, are other models: these
// rows have a reason instead of differences.
package layers

import (
	"cmp"
	"fmt"
	"slices"

	"assay/summary"
	"assay/summary/view/layers"
)

// A Row is one kind of layers on both sides. Times are per layer: medians over layers, steps and GPUs.
type Row struct {
	Steps string `json:"steps"` // kind of steps, or ""
	Kind  string `json:"kind"`
	Pass  string `json:"pass"`
	Name  string `json:"-"` // of the kind, as it is shown

	BaseCount int64  `json:"base_count"` // layers in one run through the model; 0 if the side has none of this kind
	NewCount  int64  `json:"new_count"`
	Apart     string `json:"not_compared,omitempty"` // why the sides are not compared: then the rest is absent

	BaseNS   int64  `json:"base_ns,omitempty"`
	NewNS    int64  `json:"new_ns,omitempty"`
	DeltaNS  int64  `json:"delta_ns,omitempty"`  // NewNS - BaseNS
	EffectNS int64  `json:"effect_ns,omitempty"` // DeltaNS times the layers of a step
	Parts    []Part `json:"parts,omitempty"`     // kernel time of one layer
}

// A Part is one part of a layer on both sides.
type Part struct {
	Name    string `json:"name"`
	BaseNS  int64  `json:"base_ns"`
	NewNS   int64  `json:"new_ns"`
	DeltaNS int64  `json:"delta_ns"`
}

// A key is what the rows of both sides are matched by.
type key struct{ steps, pass, kind string }

// Of compares two summaries. It returns nil if a side has no layers.
func Of(base, new *summary.Summary) (out []Row) {
	b, n := kindsOf(base), kindsOf(new)
	if len(b) == 0 || len(n) == 0 {
		return nil
	}
	var keys []key
	for k := range b {
		keys = append(keys, k)
	}
	for k := range n {
		if _, ok := b[k]; !ok {
			keys = append(keys, k)
		}
	}
	for _, k := range keys {
		out = append(out, rowOf(k, b[k], n[k]))
	}
	slices.SortFunc(out, func(x, y Row) int {
		return cmp.Or(cmp.Compare(size(y.EffectNS), size(x.EffectNS)), cmp.Compare(x.Steps, y.Steps), cmp.Compare(x.Pass, y.Pass), cmp.Compare(x.Kind, y.Kind))
	})
	return out
}

// kindsOf returns the kinds of layers in the steps of each kind that have the most time in layers.
func kindsOf(s *summary.Summary) map[key]*layers.Kind {
	out := map[key]*layers.Kind{}
	seen := map[string]bool{}
	for _, g := range layers.Groups(s) {
		if seen[g.Kind] {
			continue
		}
		seen[g.Kind] = true
		for _, k := range g.Kinds() {
			out[key{g.Kind, k.Pass, k.Kind}] = &k
		}
	}
	return out
}

func rowOf(k key, b, n *layers.Kind) Row {
	r := Row{Steps: k.steps, Kind: k.kind, Pass: k.pass}
	if b != nil {
		r.BaseCount, r.Name = b.Count, b.Name
	}
	if n != nil {
		r.NewCount, r.Name = n.Count, n.Name
	}
	switch {
	case b == nil:
		r.Apart = "the base run has no layers of this kind"
	case n == nil:
		r.Apart = "the new run has no layers of this kind"
	case b.Count != n.Count:
		r.Apart = fmt.Sprintf("%d layers, was %d", n.Count, b.Count)
	}
	if r.Apart != "" {
		return r
	}
	r.BaseNS, r.NewNS = b.MedianNS, n.MedianNS
	r.DeltaNS = r.NewNS - r.BaseNS
	r.EffectNS = r.DeltaNS * n.Count * n.Runs
	for i, p := range b.Means {
		if was, now := p.NS, n.Means[i].NS; was != 0 || now != 0 {
			r.Parts = append(r.Parts, Part{p.Name, was, now, now - was})
		}
	}
	slices.SortStableFunc(r.Parts, func(x, y Part) int { return cmp.Compare(size(y.DeltaNS), size(x.DeltaNS)) })
	return r
}

func size(ns int64) int64 { return max(ns, -ns) }
