package attribute

import (
	"cmp"
	"slices"

	"assay/analyze/hosttree"
	"assay/analyze/launches"
	"assay/summary"
	"assay/trace"
)

// An opTable sums up the runs of each operator.
type opTable struct {
	t     *trace.Trace
	index []int32 // by name: an index of rows plus 1
	rows  []opRow
	last  []lastShape // by shape; nil if shapes are not asked for
}

// A lastShape is the row of a shape for the operator that had it last.
type lastShape struct {
	op  trace.Sym
	row *summary.OpShape
}

type opRow struct {
	name trace.Sym
	open int // runs that are open now: the inner ones do not count in totals
	summary.Op
	shapes map[shapeKey]*summary.OpShape
}

type shapeKey struct{ dims, types trace.Sym }

func newOpTable(t *trace.Trace, shapes bool) opTable {
	o := opTable{t: t, index: make([]int32, t.Names())}
	if shapes {
		o.last = make([]lastShape, 1)
	}
	return o
}

func (o *opTable) row(name trace.Sym) *opRow {
	if o.index[name] == 0 {
		o.rows = append(o.rows, opRow{name: name})
		o.index[name] = int32(len(o.rows))
	}
	return &o.rows[o.index[name]-1]
}

func (o *opTable) enter(f *hosttree.Frame, shape trace.ShapeID) {
	r := o.row(f.Name)
	r.open++
	if !o.t.Window.Starts(f.Start) {
		return
	}
	r.Count++
	if s := o.shape(r, shape); s != nil {
		s.Count++
	}
}

// launched counts what an operator launched as the innermost one.
func (o *opTable) launched(f *hosttree.Frame, k *launches.Link) {
	r := o.row(f.Name)
	r.Launched += int64(k.Work)
	r.GPUSelfNS = summary.Plus(r.GPUSelfNS, k.WorkNS)
}

func (o *opTable) leave(f *hosttree.Frame, d *open) {
	if r := o.suspend(f, d); r.open == 0 && o.t.Window.Starts(f.Start) {
		r.CPUTotalNS = summary.Plus(r.CPUTotalNS, f.End-f.Start)
	}
}

// suspend adds up what an operator did until now. It counts as one that is not open.
func (o *opTable) suspend(f *hosttree.Frame, d *open) *opRow {
	r := o.row(f.Name)
	if o.t.Window.Starts(f.Start) {
		r.CPUSelfNS = summary.Plus(r.CPUSelfNS, d.cpuSelf)
	}
	s := o.shape(r, d.shape)
	if s != nil {
		s.GPUSelfNS = summary.Plus(s.GPUSelfNS, d.gpuSelf)
	}
	if r.open--; r.open > 0 {
		return r
	}
	r.GPUTotalNS = summary.Plus(r.GPUTotalNS, d.gpu)
	if s != nil {
		s.GPUTotalNS = summary.Plus(s.GPUTotalNS, d.gpu)
	}
	return r
}

// shape returns the row of a shape, or nil if shapes were not recorded or are not asked for.
func (o *opTable) shape(r *opRow, id trace.ShapeID) *summary.OpShape {
	if o.last == nil {
		return nil
	}
	for int(id) >= len(o.last) {
		o.last = append(o.last, lastShape{})
	}
	last := &o.last[id]
	if last.row != nil && last.op == r.name {
		return last.row
	}
	s := o.t.Shape(id)
	if s.Dims == 0 {
		return nil
	}
	key := shapeKey{s.Dims, s.Types}
	row := r.shapes[key]
	if row == nil {
		if r.shapes == nil {
			r.shapes = make(map[shapeKey]*summary.OpShape)
		}
		row = &summary.OpShape{Dims: compact(o.t.Name(s.Dims)), Types: compact(o.t.Name(s.Types))}
		r.shapes[key] = row
	}
	*last = lastShape{r.name, row}
	return row
}

