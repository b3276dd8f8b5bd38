package nsysstats

import (
	"strconv"
	"strings"

	"assay/analyze/hosttree"
	"assay/trace"
)

// The styles of ranges: ranges that nest, and ranges that may overlap.
const (
	pushPop  = "PushPop"
	startEnd = "StartEnd"
)

// A rangeKey identifies a range: its text and domain. The trace stores the
// parts of an operator's text separately.
type rangeKey struct {
	name     trace.Sym
	domain   trace.Sym // the category of a named domain; 0 for the default one
	dims     trace.Sym
	sequence trace.ID
	external trace.ID
	op       bool
	overlaps bool
}

// ranges numbers the ranges of a trace. Operators are ranges if they were
// recorded as such.
type ranges struct {
	t       *trace.Trace
	index   *index[rangeKey]
	domains map[trace.Sym]trace.Sym // by category
}

func (m *maker) ranges() *ranges {
	return &ranges{m.t, newIndex[rangeKey](), make(map[trace.Sym]trace.Sym)}
}

// domainPrefix is the prefix of the category of a range in a named domain.
const domainPrefix = "nvtx:"

// span returns the number of a range.
func (r *ranges) span(s *trace.HostSpan, overlaps bool) int {
	domain, ok := r.domains[s.Category]
	if !ok {
		if strings.HasPrefix(r.t.Name(s.Category), domainPrefix) {
			domain = s.Category
		}
		r.domains[s.Category] = domain
	}
	return r.index.numberOf(rangeKey{name: s.Name, domain: domain, overlaps: overlaps})
}

// op returns the number of an operator.
func (r *ranges) op(o *trace.Op) int {
	return r.index.numberOf(rangeKey{name: o.Name, dims: r.t.Shape(o.Shape).Dims, sequence: o.Sequence, external: o.External, op: true})
}

// frame returns the number of a host event, and whether it is a range.
func (r *ranges) frame(f *hosttree.Frame) (group int, ok bool) {
	switch {
	case f.Kind == trace.Annotation:
		return r.span(r.t.Spans.At(f.Row), false), true
	case f.Kind == trace.CPUOp && r.t.Meta.NVTXOps:
		return r.op(r.t.Ops.At(f.Row)), true
	}
	return 0, false
}

// style returns the style of a range.
func (r *ranges) style(group int) string {
	if r.index.keys[group].overlaps {
		return startEnd
	}
	return pushPop
}

// text returns the name of a range: its domain, empty for the default one, and
// its text.
func (r *ranges) text(group int) string {
	k := &r.index.keys[group]
	domain := strings.TrimPrefix(r.t.Name(k.domain), domainPrefix)
	if !k.op {
		return domain + ":" + r.t.Name(k.name)
	}
	b := append([]byte(":"), r.t.Name(k.name)...)
	if k.sequence != 0 {
		b = strconv.AppendInt(append(b, ", seq = "...), int64(k.sequence)-1, 10)
	}
	if k.external != 0 {
		b = strconv.AppendInt(append(b, ", op_id = "...), int64(k.external), 10)
	}
	if k.dims != 0 {
		b = append(append(b, ", sizes = "...), r.t.Name(k.dims)...)
	}
	return string(b)
}

// rangeRows sums the durations of ranges by text and style. They nest, so the
// sum exceeds the time covered by ranges.
func rangeRows(m *maker, table *Table) {
	r := m.ranges()
	all := func(yield func(int, int64) bool) {
		for s := range m.t.Spans.All() {
			if s.Kind == trace.Annotation && !m.t.Tracks[s.Track].OnDevice && !yield(r.span(s, false), s.Dur) {
				return
			}
		}
		for i := range m.t.Async {
			if s := &m.t.Async[i]; s.Kind == trace.Annotation && !yield(r.span(s, true), s.Dur) {
				return
			}
		}
		if !m.t.Meta.NVTXOps {
			return
		}
		for o := range m.t.Ops.All() {
			if !yield(r.op(o), o.Dur) {
				return
			}
		}
	}
	m.timed(table, all, func(g int) []string { return []string{r.style(g), r.text(g)} })
}
