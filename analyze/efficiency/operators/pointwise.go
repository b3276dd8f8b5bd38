package operators

import "strings"

// pointwises has operators that compute each element of the result from the elements at
// its place. Names with an underscore at the end are the same in place.
var pointwises = []Model{
	{
		space: "aten::", words: "abs neg clamp_min clamp_max floor ceil round sign bitwise_not gelu silu leaky_relu hardtanh hardswish elu softplus",
		Library: "PyTorch", Unit: Vector, inPlace: true,
		Args: "x, out", FLOPs: "∏out", Bytes: "|x| + ∏out·w", formula: pointwise{inputs: 1, per: 1}.work,
	},
	{
		space: "aten::", words: "exp exp2 log log1p sqrt rsqrt reciprocal sigmoid tanh sin cos erf",
		Library: "PyTorch", Unit: Vector, inPlace: true,
		Args: "x, out", FLOPs: "∏out", Bytes: "|x| + ∏out·w, w = 4 for integers", formula: pointwise{inputs: 1, per: 1, result: floats}.work,
	},
	{
		space: "aten::", words: "logical_not isnan isinf", Library: "PyTorch", Unit: Vector, inPlace: true,
		Args: "x, out", FLOPs: "∏out", Bytes: "|x| + ∏out", formula: pointwise{inputs: 1, per: 1, result: truths}.work,
	},
	{
		space: "aten::", words: "clamp", Library: "PyTorch", Unit: Vector, inPlace: true,
		Args: "x, min, max, out", FLOPs: "∏out", Bytes: "|x| + |min| + |max| + ∏out·w", formula: pointwise{inputs: 3, per: 1}.work,
	},
	{
		space: "aten::", words: "add sub rsub mul maximum minimum pow bitwise_and bitwise_or",
		Library: "PyTorch", Unit: Vector, inPlace: true,
		Args: "x, y, …, out", FLOPs: "∏out", Bytes: "|x| + |y| + ∏out·w", formula: pointwise{inputs: 2, per: 1}.work,
	},
	{
		space: "aten::", words: "div", Library: "PyTorch", Unit: Vector, inPlace: true,
		Args: "x, y, rounding, out", FLOPs: "∏out", Bytes: "|x| + |y| + ∏out·w, w = 4 for integers; unknown for integers with a rounding mode",
		formula: pointwise{inputs: 2, per: 1, result: quotients}.work,
	},
	{
		space: "aten::", words: "eq ne lt le gt ge logical_and logical_or", Library: "PyTorch", Unit: Vector, inPlace: true,
		Args: "x, y, out", FLOPs: "∏out", Bytes: "|x| + |y| + ∏out", formula: pointwise{inputs: 2, per: 1, result: truths}.work,
	},
	{
		space: "aten::", words: "sigmoid_backward tanh_backward threshold_backward gelu_backward silu_backward",
		Library: "PyTorch", Unit: Vector,
		Args: "g, x or y, …, out", FLOPs: "∏out", Bytes: "|g| + |x| + ∏out·w", formula: pointwise{inputs: 2, per: 1}.work,
	},
	{
		space: "aten::", words: "where", Library: "PyTorch", Unit: Vector,
		Args: "condition, x, y, out", FLOPs: "0", Bytes: "|condition| + |x| + |y| + ∏out·w", formula: pointwise{inputs: 3}.work,
	},
	{
		space: "aten::", words: "addcmul addcdiv", Library: "PyTorch", Unit: Vector, inPlace: true,
		Args: "x, y, z, …, out", FLOPs: "3∏out", Bytes: "|x| + |y| + |z| + ∏out·w", formula: pointwise{inputs: 3, per: 3}.work,
	},
	{
		space: "aten::", words: "log2 log10 expm1 tan asin acos atan sinh cosh asinh acosh atanh erfc erfinv lgamma digamma logit",
		Library: "PyTorch", Unit: Vector, inPlace: true, own: true,
		Args: "x, …, out", FLOPs: "∏out", Bytes: "|x| + ∏out·w, w = 4 for integers", formula: pointwise{inputs: 1, per: 1, result: floats}.work,
	},
	{
		space: "aten::", words: "relu trunc frac sgn hardsigmoid mish nan_to_num hardshrink softshrink log_sigmoid_forward",
		Library: "PyTorch", Unit: Vector, inPlace: true, own: true,
		Args: "x, …, out", FLOPs: "∏out", Bytes: "|x| + ∏out·w", formula: pointwise{inputs: 1, per: 1}.work,
	},
	{
		space: "aten::", words: "fmod remainder hypot logaddexp fmax fmin floor_divide bitwise_xor bitwise_left_shift bitwise_right_shift _prelu_kernel",
		Library: "PyTorch", Unit: Vector, inPlace: true, own: true,
		Args: "x, y, out", FLOPs: "∏out", Bytes: "|x| + |y| + ∏out·w", formula: pointwise{inputs: 2, per: 1}.work,
	},
	{
		space: "aten::", words: "atan2 copysign xlogy", Library: "PyTorch", Unit: Vector, inPlace: true, own: true,
		Args: "x, y, out", FLOPs: "∏out", Bytes: "|x| + |y| + ∏out·w, w = 4 for integers", formula: pointwise{inputs: 2, per: 1, result: floats}.work,
	},
	{
		space: "aten::", words: "logical_xor", Library: "PyTorch", Unit: Vector, inPlace: true, own: true,
		Args: "x, y, out", FLOPs: "∏out", Bytes: "|x| + |y| + ∏out", formula: pointwise{inputs: 2, per: 1, result: truths}.work,
	},
	{
		space: "aten::", words: "lerp", Library: "PyTorch", Unit: Vector, inPlace: true, own: true,
		Args: "x, y, weight, out", FLOPs: "3∏out", Bytes: "|x| + |y| + |weight| + ∏out·w", formula: pointwise{inputs: 3, per: 3}.work,
	},
	{
		space: "aten::", words: "hardswish_backward hardsigmoid_backward leaky_relu_backward hardtanh_backward softplus_backward logit_backward mish_backward log_sigmoid_backward",
		Library: "PyTorch", Unit: Vector, own: true,
		Args: "g, x, …, out", FLOPs: "∏out", Bytes: "|g| + |x| + ∏out·w", formula: pointwise{inputs: 2, per: 1}.work,
	},
	{
		space: "aten::", words: "masked_fill_", Library: "PyTorch", Unit: Vector, own: true,
		Args: "x, mask", FLOPs: "0", Bytes: "2|x| + |mask|", formula: pointwise{inputs: 2}.work,
	},
	{
		space: "aten::", words: "native_dropout native_dropout_backward _fused_dropout", Library: "PyTorch", Unit: Vector, own: true,
		Args: "x", FLOPs: "∏x", Bytes: "|x| + ∏x·w", formula: simple{per: 1, moved: []int{0}, result: []int{0}}.work,
	},
}