// compact writes a list as Kineto does, "[[32, 128], []]", however a tool that
// wrote the file again has broken it into lines.
func compact(list string) string {
	out := make([]byte, 0, len(list))
	quoted := false
	for i := 0; i < len(list); i++ {
		c := list[i]
		switch {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\' && i+1 < len(list):
			out = append(out, c)
			i++
			c = list[i]
		case quoted:
		case c == ' ' || c == '\n' || c == '\r' || c == '\t':
			continue
		case c == ',':
			out = append(out, ',')
			c = ' '
		}
		out = append(out, c)
	}
	return string(out)
}

// opRows returns the table.
func (o *opTable) opRows(rank int) []summary.Op {
	out := make([]summary.Op, 0, len(o.rows))
	for i := range o.rows {
		r := &o.rows[i]
		if r.Count == 0 && r.GPUTotalNS == 0 && r.Launched == 0 {
			continue // it only encloses what is in the window
		}
		r.Name, r.Rank, r.Shapes = o.t.Name(r.name), rank, int64(len(r.shapes))
		for _, s := range r.shapes {
			if s.GPUTotalNS > 0 {
				r.TopShapes = append(r.TopShapes, *s)
			}
		}
		slices.SortFunc(r.TopShapes, func(a, b summary.OpShape) int {
			return cmp.Or(cmp.Compare(b.GPUTotalNS, a.GPUTotalNS), cmp.Compare(a.Dims, b.Dims), cmp.Compare(a.Types, b.Types))
		})
		r.TopShapes = slices.Clone(r.TopShapes[:min(len(r.TopShapes), summary.MaxTopShapes)])
		out = append(out, r.Op)
	}
	return out
}

// A runTable sums up the runs of other things, by their name.
type runTable []*run

type run struct {
	open              int // runs that are open now
	count, cpuTotal   int64
	gpuSelf, gpuTotal int64
	backward          int64 // part of gpuTotal
}

func (t runTable) of(name trace.Sym) *run {
	if t[name] == nil {
		t[name] = new(run)
	}
	return t[name]
}

// empty reports whether all runs are outside the window, and what they launched.
func (r *run) empty() bool { return r.count == 0 && r.gpuTotal == 0 }

// enter notes that a run begins; one that begins before the window does not count.
func (r *run) enter(inWindow bool) {
	if inWindow {
		r.count++
	}
	r.open++
}

// leave notes that a run of ns ends.
func (r *run) leave(ns int64, inWindow bool) {
	if r.open--; r.open == 0 && inWindow {
		r.cpuTotal = summary.Plus(r.cpuTotal, ns)
	}
}

// A moduleTable sums up the calls of modules, by the context of each.
type moduleTable map[contextID]*run

func (t moduleTable) of(id contextID) *run {
	r := t[id]
	if r == nil {
		r = new(run)
		t[id] = r
	}
	return r
}

// join adds the rows of another table.
func (o *opTable) join(other *opTable) {
	for i := range other.rows {
		from := &other.rows[i]
		r := o.row(from.name)
		r.Count += from.Count
		r.CPUSelfNS, r.CPUTotalNS = summary.Plus(r.CPUSelfNS, from.CPUSelfNS), summary.Plus(r.CPUTotalNS, from.CPUTotalNS)
		r.GPUSelfNS, r.GPUTotalNS = summary.Plus(r.GPUSelfNS, from.GPUSelfNS), summary.Plus(r.GPUTotalNS, from.GPUTotalNS)
		r.Launched += from.Launched
		for key, s := range from.shapes {
			if r.shapes == nil {
				r.shapes = make(map[shapeKey]*summary.OpShape)
			}
			if have := r.shapes[key]; have != nil {
				have.Count += s.Count
				have.GPUSelfNS, have.GPUTotalNS = summary.Plus(have.GPUSelfNS, s.GPUSelfNS), summary.Plus(have.GPUTotalNS, s.GPUTotalNS)
				continue
			}
			r.shapes[key] = s
		}
	}
}

// join adds the runs of another table.
func (t runTable) join(other runTable) {
	for name, r := range other {
		if r != nil {
			t.of(trace.Sym(name)).add(r)
		}
	}
}

// add adds runs of which none is open.
func (r *run) add(other *run) {
	r.count += other.count
	r.cpuTotal = summary.Plus(r.cpuTotal, other.cpuTotal)
}
