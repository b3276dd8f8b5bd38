package layergen

import "slices"

// Models that differ from the others in one thing each.

const (
	sglRope  = "attention 3 sgl_kernel::apply_rope void flashinfer::BatchQKApplyRotaryPosIdsCosSinCacheEnhancedKernel<false, 128u, 8u, 16u, __nv_bfloat16, long>(flashinfer::Params)"
	latent   = "norm 2.5 _C::rms_norm void vllm::rms_norm_kernel<c10::BFloat16, 8, 2>(c10::BFloat16*, c10::BFloat16 const*, long, c10::BFloat16 const*, float, int, int)"
	absorbed = "attention 7 aten::bmm nvjet_tst_64x8_64x16_4x1_h_bz_NNT"
	splitKV  = `
attention 13 aten::mm nvjet_tst_128x8_64x12_4x1_v_bz_TNT
attention 3 _C::rotary_embedding void vllm::rotary_embedding_kernel<c10::BFloat16, true>(long const*, c10::BFloat16*, c10::BFloat16*)
attention 19 _vllm_fa2_C::varlen_fwd void flash::flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<128, 64, 128, 4, false, false, cutlass::bfloat16_t>, false, false, false, true>(flash::Flash_fwd_params)
attention 4 _vllm_fa2_C::varlen_fwd void flash::flash_fwd_splitkv_combine_kernel<Flash_fwd_kernel_traits<128, 64, 128, 4, false, false, cutlass::bfloat16_t>, 4, 3, true>(flash::Flash_fwd_params)
attention 8 aten::mm nvjet_tst_64x8_64x16_2x4_h_bz_TNT`
)

// Latent is a mixture of experts with latent attention, whose queries and keys have norms of their own; its first layers are dense.
func Latent(dense, n int) Program {
	attention := []string{vllmNorm, "attention 9 aten::mm nvjet_tst_128x8_64x12_4x1_v_bz_TNT", latent, latent,
		"attention 12 aten::mm nvjet_tst_256x8_64x6_2x1_v_bz_TNN", sglRope,
		"attention 2 _C_cache_ops::concat_and_cache_mla void vllm::concat_and_cache_mla_kernel<__nv_bfloat16, __nv_bfloat16, (vllm::Fp8KVCacheDataType)0>(__nv_bfloat16 const*)",
		absorbed,
		"attention 22 _flashmla_C::fwd_kvcache_mla void flash_fwd_splitkv_mla_kernel<Flash_fwd_kernel_traits_mla<576, 64, 64, 8, cutlass::bfloat16_t, 512>, true, flash::SharedStorageMLA>(Flash_fwd_mla_params)",
		"attention 4 _flashmla_C::fwd_kvcache_mla void flash_fwd_splitkv_mla_combine_kernel<cutlass::bfloat16_t, float, long, 512, 32>(Flash_fwd_mla_params)",
		absorbed, "attention 11 aten::mm nvjet_tst_64x8_64x16_2x4_h_bz_TNT", vllmNorm}
	first := Times(dense, layer("decoder", "DeepseekV2DecoderLayer", append(slices.Clone(attention), vllmMLP)...))
	return decode(embed, firstNorm(vllmFirstNorm, append(first, Times(n, layer("moe-layer", "DeepseekV2DecoderLayer", append(slices.Clone(attention), vllmMoE)...))...)), vllmNorm+sampling)
}

// Pruned is a model with split keys whose first layer casts what it rotated, and whose last one picks the last token of each sequence before its
// feed-forward network.
func Pruned(n int) Program {
	list := firstNorm(vllmFirstNorm, Times(n, layer("decoder", "LlamaDecoderLayer", vllmNorm, splitKV, vllmNorm, vllmMLP)))
	cast := "attention 2 aten::copy_ void at::native::unrolled_elementwise_kernel<at::native::bfloat16tofloat32_copy_kernel_cuda(at::TensorIteratorBase&), std::array<char*, 2ul>, 4>(int)"
	pick := "attention 2 aten::index void at::native::index_elementwise_kernel<128, 4, at::native::gpu_index_kernel<at::native::index_kernel_impl<at::native::OpaqueType<2> > > >(long)"
	first, last := &list[0], &list[n-1]
	first.Kernels = slices.Concat(first.Kernels[:3], lines(cast), first.Kernels[3:])
	last.Kernels = slices.Concat(last.Kernels[:6], lines(pick), last.Kernels[6:])
	return decode(embed, list, vllmNorm+sampling)
}

// TwoStreams computes keys and values, and one half of the feed-forward network, on a second stream.
func TwoStreams(n int) Program {
	l := layer("decoder", "LlamaDecoderLayer", vllmNorm, vllmAttention, vllmNorm, vllmMLP)
	l.Kernels = slices.Concat(l.Kernels[:1], lines("attention|2 6 aten::mm nvjet_tst_64x8_64x16_4x2_h_bz_TNT"), l.Kernels[1:7],
		lines("mlp|2 20 aten::mm nvjet_tst_192x8_64x8_2x1_v_bz_TNT"), l.Kernels[7:])
	return decode(embed, firstNorm(vllmFirstNorm, Times(n, l)), vllmNorm+sampling)
}

// Vision is an encoder of images and the decoder that reads its result, in one step.
func Vision(encoders, n int) Program {
	image := gptLayer()
	image.Kind, image.Module = "encoder", "VisionBlock"
	p := decode("other 8 aten::cudnn_convolution void cudnn::cnn::implicit_convolve_sgemm<float, float, 128, 5, 5, 3, 3, 3, 1, true, false, true>(int)",
		Times(encoders, image), layerNorm+"\nother 20 aten::addmm nvjet_tst_64x128_64x8_1x1_h_bz_bias_TNN")
	text := Llama(n)
	p.Passes[0].Layers = append(p.Passes[0].Layers, text.Passes[0].Layers...)
	p.Passes[0].After = text.Passes[0].After
	return p
}
