package layergen

import "slices"

// The models of servers: one pass of a step each, by the names of the libraries that serve them.

const embed = "other 3 aten::embedding void at::native::(anonymous namespace)::indexSelectLargeIndex<c10::BFloat16, long, unsigned int, 2, 2, -2, true>(at::cuda::detail::TensorInfo<c10::BFloat16, unsigned int>)"

const sampling = `
other 60 aten::mm nvjet_tst_64x8_64x16_4x1_v_bz_TNT
other 9 aten::softmax void at::native::(anonymous namespace)::cunn_SoftMaxForward<8, float, float, float, at::native::(anonymous namespace)::SoftMaxForwardEpilogue>(float*, float const*, int)
other 12 vllm::sample void flashinfer::sampling::TopKTopPSamplingFromProbKernel<1024u, float>(float*)
other 4 aten::argmax void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::ArgMaxOps<float>, unsigned int, long, 4, 4> >(at::native::ReduceOp<float>)
other 2 aten::copy_ void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}, std::array<char*, 2ul>, 4>(int)`

const (
	vllmFirstNorm = "norm 4 _C::rms_norm void vllm::rms_norm_kernel<c10::BFloat16, 8, 2>(c10::BFloat16*, c10::BFloat16 const*, long, c10::BFloat16 const*, float, int, int)"
	vllmNorm      = "norm 4.5 _C::fused_add_rms_norm std::enable_if<((8)>(0))&&vllm::_typeConvert<c10::BFloat16>::exists, void>::type vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>(c10::BFloat16*, long, c10::BFloat16*, c10::BFloat16 const*, float, int, int)"
	vllmAttention = `
attention 14 aten::mm nvjet_tst_128x8_64x12_4x1_v_bz_TNT
attention 3 _C::rotary_embedding void vllm::rotary_embedding_kernel<c10::BFloat16, true>(long const*, c10::BFloat16*, c10::BFloat16*, c10::BFloat16 const*, int, long, long, long, int, int, int)
attention 2.5 _C::reshape_and_cache_flash void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16, __nv_bfloat16, (vllm::Fp8KVCacheDataType)0>(__nv_bfloat16 const*, __nv_bfloat16 const*, long const*)
attention 17 _vllm_fa3_C::fwd void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<flash::CollectiveMainloopFwdSm90<2, cute::tuple<cute::C<1> > > > > >(flash::Params)
attention 9 aten::mm nvjet_tst_64x8_64x16_2x4_h_bz_TNT`
	vllmMLP = `
mlp 42 aten::mm nvjet_tst_256x8_64x6_2x1_v_bz_TNT
mlp 4 _C::silu_and_mul void vllm::act_and_mul_kernel<c10::BFloat16, &(c10::BFloat16 vllm::silu_kernel<c10::BFloat16>(c10::BFloat16 const&)), true>(c10::BFloat16*, c10::BFloat16 const*, int)
mlp 25 aten::mm nvjet_tst_64x8_64x16_1x4_h_bz_splitK_TNT`
	vllmMoE = `
moe 5 aten::mm nvjet_tst_64x16_64x16_4x1_v_bz_NNT
moe 4 _moe_C::topk_softmax void vllm::moe::topkGating<8, 128, 4, 16, 32, int, float>(float const*, bool const*, float*, int, int*, int*, int, int, int, bool)
moe 5 _moe_C::moe_align_block_size void vllm::moe::moe_align_block_size_kernel<int>(int const*, int*, int*, int*, int, int, int, unsigned long, int*)
moe 88 vllm::moe_forward fused_moe_kernel
moe 6 _C::silu_and_mul void vllm::act_and_mul_kernel<c10::BFloat16, &(c10::BFloat16 vllm::silu_kernel<c10::BFloat16>(c10::BFloat16 const&)), true>(c10::BFloat16*, c10::BFloat16 const*, int)
moe 61 vllm::moe_forward fused_moe_kernel
moe 4 _moe_C::moe_sum void vllm::moe::moe_sum_kernel<c10::BFloat16, 8>(c10::BFloat16*, c10::BFloat16 const*, int)`
	customAllReduce = "communication 8 vllm::all_reduce void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(vllm::RankData*, vllm::RankSignals, vllm::Signal*, __nv_bfloat16*, int, int)"
	ncclAllReduce   = "communication/2 21 c10d::allreduce_ ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
	dispatch        = "communication 24 deep_ep::low_latency_dispatch void deep_ep::internode_ll::dispatch<true, false, 7168>(void*, void*, int*, long*)"
	combine         = "communication 31 deep_ep::low_latency_combine void deep_ep::internode_ll::combine<true, 7168, 9>(void*, void*, void*, int*)"
)

