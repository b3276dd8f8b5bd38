package operators

import "slices"

// packedGemms has products with weights of a few bits each, packed into words. Their
// inputs decide the peak: the weights are converted before they are multiplied.
var packedGemms = []Model{
	{
		space: "_C::", words: "awq_gemm", Library: "vLLM", Unit: Matrix, own: true,
		Args: "x[M,K], weight[K,N/8], scales[K/g,N], zeros", FLOPs: "2MNK", Bytes: "packed tensors + |x| + MN·w",
		formula: weightOnly{scales: 2, n: -1}.work,
	},
	{
		names: []string{"_C::gptq_gemm", "sgl_kernel::gptq_gemm"}, Library: "vLLM, SGLang", Unit: Matrix, own: true,
		Args: "x[M,K], weight[K/8,N], zeros, scales[K/g,N]", FLOPs: "2MNK", Bytes: "packed tensors + |x| + MN·w",
		formula: weightOnly{scales: 3, n: -1}.work,
	},
	{
		names:   []string{"_C::gptq_marlin_gemm", "_C::marlin_gemm", "_C::gptq_marlin_24_gemm", "_C::awq_marlin_gemm", "sgl_kernel::gptq_marlin_gemm"},
		Library: "vLLM, SGLang", Unit: Matrix, own: true, Values: true,
		Args: "x[M,K], …, size_m, size_n, size_k", FLOPs: "2MNK", Bytes: "packed tensors without workspace + |x| + MN·w", formula: marlin,
	},
	{
		space: "aten::", words: "_weight_int4pack_mm", Library: "PyTorch", Unit: Matrix, own: true,
		Args: "x[M,K], packed weight, group size, scales and zeros[K/g,N,2]", FLOPs: "2MNK", Bytes: "packed tensors + |x| + MN·w",
		formula: weightOnly{scales: 3, n: 1}.work,
	},
	{
		space: "aten::", words: "_weight_int8pack_mm", Library: "PyTorch", Unit: Matrix, own: true,
		Args: "x[M,K], weight[N,K], scales[N]", FLOPs: "2MNK", Bytes: "|x| + |weight| + |scales| + MN·w",
		formula: weightOnly{scales: 2, n: -1}.work,
	},
}

// A weightOnly is a product of x, the first argument, and packed weights. The number of
// columns is a dimension of the scales.
type weightOnly struct{ scales, n int }

func (p weightOnly) work(o *operands) Work {
	o.rank(0, 2)
	m, k, n := o.dim(0, 0), o.dim(0, 1), o.dim(p.scales, p.n)
	bytes := o.add(o.size(o.all()...), o.mul(m, n, o.width(0)))
	return work(o.typeOf(0), o.count(o.mul(2, m, n, k)), o.count(bytes)).weighing(o, o.all()[1:]...)
}

// marlin finds the sizes among the values: their position differs between versions, but
// they follow each other and the first and third are those of x. The workspace, which is
// the tensor before the numbers, is not counted.
func marlin(o *operands) Work {
	o.rank(0, 2)
	m, k := o.dim(0, 0), o.dim(0, 1)
	if !o.HasValues {
		o.fail(NoConcrete)
	}
	sizes := none
	for i := 3; i+2 < len(o.Args) && o.why == Known; i++ {
		if isWhole(o.Args[i].Value, m) && isWhole(o.Args[i+2].Value, k) && o.whole(i+1) > 0 {
			sizes = i
			break
		}
	}
	if sizes == none {
		o.fail(BadArguments)
		return work(o.typeOf(0), o.count(0), o.count(0))
	}
	n := o.whole(sizes + 1)
	workspace := none
	for i := sizes - 1; i > 0 && workspace == none; i-- {
		if o.has(i) {
			workspace = i
		}
	}
	packed := slices.DeleteFunc(o.all(), func(i int) bool { return i == 0 || i == workspace })
	bytes := o.add(o.mul(m, n, o.width(0)), o.size(0), o.size(packed...))
	return work(o.typeOf(0), o.count(o.mul(2, m, n, k)), o.count(bytes)).weighing(o, packed...)
}

// groupedGemms has products of groups of rows with a matrix each. Which groups have rows
// is in a tensor, so that bytes have bounds only.
var groupedGemms = []Model{
	{
		names: []string{
			"aten::_grouped_mm", "aten::_scaled_grouped_mm", "primus_turbo::grouped_gemm", "primus_turbo::grouped_gemm_impl",
			"primus_turbo_cpp_extension::grouped_gemm", "primus_turbo_cpp_extension::ck_grouped_gemm",
		},
		Library: "PyTorch, Primus-Turbo", Unit: Matrix, own: true,
		Args: "a[M,K], b[G,K,N] or [G,N,K]", FLOPs: "2MNK", Bytes: "|a| + MN·w + between one and all of the matrices of b", formula: groupedGemm,
	},
}

func groupedGemm(o *operands) Work {
	o.rank(0, 2)
	o.rank(1, 3)
	m, k := o.dim(0, 0), o.dim(0, 1)
	n := o.dim(1, 2)
	if o.dim(1, 1) != k {
		n = o.dim(1, 1)
		o.equal(k, o.dim(1, 2))
	}
	w := work(o.typeOf(0), o.count(o.mul(2, m, n, k, max(1, dtypes[o.typeOf(0)].packed))), unknown(Routing))
	if o.width(0) > 1 && m > 0 { // results of 8-bit types have another type
		moved := o.add(o.size(0), o.mul(m, n, o.width(0)))
		w.Bytes = o.between(o.add(moved, o.mul(k, n, o.width(1))), o.add(moved, o.size(1)), Routing)
	}
	if o.dim(1, 0) == 1 && o.width(0) > 1 {
		w = w.weighing(o, 1)
	}
	return w
}
