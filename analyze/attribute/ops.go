package attribute

import (
	"cmp"
	"slices"

	"assay/analyze/hosttree"
	"assay/analyze/launches"
	"assay/summary"
	"assay/trace"
)

// An opTable sums the runs of each operator.
type opTable struct {
	t     *trace.Trace
	index []int32 // by name: index into rows plus 1
	rows  []opRow
	last  []lastShape // by shape; nil without Options.Shapes
}

// A lastShape caches the row of a shape for the operator that used the shape last.
type lastShape struct {
	op  trace.Sym
	row *summary.OpShape
}

type opRow struct {
	name trace.Sym
	open int // runs that have not ended: nested runs do not count in totals
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

// launched counts the work of a launch for its innermost operator.
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

// suspend adds the times of an operator so far. The operator no longer counts as open.
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

// shape returns the row of a shape, or nil if the shape was not recorded or is not measured.
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

// compact formats a JSON list as Kineto does, "[[32, 128], []]". Tools that rewrite a trace
// may have broken it into lines.
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

// opRows returns the table, with the shapes that took the most GPU time.
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

// A runTable sums the runs of Python functions or of annotations, by name. Unused names are nil.
type runTable []*run

// A run has the sums of all runs of one name. Times are in ns.
type run struct {
	open              int // runs that have not ended
	count, cpuTotal   int64
	gpuSelf, gpuTotal int64
	backward          int64 // part of gpuTotal
}

func (t runTable) row(name trace.Sym) *run {
	if t[name] == nil {
		t[name] = new(run)
	}
	return t[name]
}

// empty reports whether all runs and all their work are outside the window.
func (r *run) empty() bool { return r.count == 0 && r.gpuTotal == 0 }

// enter opens a run. It counts only if it starts in the window.
func (r *run) enter(inWindow bool) {
	if inWindow {
		r.count++
	}
	r.open++
}

// leave closes a run that took ns.
func (r *run) leave(ns int64, inWindow bool) {
	if r.open--; r.open == 0 && inWindow {
		r.cpuTotal = summary.Plus(r.cpuTotal, ns)
	}
}

// A moduleTable sums the calls of modules by context.
type moduleTable map[contextID]*run

func (t moduleTable) row(id contextID) *run {
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
				have.GPUSelfNS, have.GPUTotalNS = summary.Plus(have.GPUSelfNS, s.GPUSelfNS),
					summary.Plus(have.GPUTotalNS, s.GPUTotalNS)
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
			t.row(trace.Sym(name)).add(r)
		}
	}
}

// add adds the runs of other, of which none is open. GPU times are not known yet: see addUp.
func (r *run) add(other *run) {
	r.count += other.count
	r.cpuTotal = summary.Plus(r.cpuTotal, other.cpuTotal)
}