// decode makes a step of one forward pass.
func decode(before string, layers []Layer, after string) Program {
	return Program{Passes: []Pass{{Name: "forward", Before: lines(before), Layers: layers, After: lines(after)}}}
}

// firstNorm gives the first layer the norm without an addition.
func firstNorm(norm string, list []Layer) []Layer {
	first := list[0]
	first.Kernels = append(lines(norm), first.Kernels[1:]...)
	list[0] = first
	return list
}

// Llama is a dense model of n layers on vLLM.
func Llama(n int) Program {
	return decode(embed, firstNorm(vllmFirstNorm, Times(n, layer("decoder", "LlamaDecoderLayer", vllmNorm, vllmAttention, vllmNorm, vllmMLP))), vllmNorm+sampling)
}

// TensorParallel is Llama with two all-reduces in each layer: kernels of vLLM on the main stream, or NCCL's on a second.
func TensorParallel(n int, nccl bool) Program {
	reduce := customAllReduce
	if nccl {
		reduce = ncclAllReduce
	}
	l := layer("decoder", "LlamaDecoderLayer", vllmNorm, vllmAttention, reduce, vllmNorm, vllmMLP, reduce)
	return decode(embed+"\n"+reduce, firstNorm(vllmFirstNorm, Times(n, l)), vllmNorm+sampling)
}

// Mixture is a mixture of experts whose first layers are dense. A shared expert runs in addition to the others; experts
// may be on other ranks.
func Mixture(dense, n int, shared, parallel bool) Program {
	kernels := []string{vllmNorm, vllmAttention, vllmNorm}
	if shared {
		kernels = append(kernels, "moe 12 aten::mm nvjet_tst_128x8_64x12_2x1_v_bz_TNN",
			"moe 3 _C::silu_and_mul void vllm::act_and_mul_kernel<c10::BFloat16, &(c10::BFloat16 vllm::silu_kernel<c10::BFloat16>(c10::BFloat16 const&)), true>(c10::BFloat16*, c10::BFloat16 const*, int)",
			"moe 8 aten::mm nvjet_tst_64x8_64x16_2x1_h_bz_TNN")
	}
	if parallel {
		kernels = append(kernels, "moe 5 aten::mm nvjet_tst_64x16_64x16_4x1_v_bz_NNT",
			"moe 6 vllm::grouped_topk void vllm::moe::grouped_topk_fused_kernel<float, int>(float*, float*, int*, float const*, long, long)",
			dispatch,
			"moe 70 deep_gemm::m_grouped_fp8_gemm void deep_gemm::sm90_fp8_gemm_1d2d_impl<0u, 4096u, 7168u, 9u, 64u>(float*, int*)",
			"moe 7 vllm::silu_mul_quant _silu_mul_fp8_quant_deep_gemm",
			"moe 44 deep_gemm::m_grouped_fp8_gemm void deep_gemm::sm90_fp8_gemm_1d2d_impl<0u, 7168u, 2048u, 9u, 64u>(float*, int*)",
			combine)
	} else {
		kernels = append(kernels, vllmMoE)
	}
	first := Times(dense, layer("decoder", "DeepseekDecoderLayer", vllmNorm, vllmAttention, vllmNorm, vllmMLP))
	all := append(first, Times(n, layer("moe-layer", "DeepseekDecoderLayer", kernels...))...)
	return decode(embed, firstNorm(vllmFirstNorm, all), vllmNorm+sampling)
}

