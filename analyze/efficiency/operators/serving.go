package operators

// quantizations has conversions to types of few bits, with their scales.
var quantizations = []Model{
	{
		names: []string{"_C::static_scaled_fp8_quant", "sgl_kernel::static_scaled_fp8_quant"}, Library: "vLLM, SGLang", Unit: Vector,
		Args: "out, x", FLOPs: "∏out", Bytes: "|x| + |out|", formula: simple{per: 1, moved: []int{0, 1}, typeOf: 1}.work,
	},
	{
		space: "_C::", words: "dynamic_scaled_fp8_quant dynamic_per_token_scaled_fp8_quant static_scaled_int8_quant dynamic_scaled_int8_quant",
		Library: "vLLM", Unit: Vector, own: true,
		Args: "out, x, scales", FLOPs: "∏out", Bytes: "all tensor arguments", formula: simple{per: 1, typeOf: 1}.work,
	},
	{
		space: "sgl_kernel::", words: "sgl_per_token_group_quant_fp8 sgl_per_token_group_quant_int8 sgl_per_tensor_quant_fp8 sgl_per_token_quant_fp8",
		Library: "SGLang", Unit: Vector, own: true,
		Args: "x, out, scales", FLOPs: "∏x", Bytes: "all tensor arguments", formula: simple{per: 1}.work,
	},
	{
		names: []string{"_C::scaled_fp4_quant", "sgl_kernel::scaled_fp4_quant"}, Library: "vLLM, SGLang", Unit: Vector, own: true,
		Args: "out, x, scales", FLOPs: "∏x", Bytes: "all tensor arguments", formula: simple{per: 1, of: 1, typeOf: 1}.work,
	},
	{
		names: []string{"_C::awq_dequantize", "sgl_kernel::awq_dequantize"}, Library: "vLLM, SGLang", Unit: Vector, own: true,
		Args: "weight[K,N/8], scales[K/g,N], zeros", FLOPs: "2KN", Bytes: "|weight| + |scales| + |zeros| + KN·w", formula: dequantization,
	},
}

func dequantization(o *operands) Work {
	o.rank(0, 2)
	n := o.mul(8, o.n(0))
	o.equal(o.mul(8, o.dim(0, 1)), o.dim(1, -1))
	return work(o.typeOf(1), o.count(o.mul(2, n)), o.count(o.add(o.size(0, 1, 2), o.mul(n, o.width(1)))))
}

// activations has activation functions and rotary embeddings of inference engines.
var activations = []Model{
	{
		names: []string{"_C::silu_and_mul", "sgl_kernel::silu_and_mul"}, Library: "vLLM, SGLang", Unit: Vector,
		Args: "out, x", FLOPs: "2∏out", Bytes: "|x| + |out|", formula: simple{per: 2, moved: []int{0, 1}, typeOf: 1}.work,
	},
	{
		names: []string{
			"_C::mul_and_silu", "_C::gelu_and_mul", "_C::gelu_tanh_and_mul", "_C::fatrelu_and_mul", "sgl_kernel::gelu_and_mul",
			"sgl_kernel::gelu_tanh_and_mul", "aiter::silu_and_mul", "aiter::gelu_and_mul",
		},
		Library: "vLLM, SGLang, AITER", Unit: Vector, own: true,
		Args: "out, x", FLOPs: "2∏out", Bytes: "|x| + |out|", formula: simple{per: 2, moved: []int{0, 1}, typeOf: 1}.work,
	},
	{
		space: "_C::", words: "silu_and_mul_quant", Library: "vLLM", Unit: Vector, own: true,
		Args: "out, x, scale", FLOPs: "3∏out", Bytes: "|x| + |out|", formula: simple{per: 3, moved: []int{0, 1}, typeOf: 1}.work,
	},
	{
		space: "_C::", words: "gelu_new gelu_fast gelu_quick", Library: "vLLM", Unit: Vector, own: true,
		Args: "out, x", FLOPs: "∏out", Bytes: "|x| + |out|", formula: simple{per: 1, moved: []int{0, 1}, typeOf: 1}.work,
	},
	{
		names: []string{"GeLUFunction"}, Library: "Megatron-LM", Unit: Vector, own: true,
		Args: "x, bias", FLOPs: "2∏x", Bytes: "|x| + |bias| + ∏x·w", formula: simple{per: 2, moved: []int{0, 1}, result: []int{0}}.work,
	},
	{
		names: []string{"LigerSiLUMulFunction"}, Library: "Liger Kernel", Unit: Vector, own: true,
		Args: "a, b", FLOPs: "2∏a", Bytes: "|a| + |b| + ∏a·w", formula: simple{per: 2, moved: []int{0, 1}, result: []int{0}}.work,
	},
	{
		names: []string{"_C::rotary_embedding", "sgl_kernel::rotary_embedding"}, Library: "vLLM, SGLang", Unit: Vector,
		Args: "positions, q, k, head size, cos and sin[max,rot]", FLOPs: "3(∏q + ∏k)", Bytes: "2(|q| + |k|) + |positions| + ∏positions·rot·w", formula: rotary,
	},
}

