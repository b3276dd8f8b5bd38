package efficiency

import (
	"math/bits"
	"strconv"
	"strings"
)

// operands reads the arguments of one call for a formula. After the first argument that
// is not as the formula needs it, all results are 0 and why has the reason, so that
// formulas need no checks of their own.
type operands struct {
	*Call
	why  Reason
	over bool // a result is larger than an int64
}

// fail records why the formula cannot be applied.
func (a *operands) fail(why Reason) int64 {
	if a.why == Known {
		a.why = why
	}
	return 0
}

// arg returns an argument. It need not have dimensions.
func (a *operands) arg(i int) Arg {
	if i >= len(a.Args) {
		a.fail(BadArguments)
		return Arg{}
	}
	return a.Args[i]
}

// typed reports whether an argument is a tensor, with or without dimensions.
func (a *operands) typed(i int) bool {
	return i < len(a.Args) && dtypes[a.Args[i].Type].width > 0
}

// has reports whether an argument is a tensor with dimensions.
func (a *operands) has(i int) bool { return a.typed(i) && len(a.Args[i].Dims) > 0 }

// n returns the number of elements of a tensor.
func (a *operands) n(i int) int64 {
	if t := a.arg(i); t.List == nil {
		return a.mul(t.Dims...)
	}
	return a.fail(BadArguments)
}

// dim returns a dimension of a tensor, negative ones counted from the end.
func (a *operands) dim(i, at int) int64 {
	d := a.arg(i).Dims
	if at < 0 {
		at += len(d)
	}
	if at < 0 || at >= len(d) || d[at] < 0 {
		return a.fail(BadArguments)
	}
	return d[at]
}

// rank demands the number of dimensions of a tensor.
func (a *operands) rank(i, want int) {
	if len(a.arg(i).Dims) != want {
		a.fail(BadArguments)
	}
}

// equal demands that two sizes agree.
func (a *operands) equal(x, y int64) {
	if x != y {
		a.fail(BadArguments)
	}
}

// width returns the bytes of an element of a tensor.
func (a *operands) width(i int) int64 {
	if w := dtypes[a.arg(i).Type].width; w > 0 {
		return w
	}
	return a.fail(BadArguments)
}

// size returns the bytes that tensors occupy. An expanded dimension has stride 0 and is
// stored once. What is no tensor with dimensions has none.
func (a *operands) size(at ...int) int64 {
	var sum int64
	for _, i := range at {
		if !a.has(i) {
			continue
		}
		t, n := a.Args[i], a.width(i)
		for k, d := range t.Dims {
			if d == 0 || len(t.Strides) != len(t.Dims) || t.Strides[k] != 0 {
				n = a.mul(n, d)
			}
		}
		sum = a.add(sum, n)
	}
	return sum
}

// all returns the bytes of all tensors among the arguments.
func (a *operands) all() int64 {
	var sum int64
	for i := range a.Args {
		sum = a.add(sum, a.size(i))
	}
	return sum
}

// value returns the value of an argument as recorded.
func (a *operands) value(i int) string {
	if !a.HasValues {
		a.fail(NoConcrete)
		return ""
	}
	return a.arg(i).Value
}

// flag returns the value of a boolean argument.
func (a *operands) flag(i int) bool {
	switch a.value(i) {
	case "True", "true":
		return true
	case "False", "false":
		return false
	}
	a.fail(BadArguments)
	return false
}

// flags returns the values of a list of booleans.
func (a *operands) flags(i, want int) []bool {
	list := make([]bool, 0, want)
	for _, f := range split(a.value(i)) {
		list = append(list, f == "True" || f == "true")
	}
	if len(list) != want {
		a.fail(BadArguments)
		return make([]bool, want)
	}
	return list
}

// whole returns the value of an integer argument.
func (a *operands) whole(i int) int64 {
	n, err := strconv.ParseInt(a.value(i), 10, 64)
	if err != nil {
		return a.fail(BadArguments)
	}
	return n
}

// ints returns the values of a list of want integers. A single value stands for all.
func (a *operands) ints(i, want int) []int64 {
	list := a.list(i)
	if len(list) == 1 {
		for len(list) < want {
			list = append(list, list[0])
		}
	}
	if len(list) != want {
		a.fail(BadArguments)
		return make([]int64, want)
	}
	return list
}

// list returns the values of a list of integers, or of a single one. No value is an empty
// list.
func (a *operands) list(i int) []int64 {
	var list []int64
	for _, f := range split(a.value(i)) {
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			a.fail(BadArguments)
		}
		list = append(list, n)
	}
	return list
}

// split returns the fields of a list such as "[1, 1]".
func split(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("[](), ", r) })
}

// mul returns a product of numbers that are not negative.
func (a *operands) mul(xs ...int64) int64 {
	p := int64(1)
	for _, x := range xs {
		if x == 0 {
			return 0 // also if the others are too large
		}
		if x < 0 {
			return a.fail(BadArguments)
		}
	}
	for _, x := range xs {
		hi, lo := bits.Mul64(uint64(p), uint64(x))
		if hi != 0 || lo > 1<<63-1 {
			a.over = true
			return 0
		}
		p = int64(lo)
	}
	return p
}

// add returns a sum of numbers that are not negative.
func (a *operands) add(xs ...int64) int64 {
	var sum int64
	for _, x := range xs {
		if sum += x; sum < 0 || x < 0 {
			a.over = true
			return 0
		}
	}
	return sum
}