// resultType says how the type of a result follows from those of the operands.
type resultType uint8

const (
	promoted  resultType = iota
	floats               // integers become float
	quotients            // the same, if the quotient is not rounded
	truths               // bool
)

// A pointwise has a number of inputs, which are the first arguments, and takes a number
// of FLOPs for each element of the result.
type pointwise struct {
	inputs int
	per    int64
	result resultType
}

func (p pointwise) work(o *operands) Work {
	at := make([]int, p.inputs)
	for i := range at {
		at[i] = i
	}
	var shape []int64
	var dtype string
	var number promotion
	inPlace := strings.HasSuffix(o.Op, "_")
	if inPlace {
		shape, dtype = o.arg(0).Dims, o.typeOf(0)
		o.n(0)
	} else {
		shape, dtype, number = o.broadcast(p.inputs)
	}
	n := o.mul(shape...)
	w := work(dtype, o.count(o.mul(p.per, n)), Count{})
	width := dtypes[dtype].width
	if why := p.hidden(o, dtype, number); !inPlace && why != Known {
		w.Bytes = unknown(why)
		return w
	}
	if !inPlace {
		width = p.width(o, dtype)
	}
	if width == 0 {
		o.fail(BadArguments)
		w.FLOPs, w.Model = unknown(o.why), unknown(o.why)
	}
	w.Bytes, w.BytesEstimated = o.count(o.add(o.size(at...), o.mul(n, width))), number == wrapped
	return w
}

