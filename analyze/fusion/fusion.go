// Package fusion finds GPU work that one kernel could do instead of several, and work that could be left out: chains of
// memory-bound operators, copies to other types and layouts, and copies to the host and back.
package fusion

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"assay/analyze/efficiency"
	"assay/analyze/efficiency/operators"
	"assay/analyze/gpu"
	"assay/analyze/launches"
	"assay/analyze/limits"
	"assay/summary"
	"assay/trace"
)

const (
	// maxRows is the number of rows of a GPU: those with the largest gain.
	maxRows = 100
	// maxChain is the number of operators of the longest chain.
	maxChain = 16
)

// A Source has what the analysis reads.
type Source struct {
	Timeline *gpu.Timeline
	Links    *launches.Links
	Owners   *efficiency.Owners
	HBMGBPS  float64 // bandwidth of the memory of the device; 0 if it is not known
	parsed   map[shape]*tensors
}

// Of returns what could be saved on a GPU, at most most rows.
func Of(src Source, d *gpu.Device, rank, most int) []summary.Saving {
	src.parsed = map[shape]*tensors{}
	f := finder{Source: &src, at: map[string]int{}, matrix: map[string]bool{}}
	chains := map[int64]*chain{} // by stream
	for _, w := range d.Work {
		a := src.Timeline.Activity(w)
		if !src.Timeline.Starts(w) || w.Dur <= 0 || a.Kind == trace.Memset { // a memset reads nothing
			continue
		}
		stream := src.Timeline.Stream(w)
		c := chains[stream]
		if c == nil {
			c = &chain{}
			chains[stream] = c
		}
		f.next(c, w, a)
	}
	for _, stream := range slices.Sorted(maps.Keys(chains)) {
		f.end(chains[stream])
	}
	for i := range f.rows {
		f.rows[i].Rank, f.rows[i].Device = rank, d.Ordinal
	}
	return limits.KeepLargest(limits.NewBudget(min(most, maxRows)), f.rows, func(r *summary.Saving) (int64, string) { return r.GainNS, r.Kind + r.Names[0] })
}

// next adds a piece of work to the chain of its stream, or ends the chain.
func (f *finder) next(c *chain, w gpu.Work, a *trace.Activity) {
	e, ok := f.element(w, a)
	n := len(c.list)
	switch {
	case ok && n > 0 && c.list[n-1].Call == e.Call: // another kernel of the same call
		c.list[n-1].ns += e.ns
		return
	case !ok:
		f.pass(c, w)
		return
	}
	linked := c.continues(&e)
	c.write(e.Call, c.read(e.tensors))
	if !linked {
		f.end(c)
		c.list = append(c.list, e)
	}
}

// pass notes work that is part of no chain. It ends the chain unless it certainly does not read its last result.
func (f *finder) pass(c *chain, w gpu.Work) {
	l, ok := f.Owners.Launcher(f.Links.Of[w.Number])
	if !ok || l.Dims == "" {
		f.end(c)
		c.results = c.results[:0]
		return
	}
	t := f.tensorsOf(&l)
	if n := len(c.list); n > 0 && (!t.known || t.reads(c.list[n-1].tensors)) {
		f.end(c)
	}
	if c.calls == 0 || c.last != l.Call { // else another kernel of the same call
		c.write(l.Call, c.read(t))
	}
}

// A finder adds up pieces of work that are alike.
type finder struct {
	*Source
	rows   []summary.Saving
	at     map[string]int
	matrix map[string]bool // by the name of an operator
}

// An element is the work of one call of an operator that could be part of a chain.
type element struct {
	efficiency.Launcher
	*tensors
	ns       int64
	category string
}

// fusible are the categories of kernels that are bound by the memory, and that a compiler fuses.
var fusible = map[string]bool{"elementwise": true, "normalization": true, "reduction": true, "softmax": true, "layout": true}

// element returns an operator of PyTorch whose kernels a compiler can fuse.
func (f *finder) element(w gpu.Work, a *trace.Activity) (e element, ok bool) {
	category := "layout"
	switch a.Kind {
	case trace.Kernel:
		category = f.Timeline.Classes[a.Name].Category
	case trace.Memcpy:
		if !strings.HasPrefix(f.Timeline.Trace.Name(a.Name), "Memcpy DtoD") {
			return e, false
		}
	default:
		return e, false
	}
	if !fusible[category] {
		return e, false
	}
	l, ok := f.Owners.Launcher(f.Links.Of[w.Number])
	if !ok || !strings.HasPrefix(l.Name, "aten::") || strings.HasPrefix(l.Name, "aten::_foreach") || f.multiplies(l.Name) {
		return e, false
	}
	return element{Launcher: l, tensors: f.tensorsOf(&l), ns: w.Dur, category: category}, true
}

// multiplies reports whether an operator is a matrix product or a convolution, some of whose kernels add a bias.
func (f *finder) multiplies(name string) bool {
	is, ok := f.matrix[name]
	if !ok {
		m := operators.Lookup(name)
		is = m != nil && m.Unit == operators.Matrix || strings.Contains(name, "convolution")
		f.matrix[name] = is
	}
	return is
}

// add adds a piece of work to its row.
func (f *finder) add(kind string, list []element, ns int64, bytes *int64, gain int64, from string) {
	names := make([]string, len(list))
	for i := range list {
		names[i] = list[i].Name
	}
	key := strings.Join(names, "\x00") + "\x01" + kind + from + list[0].Dims + list[0].Types
	at, ok := f.at[key]
	if !ok {
		at = len(f.rows)
		f.at[key] = at
		row := summary.Saving{Kind: kind, Names: names, Dims: raw(list[0].Dims), Types: raw(list[0].Types), GainFrom: from}
		if bytes != nil {
			row.Bytes = new(int64)
		}
		f.rows = append(f.rows, row)
	}
	r := &f.rows[at]
	r.Count, r.TotalNS, r.GainNS = r.Count+1, summary.Plus(r.TotalNS, ns), summary.Plus(r.GainNS, gain)
	if bytes != nil && r.Bytes != nil {
		*r.Bytes = summary.Plus(*r.Bytes, *bytes)
	}
}

// raw returns arguments as they are recorded, or null.
func raw(text string) json.RawMessage {
	if text == "" || !json.Valid([]byte(text)) {
		return nil
	}
	return json.RawMessage(strings.Clone(text))
}
