package operators

import "strings"

// recommenders has operators of FBGEMM, for models with embedding tables.
var recommenders = []Model{
	{
		names:   []string{"fbgemm::permute_pooled_embs_auto_grad", "fbgemm::permute_pooled_embs", "torch::autograd::CppNode<fbgemm_gpu::PermutePooledEmbs*"},
		Library: "FBGEMM", Unit: None, own: true,
		Args: "x, offsets and permutations", FLOPs: "0", Bytes: "all tensor arguments + ∏x·w", formula: simple{result: []int{0}}.work,
	},
	{
		names: []string{"fbgemm::recat_embedding_grad_output_mixed_D_batch"}, Library: "FBGEMM", Unit: None, own: true,
		Args: "g, dimensions", FLOPs: "0", Bytes: "all tensor arguments + ∏g·w", formula: simple{result: []int{0}}.work,
	},
	{
		names: []string{"fbgemm::FloatToFP8RowwiseQuantized"}, Library: "FBGEMM", Unit: Vector, own: true,
		Args: "x[…,C]", FLOPs: "∏x", Bytes: "|x| + rows·(C + 8): the scale of a row takes 8 bytes", formula: rowsToFP8,
	},
	{
		names: []string{"fbgemm::FP8RowwiseQuantizedToFloat"}, Library: "FBGEMM", Unit: Vector, own: true, kernel: true,
		Args: "x[…,C+8], and float in the kernel's name", FLOPs: "rows·C", Bytes: "|x| + 4·rows·C", formula: rowsFromFP8,
	},
	{
		names: []string{"fbgemm::FloatToHFP8Quantized"}, Library: "FBGEMM", Unit: Vector, own: true,
		Args: "x", FLOPs: "∏x", Bytes: "|x| + ∏x", formula: toHFP8,
	},
	{
		names: []string{"fbgemm::HFP8QuantizedToFloat"}, Library: "FBGEMM", Unit: Vector, own: true,
		Args: "x", FLOPs: "∏x", Bytes: "|x| + 4∏x", formula: fromHFP8,
	},
	{
		names: []string{"fbgemm::bounds_check_indices"}, Library: "FBGEMM", Unit: Vector, own: true,
		Args: "rows, indices, offsets", FLOPs: "∏indices", Bytes: "all tensor arguments; an index out of bounds is written, too",
		formula: simple{per: 1, of: 1, typeOf: 1}.work,
	},
	{
		names: []string{"fbgemm::asynchronous_complete_cumsum", "fb::asynchronous_complete_cumsum"}, Library: "FBGEMM", Unit: Vector, own: true,
		Args: "x[N]", FLOPs: "N", Bytes: "|x| + (N + 1)·w", formula: completeSum,
	},
	{
		space: "fbgemm::", words: "permute_sparse_features permute_sparse_data permute_1D_sparse_data permute_2D_sparse_data", Library: "FBGEMM", Unit: None, own: true,
		Args: "permutation, lengths[T,B], values", FLOPs: "0", Bytes: "unknown: how many values each row has is in a tensor", formula: permutedRows,
	},
	{
		names: []string{"fbgemm::split_embedding_codegen_lookup*", "torch::autograd::CppNode<SplitLookupFunction*"}, Library: "FBGEMM", Unit: None, own: true,
		Args: "which rows of which tables are read is in tensors", FLOPs: "unknown", Bytes: "unknown", never: Routing,
	},
}

func rowsToFP8(o *operands) Work {
	n, columns := o.n(0), o.dim(0, -1)
	rows := int64(0)
	if columns > 0 {
		rows = n / columns
	}
	return work(o.typeOf(0), o.count(n), o.count(o.add(o.size(0), n, o.mul(8, rows))))
}

func rowsFromFP8(o *operands) Work {
	n, columns := o.n(0), o.dim(0, -1)
	if columns <= 8 || !strings.Contains(o.Kernel, "_to_float_cuda_kernel<float>") {
		o.fail(BadArguments)
		return work("float", o.count(0), o.count(0))
	}
	values := n - o.mul(8, n/columns)
	return work("float", o.count(values), o.count(o.add(o.size(0), o.mul(4, values))))
}

func toHFP8(o *operands) Work {
	n := o.n(0)
	return work(o.typeOf(0), o.count(n), o.count(o.add(o.size(0), n)))
}

func fromHFP8(o *operands) Work {
	n := o.n(0)
	return work("float", o.count(n), o.count(o.add(o.size(0), o.mul(4, n))))
}

func completeSum(o *operands) Work {
	o.rank(0, 1)
	n := o.n(0)
	return work(o.typeOf(0), o.count(n), o.count(o.add(o.size(0), o.mul(n+1, o.width(0)))))
}

func permutedRows(o *operands) Work {
	o.n(0)
	return work(o.typeOf(2), noFLOPs, unknown(Routing))
}
