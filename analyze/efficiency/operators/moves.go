package operators

import (
	"strings"

	"assay/internal/lazyregexp"
)

// moves has operators that copy or fill memory.
var moves = []Model{
	{
		space: "aten::", words: "copy_", Library: "PyTorch", Unit: None, kernel: true,
		Args: "destination, source, and whether it is a copy from or to the host", FLOPs: "0", Bytes: "|source| + ∏destination·w; over the host link once", formula: copies,
	},
	{
		space: "aten::", words: "fill_", Library: "PyTorch", Unit: None,
		Args: "x", FLOPs: "0", Bytes: "∏x·w", formula: filling,
	},
	{
		space: "aten::", words: "zero_ normal_ uniform_ random_ bernoulli_ exponential_", Library: "PyTorch", Unit: None, own: true,
		Args: "x", FLOPs: "0", Bytes: "∏x·w", formula: filling,
	},
	{
		space: "aten::", words: "tril triu", Library: "PyTorch", Unit: None, inPlace: true, own: true,
		Args: "x", FLOPs: "0", Bytes: "|x| + ∏x·w", formula: simple{moved: []int{0}, result: []int{0}}.work,
	},
	{
		space: "aten::", words: "cat", Library: "PyTorch", Unit: None, kernel: true,
		Args: "tensors, and the width in the kernel's name", FLOPs: "0", Bytes: "2∑∏tensor·w", formula: concatenation,
	},
	{
		space: "aten::", words: "arange", Library: "PyTorch", Unit: None, Values: true, own: true,
		Args: "start, end, step, out", FLOPs: "0", Bytes: "⌈(end − start)/step⌉·w", formula: arange,
	},
	{
		space: "aten::", words: "_local_scalar_dense", Library: "PyTorch", Unit: None, own: true,
		Args: "x", FLOPs: "0", Bytes: "w", formula: scalarCopy,
	},
}

// IsHostCopy reports whether a copy has host memory on one side. It moves its bytes over
// the host link once.
func IsHostCopy(kernel string) bool {
	rest, ok := strings.CutPrefix(kernel, "Memcpy ")
	if !ok {
		return false
	}
	for _, way := range []string{"HtoD", "DtoH", "HostToDevice", "DeviceToHost"} {
		if strings.HasPrefix(rest, way) {
			return true
		}
	}
	return false
}

func copies(o *operands) Work {
	written, read := o.mul(o.n(0), o.width(0)), int64(0)
	if !IsHostCopy(o.Kernel) {
		read = o.size(1)
		o.arg(1)
	}
	return work(o.typeOf(0), noFLOPs, o.count(o.add(written, read)))
}

func filling(o *operands) Work {
	return work(o.typeOf(0), noFLOPs, o.count(o.mul(o.n(0), o.width(0))))
}

func scalarCopy(o *operands) Work {
	if o.n(0) != 1 {
		o.fail(BadArguments)
	}
	return work(o.typeOf(0), noFLOPs, o.count(o.width(0)))
}

// The kernels of concatenations have the width of an element, or its type, in their
// names.
var (
	opaqueType = lazyregexp.New(`OpaqueType<(\d+)`)
	copiedType = lazyregexp.New(`CatArrayBatchedCopy\w*<([a-zA-Z0-9_: ]+),`)
)

func concatenation(o *operands) Work {
	var width int64
	if m := opaqueType().FindStringSubmatch(o.Kernel); m != nil && len(m[1]) <= 2 {
		for _, digit := range m[1] {
			width = width*10 + int64(digit-'0')
		}
	} else if m := copiedType().FindStringSubmatch(o.Kernel); m != nil {
		width = dtypes[m[1]].width
	}
	n := o.listed(0)
	if width == 0 || n == 0 {
		o.fail(TypeOfList)
	}
	w := work("", noFLOPs, o.count(o.mul(2, n, width)))
	return w
}

// listed returns the number of elements of all tensors of a list. Long lists are recorded
// as empty.
func (o *operands) listed(i int) int64 {
	var sum int64
	for _, dims := range o.arg(i).List {
		sum = o.add(sum, o.mul(dims...))
	}
	return sum
}

func arange(o *operands) Work {
	if len(o.Args) != 4 || !o.typed(3) {
		o.fail(BadArguments)
		return work("", noFLOPs, o.count(0))
	}
	start, end, step := o.whole(0), o.whole(1), o.whole(2)
	if step <= 0 || end < start || end-start > largest || end-start < 0 {
		o.fail(BadArguments)
		step, start, end = 1, 0, 0
	}
	return work(o.typeOf(3), noFLOPs, o.count(o.mul((end-start+step-1)/step, o.width(3))))
}

