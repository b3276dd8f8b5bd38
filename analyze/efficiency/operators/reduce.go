package operators

// reductions has operators that combine the elements along dimensions.
var reductions = []Model{
	{
		space: "aten::", words: "sum mean", Library: "PyTorch", Unit: Vector, Values: true,
		Args: "x, dims 1, keepdim, dtype 3", FLOPs: "∏x", Bytes: "|x| + ∏kept·w, w = 8 for integers (sum) or of dtype",
		formula: reduction{per: 1, axes: 1, result: likeSum, dtype: 3}.work,
	},
	{
		space: "aten::", words: "prod", Library: "PyTorch", Unit: Vector, Values: true,
		Args: "x, dim 1", FLOPs: "∏x", Bytes: "|x| + ∏kept·w, w = 8 for integers", formula: reduction{per: 1, axes: 1, result: likeSum, dtype: 3}.work,
	},
	{
		space: "aten::", words: "amax amin var std logsumexp", Library: "PyTorch", Unit: Vector, Values: true,
		Args: "x, dims 1", FLOPs: "∏x", Bytes: "|x| + ∏kept·w", formula: reduction{per: 1, axes: 1}.work,
	},
	{
		space: "aten::", words: "max min", Library: "PyTorch", Unit: Vector, Values: true,
		Args: "x, dim 1", FLOPs: "∏x", Bytes: "|x| + ∏kept·(w + 8 with a dim, for the index)", formula: reduction{per: 1, axes: 1, result: withIndex}.work,
	},
	{
		space: "aten::", words: "argmax argmin", Library: "PyTorch", Unit: Vector, Values: true,
		Args: "x, dim 1", FLOPs: "∏x", Bytes: "|x| + 8∏kept", formula: reduction{per: 1, axes: 1, result: indexOnly}.work,
	},
	{
		space: "aten::", words: "any all", Library: "PyTorch", Unit: Vector, Values: true,
		Args: "x, dims 1", FLOPs: "0", Bytes: "|x| + ∏kept", formula: reduction{axes: 1, result: truth}.work,
	},
	{
		space: "aten::", words: "norm linalg_vector_norm", Library: "PyTorch", Unit: Vector, Values: true,
		Args: "x, order, dims 2, keepdim, dtype 4", FLOPs: "∏x", Bytes: "|x| + ∏kept·w, w of dtype", formula: reduction{per: 1, axes: 2, dtype: 4}.work,
	},
	{
		space: "aten::", words: "cumsum cumprod", Library: "PyTorch", Unit: Vector,
		Args: "x, dim, dtype 2", FLOPs: "∏x", Bytes: "|x| + ∏x·w, w = 8 for integers or of dtype", formula: reduction{per: 1, axes: none, result: likeSum, dtype: 2}.work,
	},
}

// A reduced says of which type the result of a reduction is.
type reduced uint8

const (
	same      reduced = iota
	likeSum           // integers become int64, except in mean
	withIndex         // with an index for each value if there is a dimension
	indexOnly
	truth
)

// A reduction says where the dimensions are that it removes; none: it keeps all.
type reduction struct {
	per    int64
	axes   int
	result reduced
	dtype  int // of the argument that is the type of the result; without dims it is at axes. 0: no argument
}

func (r reduction) work(o *operands) Work {
	if r.result == withIndex && len(o.Args) == 2 && o.typed(1) { // max(x, y) is no reduction
		o.fail(BadArguments)
	}
	w := work(o.typeOf(0), o.count(o.mul(r.per, o.n(0))), Count{})
	width := r.width(o)
	kept := o.n(0)
	if r.axes != none {
		kept = r.kept(o)
	}
	w.Bytes = o.count(o.add(o.size(0), o.mul(kept, width)))
	return w
}

// kept returns the number of elements of the result.
func (r reduction) kept(o *operands) int64 {
	if r.whole(o) {
		return 1
	}
	dims := o.arg(0).Dims
	axes := o.axes(r.axes)
	if len(axes) == 0 {
		return 1
	}
	removed := make([]bool, len(dims))
	for _, a := range axes {
		if a < 0 {
			a += int64(len(dims))
		}
		if a >= 0 && a < int64(len(dims)) {
			removed[a] = true
		}
	}
	n := int64(1)
	for i, d := range dims {
		if !removed[i] {
			n = o.mul(n, d)
		}
	}
	return n
}

// axes returns dimensions that an argument has as its value. What has none, or a bool as
// var has it, means all dimensions.
func (o *operands) axes(i int) []int64 {
	switch o.value(i) {
	case "True", "False", "None":
		return nil
	}
	return o.list(i)
}

// whole reports whether the form of the operator is that without dimensions. Its last
// argument may be the type of the result.
func (r reduction) whole(o *operands) bool {
	n := len(o.Args)
	if n > 1 && o.typed(n-1) { // the result
		n--
	}
	return n <= r.axes || r.dtype > 0 && n == r.axes+1
}

