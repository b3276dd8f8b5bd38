package operators

// moes has mixtures of experts. How many experts get a token is in a tensor, so that
// bytes are known only if that number has one possible value.
var moes = []Model{
	{
		names: []string{
			"vllm::inplace_fused_experts", "vllm::outplace_fused_experts", "sglang::inplace_fused_experts", "sglang::outplace_fused_experts",
		},
		Library: "vLLM, SGLang", Unit: Matrix, own: true,
		Args: "x[T,H], w1[E,2I,H], w2[E,H,I], weights[T,k], ids[T,k]", FLOPs: "2Tk·(2IH + HI), whatever the routing",
		Bytes: "2|x| + e·(expert of w1 and w2); e, the experts that have tokens, is between k and min(E, Tk)", formula: fusedExperts,
	},
	{
		names: []string{
			"vllm::moe_forward", "vllm::moe_forward_shared", "vllm::rocm_aiter_fused_moe", "sglang::fused_moe", "aiter::fused_moe_",
			"aiter::ck_moe_stage1", "aiter::ck_moe_stage2", "aiter::fmoe", "aiter::fmoe_g1u1", "_moe_C::moe_wna16_marlin_gemm",
			"sgl_kernel::moe_wna16_marlin_gemm", "sgl_kernel::fp8_blockwise_scaled_grouped_mm", "_C::cutlass_moe_mm", "_C::cutlass_fp4_group_mm",
			"sgl_kernel::cutlass_fp4_group_mm",
		},
		Library: "vLLM, SGLang, AITER", Unit: Matrix, own: true,
		Args: "experts of tokens are in tensors", FLOPs: "unknown", Bytes: "unknown", never: Routing,
	},
	{
		names: []string{"_moe_C::topk_softmax"}, Library: "vLLM", Unit: Vector, own: true,
		Args: "weights, ids, token ids, gating[T,E]", FLOPs: "5TE", Bytes: "all tensor arguments", formula: simple{per: 5, of: 3, typeOf: 3}.work,
	},
	{
		names: []string{"sgl_kernel::topk_softmax"}, Library: "SGLang", Unit: Vector, own: true,
		Args: "weights, ids, gating[T,E]", FLOPs: "5TE", Bytes: "all tensor arguments", formula: simple{per: 5, of: 2, typeOf: 2}.work,
	},
	{
		names: []string{"_moe_C::moe_sum"}, Library: "vLLM", Unit: Vector, own: true,
		Args: "x[T,k,H], out[T,H]", FLOPs: "∏x", Bytes: "|x| + |out|", formula: simple{per: 1, moved: []int{0, 1}}.work,
	},
}

func fusedExperts(o *operands) Work {
	o.rank(0, 2)
	o.rank(1, 3)
	o.rank(2, 3)
	tokens, hidden := o.dim(0, 0), o.dim(0, 1)
	experts, wide, inner := o.dim(1, 0), o.dim(1, 1), o.dim(2, 2)
	o.equal(hidden, o.dim(1, 2)) // else the weights are packed
	o.equal(hidden, o.dim(2, 1))
	o.equal(experts, o.dim(2, 0))
	chosen := o.dim(3, -1)
	o.equal(tokens, o.dim(3, 0))
	weights := o.mul(o.add(wide, inner), hidden)
	bytes := func(hit int64) int64 { return o.add(o.mul(2, o.size(0)), o.mul(hit, weights, o.width(1))) }
	least, most := min(chosen, experts), min(experts, o.mul(tokens, chosen))
	if tokens == 0 {
		least = 0
	}
	w := work(o.typeOf(0), o.count(o.mul(2, tokens, chosen, weights)), o.between(bytes(least), bytes(most), Routing))
	w.Weights = unknown(Routing)
	if least == most {
		w.Weights = o.count(o.mul(least, weights, o.width(1)))
	}
	return w
}