func rotary(o *operands) Work {
	flops := o.mul(3, o.add(o.n(1), o.keys(2)))
	cached := o.mul(o.n(0), o.dim(4, -1), o.width(4))
	return work(o.typeOf(1), o.count(flops), o.count(o.add(o.mul(2, o.size(1, 2)), o.size(0), cached)))
}

// keys returns the number of elements of an optional tensor.
func (o *operands) keys(i int) int64 {
	if !o.has(i) {
		return 0
	}
	return o.n(i)
}

// caches has writes into a cache of keys and values: the rows written count, not the
// cache.
var caches = []Model{
	{
		names: []string{"_C_cache_ops::reshape_and_cache_flash", "sglang::store_cache"}, Library: "vLLM, SGLang", Unit: None,
		Args: "k, v, k cache, v cache, slots", FLOPs: "0", Bytes: "|k| + |v| + |slots| + ∏k and ∏v at the width of the cache", formula: cacheWrite, cache: writesCache(2, 3),
	},
	{
		names: []string{"_C_cache_ops::reshape_and_cache", "sgl_kernel::store_kv_cache"}, Library: "vLLM, SGLang", Unit: None, own: true,
		Args: "k, v, k cache, v cache, slots", FLOPs: "0", Bytes: "|k| + |v| + |slots| + ∏k and ∏v at the width of the cache", formula: cacheWrite, cache: writesCache(2, 3),
	},
	{
		names: []string{"_C_cache_ops::concat_and_cache_mla"}, Library: "vLLM", Unit: None, own: true,
		Args: "c, k_pe, cache, slots", FLOPs: "0", Bytes: "|c| + |k_pe| + |slots| + ∏c and ∏k_pe at the width of the cache", formula: latentCacheWrite, cache: writesCache(2, 2),
	},
}

func cacheWrite(o *operands) Work {
	written := o.add(o.mul(o.n(0), o.width(2)), o.mul(o.n(1), o.width(3)))
	return work(o.typeOf(0), noFLOPs, o.count(o.add(o.size(0, 1, 4), written)))
}

func latentCacheWrite(o *operands) Work {
	written := o.mul(o.add(o.n(0), o.n(1)), o.width(2))
	return work(o.typeOf(0), noFLOPs, o.count(o.add(o.size(0, 1, 3), written)))
}

// writesCache returns the bytes of one token of the first two arguments at the widths of the
// caches.
func writesCache(first, second int) func(*operands) (CacheUse, int64) {
	return func(o *operands) (CacheUse, int64) {
		bytes := int64(0)
		for i, cache := range []int{first, second} {
			o.equal(o.dim(i, 0), o.dim(0, 0))
			bytes = o.add(bytes, o.mul(o.mul(o.arg(i).Dims[min(1, len(o.arg(i).Dims)):]...), o.width(cache)))
		}
		return WritesCache, bytes
	}
}
