package operators

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

// count returns a number as the result of a formula: unknown if the arguments read so far
// do not fit, or if it is too large.
func (o *operands) count(n int64) Count {
	switch {
	case o.why != Known:
		return unknown(o.why)
	case o.over:
		return unknown(TooLarge)
	}
	return Count{N: n}
}

// between returns a number between two ends, which is not known for the given reason, but if
// the ends are equal.
func (o *operands) between(least, most int64, why Reason) Count {
	switch end := o.count(most); {
	case end.Why != Known:
		return end
	case least == most:
		return end
	}
	return Count{Why: why, Min: least, Max: most}
}

// fail records why the formula cannot be applied.
func (o *operands) fail(why Reason) int64 {
	if o.why == Known {
		o.why = why
	}
	return 0
}

// arg returns an argument. It need not have dimensions.
func (o *operands) arg(i int) Arg {
	if i >= len(o.Args) {
		o.fail(BadArguments)
		return Arg{}
	}
	return o.Args[i]
}

// typed reports whether an argument is a tensor, with or without dimensions.
func (o *operands) typed(i int) bool {
	return i < len(o.Args) && dtypes[o.Args[i].Type].width > 0
}

// has reports whether an argument is a tensor with dimensions.
func (o *operands) has(i int) bool { return o.typed(i) && len(o.Args[i].Dims) > 0 }

// n returns the number of elements of a tensor. What has neither a type nor dimensions is
// none.
func (o *operands) n(i int) int64 {
	if t := o.arg(i); t.List == nil && (o.typed(i) || len(t.Dims) > 0) {
		return o.mul(t.Dims...)
	}
	return o.fail(BadArguments)
}

// dim returns a dimension of a tensor, negative ones counted from the end.
func (o *operands) dim(i, at int) int64 {
	d := o.arg(i).Dims
	if at < 0 {
		at += len(d)
	}
	if at < 0 || at >= len(d) || d[at] < 0 {
		return o.fail(BadArguments)
	}
	return d[at]
}

// rank demands the number of dimensions of a tensor.
func (o *operands) rank(i, want int) {
	if len(o.arg(i).Dims) != want {
		o.fail(BadArguments)
	}
}

// equal demands that two sizes agree.
func (o *operands) equal(x, y int64) {
	if x != y {
		o.fail(BadArguments)
	}
}

// width returns the bytes of an element of a tensor.
func (o *operands) width(i int) int64 {
	t := o.arg(i)
	if w := dtypes[t.Type].width; w > 0 {
		return w
	}
	return o.fail(untyped(t))
}

// untyped returns why the width of an argument's elements is not known.
func untyped(t Arg) Reason {
	if t.Type == "" && len(t.Dims) > 0 {
		return NoTypes
	}
	return BadArguments
}

// size returns the bytes that tensors occupy. An expanded dimension has stride 0 and is
// stored once, and so are elements that overlapping windows share. What is no tensor with
// dimensions has none.
func (o *operands) size(at ...int) int64 {
	var sum int64
	for _, i := range at {
		if !o.has(i) {
			if i < len(o.Args) && len(o.Args[i].Dims) > 0 { // a type without a known width
				o.fail(untyped(o.Args[i]))
			}
			continue
		}
		sum = o.add(sum, o.mul(o.stored(o.Args[i]), o.width(i)))
	}
	return sum
}

// stored returns the number of elements of a tensor that exist. There are no more than
// from its first element to its last one in memory.
func (o *operands) stored(t Arg) int64 {
	n, reach := int64(1), int64(1)
	for k, d := range t.Dims {
		switch {
		case d == 0:
			return 0
		case len(t.Strides) != len(t.Dims):
			n, reach = o.mul(n, d), 0
		case t.Strides[k] != 0:
			n = o.mul(n, d)
			if t.Strides[k] < 0 || t.Strides[k] > largest || d > largest || reach > largest { // no tensor of PyTorch
				reach = 0
			} else if reach > 0 {
				reach += o.mul(d-1, t.Strides[k])
			}
		}
	}
	if reach > 0 {
		return min(n, reach)
	}
	return n
}

