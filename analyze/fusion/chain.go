package fusion

import (
	"slices"
	"strings"

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

	multiplies bool // a product, a convolution or attention
	product    bool // of these, no attention
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
	t := &tensors{in: append(call.Tensors(), listed(&call)...), reduces: reductions[l.Name], copies: copying[l.Name]}
	t.unrecorded = l.Dims == ""
	f.parsed[key] = t
	if len(t.in) == 0 {
		return t
	}
	t.known = true
	switch {
	case t.reduces:
	case l.Name == "aten::cat":
		for _, x := range t.in {
			t.out.Elements, t.out.Bytes = summary.Plus(t.out.Elements, x.Elements), summary.Plus(t.out.Bytes, x.Bytes)
		}
	case f.multiplies(l.Name):
		t.multiplies, t.product = true, !strings.Contains(l.Name, "attention")
		t.out.Elements, t.out.Type = product(&call), t.in[0].Type
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

// listed returns the tensors of lists, whose type is not recorded.
func listed(call *operators.Call) (out []operators.Tensor) {
	for i := range call.Args {
		for _, dims := range call.Args[i].List {
			one := operators.Call{Args: []operators.Arg{{Dims: dims}}}
			out = append(out, one.Tensors()...)
		}
	}
	return out
}

// product returns the elements of the product of the last two matrices among the arguments, or 0. Attention writes as much as
// its queries.
func product(call *operators.Call) int64 {
	if strings.Contains(call.Op, "attention") {
		return call.Tensors()[0].Elements
	}
	var m [][]int64
	for i := range call.Args {
		if dims := call.Args[i].Dims; len(dims) > 1 {
			m = append(m, dims)
		}
	}
	if len(m) < 2 {
		return 0
	}
	a, b := m[len(m)-2], m[len(m)-1]
	n := b[len(b)-1]
	for _, d := range a[:len(a)-1] {
		n = summary.Times(max(0, n), max(0, d))
	}
	return n
}

// reads reports whether an operator can read the result of another one, see [tensors.operands]. Without shapes in the
// capture it can.
func (t *tensors) reads(from *tensors) bool {
	if !t.known || !from.known {
		return t.unrecorded && from.unrecorded
	}
	return t.operands(from) > 0
}

// operands returns how many inputs of an operator can be the result of another one: they have as many elements, and its
// type if it is known.
func (t *tensors) operands(from *tensors) (n int) {
	for _, x := range t.in {
		switch {
		case x.Type != "" && from.out.Type != "" && x.Type != from.out.Type:
		case from.reduces && x.Elements < from.in[0].Elements && from.in[0].Elements%x.Elements == 0, !from.reduces && x.Elements == from.out.Elements:
			n++
		}
	}
	return n
}

// A chain is operators in the order of a stream, each of which reads what the one before wrote.
type chain struct {
	list    []element
	results []result // the latest of the stream that no operator has read, oldest first
	calls   int      // of operators so far
	last    int32    // the last of them
	run     int      // the number of the first of the products that were the last operators; 0 if the last is none
}

// A result is what an operator wrote.
type result struct {
	*tensors
	at     int  // the number of its call
	sliced bool // an operator could read a slice of it
}

// maxAge is for how many operators a result counts as not read yet. It is more than those of attention in a layer.
const maxAge = 32

// waiting returns how many results that nobody has read an operator could read instead of a given one. Of products they
// may be slices, as of that for queries, keys and values.
func (c *chain) waiting(t, given *tensors) (n int) {
	for i := range c.results {
		r := &c.results[i]
		switch {
		case t.reads(r.tensors) && alike(r.tensors, given):
			n++
		case r.multiplies && r.out.Elements > given.out.Elements && given.out.Elements > 0 && r.out.Elements%given.out.Elements == 0 &&
			r.out.Type == given.out.Type:
			n, r.sliced = n+1, true
		}
	}
	return n
}

// alike reports whether two results could be the same input.
func alike(a, b *tensors) bool {
	return a.reduces || b.reduces || a.out.Elements == b.out.Elements && (a.out.Type == b.out.Type || a.out.Type == "" || b.out.Type == "")
}

// read takes a result from the list for each input of an operator that could be one, the oldest first: which does not
// matter for how many are left. Products in a row are taken to read one input, as those for queries, keys and values: one
// that reads the result of another leaves more than there are, which only hides chains. It adds the type of the operator's result if it is only known from what it reads.
func (c *chain) read(t *tensors) *tensors {
	if !t.known {
		return t
	}
	for _, x := range t.in {
		one := tensors{in: []operators.Tensor{x}, known: true}
		at := slices.IndexFunc(c.results, func(r result) bool {
			return one.reads(r.tensors) && (!t.product || c.run == 0 || r.at < c.run)
		})
		if at < 0 {
			continue
		}
		if from := c.results[at].out.Type; t.out.Type == "" && t.out.Elements > 0 && from != "" {
			typed := *t
			typed.out.Type = from
			t = &typed
		}
		c.results = slices.Delete(c.results, at, at+1)
	}
	return t
}

// write adds the result of an operator, once for each call. A product ends the use of slices of those before.
func (c *chain) write(call int32, t *tensors) {
	if c.calls > 0 && c.last == call {
		return
	}
	c.calls, c.last = c.calls+1, call
	switch {
	case !t.product:
		c.run = 0
	case c.run == 0:
		c.run = c.calls
	}
	c.results = slices.DeleteFunc(c.results, func(r result) bool { return c.calls-r.at > maxAge || t.multiplies && r.sliced })
	if t.known && (t.reduces || t.out.Elements > 0) {
		c.results = append(c.results, result{tensors: t, at: c.calls})
	}
}

// continues adds an operator to the chain, or reports that it does not continue it. It reads the last result for certain if
// that and all others of its size that nobody has read are no more than its inputs: each result is read by someone.
func (c *chain) continues(e *element) bool {
	n := len(c.list)
	if n == 0 || n == maxChain {
		return false
	}
	last := &c.list[n-1]
	if !e.reads(last.tensors) || e.apart(last) || e.known && c.waiting(e.tensors, last.tensors) > e.operands(last.tensors) {
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