func (r reduction) width(o *operands) int64 {
	width := o.width(0)
	switch r.result {
	case same, likeSum:
		if n := len(o.Args); n > 1 && o.typed(n-1) { // the caller gives the result
			return o.width(n - 1)
		}
		if r.result == likeSum && dtypes[o.typeOf(0)].category < floating && o.base() != "mean" {
			width = 8
		}
		at := r.dtype
		if r.axes != none && r.whole(o) {
			at = r.axes
		}
		if at > 0 && at < len(o.Args) {
			width = o.scalarWidth(at, width)
		}
	case withIndex:
		if len(o.Args) > 1 {
			width += 8
		}
	case indexOnly:
		width = 8
	case truth:
		width = 1
	}
	return width
}

// losses has the loss functions of PyTorch. Where they reduce, another operator does it.
var losses = []Model{
	{
		space: "aten::", words: "nll_loss_forward", Library: "PyTorch", Unit: Vector, Values: true, own: true,
		Args: "x[T,V], target[T], weight, reduction 3", FLOPs: "T", Bytes: "|target| + T·w + w, or |target| + 2T·w without reduction", formula: pickedLoss,
	},
	{
		space: "aten::", words: "nll_loss_backward", Library: "PyTorch", Unit: None, own: true,
		Args: "g, x[T,V], target[T]", FLOPs: "0", Bytes: "|target| + T·w; zeros are another operator", formula: pickedLossBackward,
	},
	{
		space: "aten::", words: "mse_loss", Library: "PyTorch", Unit: Vector, own: true,
		Args: "x, y", FLOPs: "2∏x", Bytes: "|x| + |y| + ∏x·w", formula: simple{per: 2, moved: []int{0, 1}, result: []int{0}}.work,
	},
	{
		space: "aten::", words: "mse_loss_backward", Library: "PyTorch", Unit: Vector, own: true,
		Args: "g, x, y", FLOPs: "3∏x", Bytes: "|g| + |x| + |y| + ∏x·w", formula: simple{per: 3, of: 1, moved: []int{0, 1, 2}, result: []int{1}, typeOf: 1}.work,
	},
	{
		names: []string{"LigerCrossEntropyFunction", "CrossEntropyFunction"}, Library: "Liger Kernel, Transformer Engine", Unit: Vector, own: true,
		Args: "logits[T,V], target[T]", FLOPs: "5TV", Bytes: "unknown: whether the gradient is written is not recorded", formula: fusedLoss,
	},
}

func pickedLoss(o *operands) Work {
	o.rank(0, 2)
	rows := o.dim(0, 0)
	o.equal(rows, o.n(1))
	w, results := work(o.typeOf(0), o.count(rows), Count{}), int64(1)
	if o.value(3) == "0" { // no reduction
		results = rows
	}
	w.Bytes = o.count(o.add(o.size(1), o.mul(o.add(rows, results), o.width(0))))
	return w
}

func pickedLossBackward(o *operands) Work {
	o.rank(1, 2)
	rows := o.dim(1, 0)
	o.equal(rows, o.n(2))
	return work(o.typeOf(1), noFLOPs, o.count(o.add(o.size(2), o.mul(rows, o.width(1)))))
}

func fusedLoss(o *operands) Work {
	return work(o.typeOf(0), o.count(o.mul(5, o.n(0))), unknown(NoConcrete))
}

// poolings has poolings over windows.
var poolings = []Model{
	{
		space: "aten::", words: "max_pool2d_with_indices", Library: "PyTorch", Unit: Vector, Values: true, own: true,
		Args: "x, kernel, stride, padding, dilation, ceil mode", FLOPs: "∏out·∏kernel", Bytes: "|x| + ∏out·(w + 8)", formula: maxPool,
	},
	{
		space: "aten::", words: "max_pool2d_with_indices_backward", Library: "PyTorch", Unit: Vector, own: true,
		Args: "g, x, …, indices 7", FLOPs: "∏g", Bytes: "|g| + |indices| + ∏x·w",
		formula: simple{per: 1, moved: []int{0, 7}, result: []int{1}}.work,
	},
}

func maxPool(o *operands) Work {
	x := o.arg(0).Dims
	if len(x) < 3 || o.value(5) != "False" {
		o.fail(BadArguments)
		return work(o.typeOf(0), o.count(0), o.count(0))
	}
	kernel, pad, dilation := o.ints(1, 2), o.ints(3, 2), o.ints(4, 2)
	stride := kernel // the default
	if len(o.list(2)) > 0 {
		stride = o.ints(2, 2)
	}
	n := o.mul(x[:len(x)-2]...)
	for i := range 2 {
		n = o.mul(n, extent(o, false, x[len(x)-2+i], kernel[i], stride[i], pad[i], dilation[i], 0))
	}
	return work(o.typeOf(0), o.count(o.mul(n, o.mul(kernel...))), o.count(o.add(o.size(0), o.mul(n, o.width(0)+8))))
}