// all returns the positions of all arguments.
func (o *operands) all() []int {
	at := make([]int, len(o.Args))
	for i := range at {
		at[i] = i
	}
	return at
}

// typeOf returns the type of an argument.
func (o *operands) typeOf(i int) string { return o.arg(i).Type }

// value returns the value of an argument as recorded.
func (o *operands) value(i int) string {
	if !o.HasValues {
		o.fail(NoConcrete)
		return ""
	}
	return o.arg(i).Value
}

// flag returns the value of a boolean argument.
func (o *operands) flag(i int) bool {
	switch o.value(i) {
	case "True", "true":
		return true
	case "False", "false":
		return false
	}
	o.fail(BadArguments)
	return false
}

// flags returns the values of a list of booleans, nil if the argument is none.
func (o *operands) flags(i int) []bool {
	var list []bool
	for _, f := range split(o.value(i)) {
		switch f {
		case "True", "true":
			list = append(list, true)
		case "False", "false":
			list = append(list, false)
		default:
			return nil
		}
	}
	return list
}

// base returns the name of the operator without its namespace.
func (o *operands) base() string { return o.Op[strings.LastIndexByte(o.Op, ':')+1:] }

// scalarWidth returns the bytes of the type that an argument has as its value, or those
// that it has if it is not given.
func (o *operands) scalarWidth(i int, absent int64) int64 {
	if i < len(o.Args) && !o.NoTypes && o.Args[i].Type == "" && o.Args[i].Value == "" { // None has no type, also in captures without values
		return absent
	}
	v := o.value(i)
	if v == "" || v == "None" {
		return absent
	}
	if t, ok := scalarTypes[v]; ok {
		return dtypes[t].width
	}
	return o.fail(BadArguments)
}

// whole returns the value of an integer argument.
func (o *operands) whole(i int) int64 {
	n, err := strconv.ParseInt(o.value(i), 10, 64)
	if err != nil {
		return o.fail(BadArguments)
	}
	return n
}

// ints returns the values of a list of want integers. A single value applies to all.
func (o *operands) ints(i, want int) []int64 {
	list := o.list(i)
	if len(list) == 1 {
		for len(list) < want {
			list = append(list, list[0])
		}
	}
	if len(list) != want {
		o.fail(BadArguments)
		return make([]int64, want)
	}
	return list
}

// list returns the values of a list of integers, or of a single one. No value is an empty
// list.
func (o *operands) list(i int) []int64 {
	var list []int64
	for _, f := range split(o.value(i)) {
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			o.fail(BadArguments)
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
func (o *operands) mul(xs ...int64) int64 {
	p := int64(1)
	for _, x := range xs {
		if x == 0 {
			return 0 // also if the others are too large
		}
		if x < 0 {
			return o.fail(BadArguments)
		}
	}
	for _, x := range xs {
		hi, lo := bits.Mul64(uint64(p), uint64(x))
		if hi != 0 || lo > 1<<63-1 {
			o.over = true
			return 0
		}
		p = int64(lo)
	}
	return p
}

// add returns a sum of numbers that are not negative.
func (o *operands) add(xs ...int64) int64 {
	var sum int64
	for _, x := range xs {
		if sum += x; sum < 0 || x < 0 {
			o.over = true
			return 0
		}
	}
	return sum
}

// isZero reports whether the capture says that a number is 0.
func (o *operands) isZero(i int) bool {
	if i >= len(o.Args) || o.Args[i].Type != "Scalar" {
		return false
	}
	n, err := strconv.ParseFloat(o.Args[i].Value, 64)
	return err == nil && n == 0
}

// isWhole reports whether a value is the given number.
func isWhole(value string, n int64) bool { return value == strconv.FormatInt(n, 10) }
