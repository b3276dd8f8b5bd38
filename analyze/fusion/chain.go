package fusion

import (
	"assay/analyze/efficiency"
	"assay/analyze/efficiency/operators"
	"assay/summary"
)

// A shape identifies the arguments of an operator.
type shape struct{ name, dims, types string }

// tensors are the sizes of what an operator reads and writes, as far as its arguments tell.
type tensors struct {
	in      []operators.Tensor
	out     operators.Tensor // zero if it is not known
	reduces bool             // the result is smaller than the input, by an unknown factor
	known   bool             // of the arguments, at least one is a tensor

	unrecorded bool // the capture has no shapes
	cast       bool // a copy to another type
	copies     bool
}

// reductions are the operators whose result is smaller than their input.
var reductions = map[string]bool{"aten::mean": true, "aten::sum": true, "aten::var": true, "aten::std": true, "aten::amax": true, "aten::amin": true,
	"aten::max": true, "aten::min": true, "aten::norm": true, "aten::linalg_vector_norm": true, "aten::prod": true, "aten::argmax": true}

// copying are the operators that only copy.
var copying = map[string]bool{"aten::copy_": true, "aten::_to_copy": true, "aten::to": true, "aten::clone": true, "aten::contiguous": true}

// tensorsOf returns the sizes of the arguments of an operator.
func (f *finder) tensorsOf(l *efficiency.Launcher) *tensors {
	key := shape{l.Name, l.Dims, l.Types}
	if t := f.parsed[key]; t != nil {
		return t
	}
	call := operators.ParseCall(l.Name, l.Dims, l.Types, "", "")
	t := &tensors{in: call.Tensors(), reduces: reductions[l.Name], copies: copying[l.Name]}
	t.unrecorded = l.Dims == ""
	f.parsed[key] = t
	if len(t.in) == 0 {
		return t
	}
	t.known = true
	switch {
	case t.reduces:
	case l.Name == "aten::copy_" && len(t.in) > 1:
		t.out, t.in = t.in[0], t.in[1:2]
		t.cast = t.out.Type != "" && t.in[0].Type != "" && t.out.Type != t.in[0].Type
	default: // broadcast: the result is as large as the largest
		for _, x := range t.in {
			if x.Elements > t.out.Elements {
				t.out = x
			}
		}
	}
	return t
}

// reads reports whether an operator can read the result of another one: one of its inputs has as many elements. Without
// shapes in the capture it can.
func (t *tensors) reads(from *tensors) bool {
	if !t.known || !from.known {
		return t.unrecorded && from.unrecorded
	}
	for _, x := range t.in {
		if x.Elements == from.out.Elements {
			return true
		}
		if from.reduces && x.Elements < from.in[0].Elements && from.in[0].Elements%x.Elements == 0 {
			return true
		}
	}
	return false
}

// A chain is operators in the order of a stream, each of which can read what the one before wrote.
type chain struct{ list []element }

// continues adds an operator to the chain, or reports that it does not continue it.
func (c *chain) continues(e *element) bool {
	n := len(c.list)
	if n == 0 {
		return false
	}
	last := &c.list[n-1]
	if last.Call == e.Call { // another kernel of the same call
		last.ns += e.ns
		return true
	}
	if n == maxChain || !e.reads(last.tensors) || e.apart(last) {
		return false
	}
	c.list = append(c.list, *e)
	return true
}

// apart reports whether two operators in a row certainly or probably work on different tensors: two copies without
// another type, or two normalizations.
func (e *element) apart(last *element) bool {
	return e.copies && last.copies && !e.cast && !last.cast || e.category == normalization && last.category == normalization
}

const normalization = "normalization"

// end adds the chain to the rows, and empties it.
func (f *finder) end(c *chain) {
	list := c.list
	c.list = c.list[:0]
	switch {
	case len(list) == 0:
	case len(list) == 1 || repeats(list):
		for i := range list {
			f.alone(list[i : i+1])
		}
	default:
		f.fuse(list)
	}
}

// repeats reports whether a chain is one operator repeated, usually on different tensors.
func repeats(list []element) bool {
	for i := range list {
		if list[i].Name != list[0].Name {
			return false
		}
	}
	return true
}

// fuse adds a chain. One kernel would not write and read the results in between: at the bandwidth of the memory, but not
// faster than the longest of the kernels. Without shapes, only the latter is known.
func (f *finder) fuse(list []element) {
	total, longest, saved, known := int64(0), int64(0), int64(0), f.HBMGBPS > 0
	for i := range list {
		total, longest = total+list[i].ns, max(longest, list[i].ns)
		if i == len(list)-1 {
			break
		}
		known = known && list[i].known && (list[i].reduces || list[i].out.Bytes > 0)
		saved = summary.Plus(saved, summary.Times(list[i].out.Bytes, 2))
	}
	most := total - longest
	if !known {
		f.add(summary.SavingFuse, list, total, nil, most, summary.GainAtMost)
		return
	}
	f.add(summary.SavingFuse, list, total, &saved, min(most, int64(float64(saved)/f.HBMGBPS)), summary.GainOfBytes)
}

// alone adds a copy that is in no chain.
func (f *finder) alone(list []element) {
	e := &list[0]
	if !e.copies || !e.known || e.in == nil {
		return
	}
	kind := summary.SavingLayout
	if e.cast {
		kind = summary.SavingCast
	}
	bytes := summary.Plus(e.in[0].Bytes, e.out.Bytes)
	f.add(kind, list, e.ns, &bytes, e.ns, summary.GainAtMost)
}