// SGLang is a dense model with the kernels of FlashInfer and sgl-kernel.
func SGLang(n int) Program {
	norm := "norm 3 sgl_kernel::fused_add_rmsnorm void flashinfer::norm::FusedAddRMSNormKernel<8u, __nv_bfloat16>(__nv_bfloat16*, __nv_bfloat16*, __nv_bfloat16*, unsigned int)"
	l := layer("decoder", "Qwen2DecoderLayer", norm, `
attention 11 aten::addmm nvjet_tst_128x8_64x12_2x4_v_bz_bias_TNT
attention 3 sgl_kernel::apply_rope void flashinfer::BatchQKApplyRotaryPosIdsCosSinCacheEnhancedKernel<false, 128u, 8u, 16u, __nv_bfloat16, long>(flashinfer::Params)
attention 1.5 sgl_kernel::store_cache void (anonymous namespace)::store_kvcache<2048l, 4, false, long>((anonymous namespace)::StoreKVCacheParams)
attention 21 flashinfer::decode void flashinfer::BatchDecodeWithPagedKVCacheKernel<(flashinfer::PosEncodingMode)0, 2u, 8u, 16u, 8u, 1u, flashinfer::DefaultAttention<false, false, false, false> >(flashinfer::Params)
attention 2 flashinfer::merge void flashinfer::PersistentVariableLengthMergeStatesKernel<8u, 16u, 8u, 4u, __nv_bfloat16, __nv_bfloat16, int>(float*)
attention 7 aten::mm nvjet_tst_64x8_64x16_4x2_h_bz_TNT`, norm, `
mlp 33 aten::mm nvjet_tst_192x8_64x8_2x1_v_bz_TNT
mlp 3 sgl_kernel::silu_and_mul void flashinfer::activation::act_and_mul_kernel<__nv_bfloat16, &silu>(__nv_bfloat16*, __nv_bfloat16 const*, int)
mlp 19 aten::mm nvjet_tst_64x8_64x16_1x2_h_bz_TNT`)
	return decode(embed, firstNorm("norm 3 sgl_kernel::rmsnorm void flashinfer::norm::RMSNormKernel<8u, __nv_bfloat16>(__nv_bfloat16*, __nv_bfloat16*, __nv_bfloat16*, unsigned int)", Times(n, l)), norm+sampling)
}

// TensorRT is a dense model with the kernels of TensorRT-LLM, in FP8.
func TensorRT(n int) Program {
	norm := "norm 4 trtllm::fused_rmsnorm void tensorrt_llm::kernels::generalRmsNorm<__nv_bfloat16, __nv_fp8_e4m3, false>(__nv_bfloat16 const*, __nv_bfloat16 const*, __nv_bfloat16 const*)"
	l := layer("decoder", "LlamaDecoderLayer", norm, `
attention 10 trtllm::fp8_gemm sm90_xmma_gemm_e4m3bf16_e4m3f32_f32_tn_n_tilesize64x64x128_warpgroupsize1x1x1_algo2_execute_segment_k_off_kernel__5x_cublas
attention 3 trtllm::rope void tensorrt_llm::kernels::applyBiasRopeUpdateKVCacheV2<__nv_bfloat16, __nv_fp8_e4m3, 128, tensorrt_llm::kernels::KVBlockArray>(tensorrt_llm::kernels::QKVPreprocessingParams)
attention 16 trtllm::attention fmhaSm90Kernel_QkvE4m3OBfloat16H128PagedKvDenseSwapsAbForGen
attention 8 trtllm::fp8_gemm sm90_xmma_gemm_e4m3bf16_e4m3f32_f32_tn_n_tilesize64x32x128_warpgroupsize1x1x1_algo2_execute_segment_k_off_kernel__5x_cublas`, norm, `
mlp 29 trtllm::fp8_gemm sm90_xmma_gemm_e4m3bf16_e4m3f32_f32_tn_n_tilesize128x64x128_warpgroupsize1x1x1_algo2_execute_segment_k_off_kernel__5x_cublas
mlp 3 trtllm::swiglu void tensorrt_llm::kernels::doActivationKernel<__nv_bfloat16, __nv_fp8_e4m3, tensorrt_llm::kernels::SwiGLU>(__nv_fp8_e4m3*, __nv_bfloat16 const*)
mlp 18 trtllm::fp8_gemm sm90_xmma_gemm_e4m3bf16_e4m3f32_f32_tn_n_tilesize64x128x128_warpgroupsize1x1x1_algo2_execute_segment_k_off_kernel__5x_cublas`)
	return decode(embed, Times(n, l), norm+sampling)
}