// hidden returns why the type of a new result is not known, or Known. A tensor that the
// caller gives for the result decides.
func (p pointwise) hidden(o *operands, dtype string, number promotion) Reason {
	switch whole := dtypes[dtype].width > 0 && dtypes[dtype].category < floating; {
	case p.result == truths || o.given(p.inputs) != none:
		return Known
	case number == valueless && p.result == promoted:
		return NoConcrete
	case p.result == quotients && whole && len(o.Args) > 2 && o.Args[2].Value == "": // Kineto records no texts, such as "floor"
		return NoConcrete
	}
	return Known
}

// given returns the position of the tensor that the caller gives for the result, or none.
func (o *operands) given(inputs int) int {
	for i := len(o.Args) - 1; i >= inputs; i-- {
		if o.has(i) {
			return i
		}
	}
	return none
}

// width returns the bytes of an element of a new result. A tensor that the caller gives
// for it decides.
func (p pointwise) width(o *operands, dtype string) int64 {
	if i := o.given(p.inputs); i != none {
		return o.width(i)
	}
	t := dtypes[dtype]
	whole := t.width > 0 && t.category < floating
	switch {
	case p.result == truths && t.width > 0:
		return 1
	case whole && (p.result == floats || p.result == quotients && !rounded(o)):
		return 4
	}
	return t.width
}

// rounded reports whether a division rounds its result.
func rounded(o *operands) bool {
	return len(o.Args) > 2 && (strings.Contains(o.Args[2].Value, "floor") || strings.Contains(o.Args[2].Value, "trunc"))
}

// A promotion says what numbers did to the type of a result.
type promotion uint8

const (
	unlifted  promotion = iota // nothing
	lifted                     // a number with a point made integers float
	wrapped                    // so did a tensor of type double without dimensions, which most likely is a number
	widened                    // a whole number made bool int64
	valueless                  // a number may have changed it, but its value is not recorded
)

// broadcast returns the dimensions and the type of what results from the first
// arguments. The category of types decides first, then tensors with dimensions, then the
// width.
func (o *operands) broadcast(inputs int) (shape []int64, dtype string, number promotion) {
	best, sized := 0, boolean // sized is the category of the tensors with dimensions
	for i := range min(inputs, len(o.Args)) {
		if !o.typed(i) {
			continue
		}
		t, rank := dtypes[o.typeOf(i)], int(dtypes[o.typeOf(i)].category)<<8+int(dtypes[o.typeOf(i)].width)+1
		if o.has(i) {
			rank += 1 << 7
			sized = max(sized, t.category)
		}
		switch {
		case rank > best:
			best, dtype = rank, o.typeOf(i)
		case rank == best && dtype != o.typeOf(i) && t.category == floating && t.width == 2:
			dtype, best = "float", best+2 // neither type of 16 bits holds the values of the other
		}
		o.n(i)
		shape = o.spread(shape, o.Args[i].Dims)
	}
	if sized < floating && dtype == "double" && len(shape) > 0 && best < int(floating)<<8+1<<7 {
		return shape, "float", wrapped
	}
	if number = o.scalars(inputs, dtypes[dtype].category); number == lifted {
		dtype = "float"
	} else if number == widened {
		number, dtype = unlifted, "long int"
	}
	return shape, dtype, number
}

// scalars returns what the numbers among the first arguments do to a type.
func (o *operands) scalars(inputs int, of category) (number promotion) {
	if of == floating {
		return unlifted
	}
	for i := range min(inputs, len(o.Args)) {
		switch v := o.Args[i].Value; {
		case o.Args[i].Type != "Scalar":
		case v == "":
			return valueless
		case strings.ContainsAny(v, ".en"): // also inf and nan
			return lifted
		case of == boolean && v != "True" && v != "False":
			number = widened
		}
	}
	return number
}

// spread returns the dimensions of a result of operands with dimensions a and b.
func (o *operands) spread(a, b []int64) []int64 {
	if len(a) < len(b) {
		a, b = b, a
	}
	out := append([]int64(nil), a...)
	for i, n := range b {
		at := &out[len(a)-len(b)+i]
		if *at != n && *at != 1 && n != 1 {
			o.fail(BadArguments)
		}
		if *at == 1 {
			*at = n
		}
	}
	return out
}