// indexings has operators that read or write at positions in a tensor: the rows that they
// touch count, not the whole table.
var indexings = []Model{
	{
		space: "aten::", words: "embedding", Library: "PyTorch", Unit: None, own: true,
		Args: "table[V,…], indices", FLOPs: "0", Bytes: "|indices| + 2∏out·w", formula: gathering{index: 1, axis: leading}.work,
	},
	{
		space: "aten::", words: "index_select", Library: "PyTorch", Unit: None, Values: true,
		Args: "x, dim 1, indices", FLOPs: "0", Bytes: "|indices| + 2∏out·w", formula: gathering{index: 2, axis: byValue}.work,
	},
	{
		space: "aten::", words: "gather", Library: "PyTorch", Unit: None,
		Args: "x, dim, indices", FLOPs: "0", Bytes: "|indices| + 2∏indices·w", formula: gathering{index: 2, axis: elementwise}.work,
	},
	{
		space: "aten::", words: "scatter_add scatter_add_ index_add index_add_", Library: "PyTorch", Unit: Vector, own: true,
		Args: "x, dim, indices, source 3", FLOPs: "∏source", Bytes: "unknown; in place between |indices| + |source|, if all indices are equal, and 2∏source·w more", formula: scatterAdd,
	},
	{
		space: "aten::", words: "scatter_", Library: "PyTorch", Unit: None, own: true,
		Args: "x, dim, indices, source 3", FLOPs: "0", Bytes: "|indices| + |source| + ∏source·w", formula: scatter,
	},
	{
		space: "aten::", words: "index_copy_", Library: "PyTorch", Unit: None, own: true,
		Args: "x, dim, indices, source 3", FLOPs: "0", Bytes: "|indices| + |source| + ∏source·w",
		formula: simple{of: 3, moved: []int{2, 3}, result: []int{3}}.work,
	},
	{
		space: "aten::", words: "embedding_dense_backward", Library: "PyTorch", Unit: Vector, own: true,
		Args: "g, indices", FLOPs: "∏g", Bytes: "unknown: which rows are written is in a tensor", formula: embeddingBackward,
	},
	{
		space: "aten::", words: "index index_put_ _index_put_impl_ index_put _unsafe_index masked_select nonzero", Library: "PyTorch", Unit: None, own: true,
		Args: "the dimensions of indices are not recorded", FLOPs: "0", Bytes: "unknown", formula: lostIndices,
	},
}

// The ways in which a gathering finds its rows.
const (
	leading     = iota // along the first dimension
	byValue            // along the dimension that an argument gives
	elementwise        // an index for each element
)

// A gathering reads rows of its first argument at the indices of another.
type gathering struct {
	index int
	axis  int
}

func (g gathering) work(o *operands) Work {
	n := o.n(g.index)
	dims := o.arg(0).Dims
	axis := int64(0)
	if g.axis == byValue && len(dims) != 1 {
		axis = o.whole(1)
	}
	if axis < 0 {
		axis += int64(len(dims))
	}
	switch {
	case axis < 0 || axis >= int64(len(dims)):
		o.fail(BadArguments)
	case g.axis != elementwise:
		for i, d := range dims {
			if int64(i) != axis {
				n = o.mul(n, d)
			}
		}
	}
	return work(o.typeOf(0), o.count(0), o.count(o.add(o.size(g.index), o.mul(2, n, o.width(0)))))
}

func scatterAdd(o *operands) Work {
	w := work(o.typeOf(0), o.count(o.n(3)), unknown(Routing))
	if strings.HasSuffix(o.Op, "_") {
		read := o.size(2, 3)
		w.Bytes = o.between(read, o.add(read, o.mul(2, o.n(3), o.width(0))), Routing)
	}
	return w
}

func scatter(o *operands) Work {
	if !o.has(3) { // a number is written
		n := o.n(2)
		return work(o.typeOf(0), noFLOPs, o.count(o.add(o.size(2), o.mul(n, o.width(0)))))
	}
	return work(o.typeOf(0), noFLOPs, o.count(o.add(o.size(2, 3), o.mul(min(o.n(2), o.n(3)), o.width(0)))))
}

func embeddingBackward(o *operands) Work {
	return work(o.typeOf(0), o.count(o.n(0)), unknown(Routing))
}

func lostIndices(o *operands) Work {
	return work(o.typeOf(0), noFLOPs, unknown(TypeOfList))
}