// ROCm is a dense model of vLLM with the kernels of hipBLASLt and AITER.
func ROCm(n int) Program {
	norm := "norm 5 aiter::add_rmsnorm _ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256ELi16ELb1ELb0ELb1ELi1EEEvPT0_PT_PfS4_S4_S4_diiiiiiib"
	l := layer("decoder", "LlamaDecoderLayer", norm, `
attention 17 aten::mm Cijk_Alik_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs_MT16x16x256_MI16x16x1_SN_LDSB1_AFC1
attention 4 _C::rotary_embedding void vllm::rotary_embedding_kernel<c10::BFloat16, true>(long const*, c10::BFloat16*, c10::BFloat16*)
attention 3 _C::reshape_and_cache void vllm::reshape_and_cache_kernel<__hip_bfloat16, __hip_bfloat16, (vllm::Fp8KVCacheDataType)0>(__hip_bfloat16 const*)
attention 22 _rocm_C::paged_attention void paged_attention_ll4mi_QKV_mfma16_kernel<0, __hip_bfloat16, __hip_bfloat16, (vllm::Fp8KVCacheDataType)0, 16, 128>(__hip_bfloat16 const*)
attention 4 _rocm_C::paged_attention void paged_attention_ll4mi_reduce_kernel<__hip_bfloat16, __hip_bfloat16, 128, 128, 256, 3, false>(__hip_bfloat16*)
attention 12 aten::mm Cijk_Alik_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs_MT32x16x256_MI16x16x1_SN_LDSB1_AFC1`, norm, `
mlp 52 aten::mm Cijk_Alik_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs_MT64x16x128_MI16x16x1_SN_LDSB0_AFC1
mlp 5 _C::silu_and_mul _ZN7sgl_hip10activation18act_and_mul_kernelI14__hip_bfloat16TnPFT_RKS3_EXadL_Z4siluIS2_ES3_S5_EEEEvPS3_PS4_i
mlp 30 aten::mm Cijk_Alik_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs_MT32x32x256_MI16x16x1_SN_LDSB0_AFC1`)
	return decode(embed, Times(n, l), norm+sampling)
}

// Hybrid has attention every sixth layer, and a state-space model in the others.
func Hybrid(n int) Program {
	mixer := `
attention 13 aten::mm nvjet_tst_128x64_64x8_2x1_v_bz_TNN
attention 4 causal_conv1d _causal_conv1d_update_kernel
attention 15 selective_state_update _selective_scan_update_kernel
attention 8 aten::mm nvjet_tst_64x64_64x8_2x1_h_bz_TNN`
	var all []Layer
	for i := range n {
		if i%6 == 5 {
			all = append(all, layer("attention-layer", "NemotronAttentionLayer", vllmNorm, vllmAttention, vllmNorm, vllmMLP))
		} else {
			all = append(all, layer("mamba-layer", "NemotronMambaLayer", vllmNorm, mixer, vllmNorm, vllmMLP))
		}
	}
	return decode(embed, firstNorm(vllmFirstNorm, all), vllmNorm+sampling)
}

// Sliding has a sliding window in most layers, and attention over all tokens every sixth: the same kernel with another
// template.
func Sliding(n int) Program {
	var all []Layer
	for i := range n {
		window := `
attention 12 aten::mm nvjet_tst_128x8_64x12_4x1_v_bz_TNT
attention 3 _C::rotary_embedding void vllm::rotary_embedding_kernel<c10::BFloat16, true>(long const*, c10::BFloat16*, c10::BFloat16*)
attention 9 _vllm_fa2_C::fwd void flash::flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<128, 64, 128, 4, false, false, cutlass::bfloat16_t>, false, true, false, false, true>(flash::Flash_fwd_params)
attention 7 aten::mm nvjet_tst_64x8_64x16_2x4_h_bz_TNT`
		kind := "sliding"
		if i%6 == 5 {
			kind = "full"
			window = `
attention 12 aten::mm nvjet_tst_128x8_64x12_4x1_v_bz_TNT
attention 3 _C::rotary_embedding void vllm::rotary_embedding_kernel<c10::BFloat16, true>(long const*, c10::BFloat16*, c10::BFloat16*)
attention 38 _vllm_fa2_C::fwd void flash::flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<128, 64, 128, 4, false, false, cutlass::bfloat16_t>, true, false, false, false, true>(flash::Flash_fwd_params)
attention 7 aten::mm nvjet_tst_64x8_64x16_2x4_h_bz_TNT`
		}
		all = append(all, layer(kind, "Gemma3DecoderLayer", vllmNorm, window, vllmNorm, vllmMLP))
	}
	return decode(embed, firstNorm(vllmFirstNorm, all), vllmNorm+sampling)
}

