package operators

// convolutions has convolutions of any number of dimensions.
var convolutions = []Model{
	{
		space: "aten::", words: "convolution", Library: "PyTorch", Unit: Matrix, Values: true,
		Args:  "x, weight, bias, stride 3, padding 4, dilation 5, transposed 6, output padding 7, groups 8",
		FLOPs: "2·∏out·∏weight[1:] (transposed: ∏x) + ∏out with a bias", Bytes: "|x| + |weight| + |bias| + ∏out·w", formula: convolution,
	},
	{
		space: "aten::", words: "convolution_backward", Library: "PyTorch", Unit: Matrix, Values: true,
		Args:  "g, x, weight, …, transposed 7, …, output mask 10 (dx, dw, db)",
		FLOPs: "(dx + dw)·2·∏g·∏weight[1:] (transposed: ∏x) + db·∏g", Bytes: "|g| + dw·|x| + dx·|weight| + written gradients", formula: convolutionBackward,
	},
}

func convolution(o *operands) Work {
	x, weight := o.arg(0).Dims, o.arg(1).Dims
	spatial := len(x) - 2
	if spatial < 1 || len(weight) != len(x) {
		o.fail(BadArguments)
		return work(o.typeOf(0), o.count(0), o.count(0))
	}
	stride, pad, dilation, extra := o.ints(3, spatial), o.ints(4, spatial), o.ints(5, spatial), o.ints(7, spatial)
	transposed, groups := o.flag(6), o.whole(8)
	out := []int64{x[0], weight[0]}
	if transposed {
		out[1] = o.mul(weight[1], groups)
	}
	for i := range spatial {
		out = append(out, extent(o, transposed, x[2+i], weight[2+i], stride[i], pad[i], dilation[i], extra[i]))
	}
	moving := out
	if transposed {
		moving = x
	}
	flops := o.mul(2, o.mul(moving...), o.mul(weight[1:]...))
	if o.has(2) {
		flops = o.add(flops, o.mul(out...))
	}
	return work(o.typeOf(0), o.count(flops), o.count(o.add(o.size(0, 1, 2), o.mul(o.mul(out...), o.width(0)))))
}

// largest is the largest size of a dimension for which the size of a result is computed.
const largest = 1 << 40

// extent returns the size of a dimension of the result of a convolution.
func extent(o *operands, transposed bool, x, kernel, stride, pad, dilation, extra int64) int64 {
	for _, n := range []int64{x, kernel, stride, pad, dilation, extra} {
		if n < 0 || n > largest {
			return o.fail(BadArguments)
		}
	}
	if stride == 0 || kernel == 0 {
		return o.fail(BadArguments)
	}
	reach := o.mul(dilation, kernel-1) + 1 - 2*pad
	n := (x - reach) / stride
	if transposed {
		n = o.mul(max(x-1, 0), stride) + reach + extra - 1
	}
	if !transposed && x < reach || n < 0 {
		return o.fail(BadArguments)
	}
	return n + 1
}

func convolutionBackward(o *operands) Work {
	mask := o.flags(10)
	if len(mask) != 3 {
		o.fail(BadArguments)
		return work(o.typeOf(1), o.count(0), o.count(0))
	}
	moving, weight := 0, o.arg(2).Dims
	if o.flag(7) {
		moving = 1
	}
	if len(weight) < 3 || len(o.arg(0).Dims) != len(weight) {
		o.fail(BadArguments)
		return work(o.typeOf(1), o.count(0), o.count(0))
	}
	one := o.mul(2, o.n(moving), o.mul(weight[1:]...))
	flops, bytes, written := int64(0), o.size(0), int64(0)
	if mask[0] {
		flops, bytes, written = o.add(flops, one), o.add(bytes, o.size(2)), o.add(written, o.n(1))
	}
	if mask[1] {
		flops, bytes, written = o.add(flops, one), o.add(bytes, o.size(1)), o.add(written, o.n(2))
	}
	if mask[2] {
		flops, written = o.add(flops, o.n(0)), o.add(written, o.dim(0, 1))
	}
	return work(o.typeOf(1), o.count(flops), o.count(o.add(bytes, o.mul(written, o.width(1)))))
}
