package compare

import (
	"cmp"
	"maps"
	"slices"

	"assay/summary"
)

// A shapes has the known inputs of one operator on one side.
type shapes struct {
	ns   int64 // GPU work that it launched
	dims map[string]bool
	part bool // some shapes are not in dims
}

// shape stores the inputs of an operator that launched work. Other operators do not affect the
// device.
func (f *facts) shape(o summary.Op) {
	if len(o.TopShapes) == 0 || o.GPUSelfNS <= 0 {
		return
	}
	s := f.shapes[o.Name]
	if s == nil {
		s = &shapes{dims: map[string]bool{}}
		f.shapes[o.Name] = s
	}
	s.ns += o.GPUSelfNS
	for _, t := range o.TopShapes {
		s.dims[t.Dims] = true
	}
	s.part = s.part || o.Shapes > int64(len(o.TopShapes))
}

// shapes lists the operators whose inputs differ, those with the most work first. For an operator
// with many shapes only the top ones are known, and their order is partly random, so it is listed
// only if the sides have none of these in common. A rolled-up side lacks the shapes of some ranks,
// so nothing is listed.
func (d *differ) shapes() []Shape {
	if rolled(d.base.runs) || rolled(d.new.runs) {
		return nil
	}
	var out []Shape
	for _, op := range slices.Sorted(maps.Keys(d.new.shapes)) {
		n, b := d.new.shapes[op], d.base.shapes[op]
		if b == nil {
			continue
		}
		s := Shape{Op: op, Base: missing(b.dims, n.dims), New: missing(n.dims, b.dims), NS: n.ns / d.new.n}
		same := len(s.Base) < len(b.dims)
		if len(s.Base) == 0 && len(s.New) == 0 || same && (b.part || n.part) {
			continue
		}
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b Shape) int { return cmp.Or(cmp.Compare(b.NS, a.NS), cmp.Compare(a.Op, b.Op)) })
	return out
}

// missing returns the elements of a that are not in b.
func missing(a, b map[string]bool) []string {
	out := []string{}
	for _, s := range slices.Sorted(maps.Keys(a)) {
		if !b[s] {
			out = append(out, s)
		}
	}
	return out
}