// Stage is a stage of a pipeline: activations come from the stage before and go to the next one.
func Stage(n int) Program {
	l := layer("decoder", "LlamaDecoderLayer", vllmNorm, vllmAttention, vllmNorm, vllmMLP)
	move := "communication 14 c10d::recv_ ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"
	return decode(move, Times(n, l), move)
}

// Speculative drafts tokens with a small model, whose passes have drafted layers each, and checks them with n layers of
// a large one.
func Speculative(tokens, drafted, n int) Program {
	small := layer("draft", "LlamaDecoderLayer", vllmNorm, `
attention 5 aten::mm nvjet_tst_32x8_64x16_2x1_v_bz_TNN
attention 2 _C::rotary_embedding void vllm::rotary_embedding_kernel<c10::BFloat16, true>(long const*, c10::BFloat16*, c10::BFloat16*)
attention 6 _vllm_fa2_C::fwd void flash::flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<64, 64, 256, 4, false, false, cutlass::bfloat16_t>, false, true, false, false, true>(flash::Flash_fwd_params)
attention 4 aten::mm nvjet_tst_32x8_64x16_1x2_h_bz_TNN`, vllmNorm, `
mlp 8 aten::mm nvjet_tst_64x8_64x16_4x1_v_bz_TNN
mlp 2 _C::silu_and_mul void vllm::act_and_mul_kernel<c10::BFloat16, &(c10::BFloat16 vllm::silu_kernel<c10::BFloat16>(c10::BFloat16 const&)), true>(c10::BFloat16*, c10::BFloat16 const*, int)
mlp 5 aten::mm nvjet_tst_32x8_64x16_4x1_h_bz_TNN`)
	p := Program{}
	for range tokens {
		p.Passes = append(p.Passes, Pass{Name: "forward", Before: lines(embed), Layers: firstNorm(vllmFirstNorm, Times(drafted, small)), After: lines(vllmNorm + sampling)})
	}
	p.Passes = append(p.Passes, Llama(n).Passes...)
	p.Passes = append(p.Passes, Pass{Name: "forward", Before: lines("other 9 vllm::rejection_sample rejection_random_sample_kernel")})
	return p
}

// Alternating has experts in every second layer.
func Alternating(n int) Program {
	var all []Layer
	for i := range n {
		if i%2 == 0 {
			all = append(all, layer("decoder", "Llama4DecoderLayer", vllmNorm, vllmAttention, vllmNorm, vllmMLP))
		} else {
			all = append(all, layer("moe-layer", "Llama4DecoderLayer", vllmNorm, vllmAttention, vllmNorm, vllmMoE))
		}
	}
	return decode(embed, firstNorm(vllmFirstNorm, all), vllmNorm+sampling)
}

// Beside is a mixture of experts whose shared expert runs on a second stream, in parallel with the others.
func Beside(n int) Program {
	shared := "moe|2 14 aten::mm nvjet_tst_128x8_64x12_2x1_v_bz_TNN\nmoe|2 9 aten::mm nvjet_tst_64x8_64x16_2x1_h_bz_TNN"
	list := lines(vllmMoE)
	l := layer("moe-layer", "Qwen2MoeDecoderLayer", vllmNorm, vllmAttention, vllmNorm)
	l.Kernels = slices.Concat(l.Kernels, list[:1], lines(shared), list[1:])
	return decode(embed, firstNorm(vllmFirstNorm, Times(n, l)), vllmNorm+sampling)
}

// Repeated runs the passes of a program several times in a step, as for micro-batches.
func Repeated(p Program, times int) Program {
	var passes []Pass
	for range times {
		for _, pass := range p.Passes {
			if pass.Name != "optimizer" {
				passes = append(passes, pass)
			}
		}
	}
	return Program{Name: p.Name, Passes: passes}
}
