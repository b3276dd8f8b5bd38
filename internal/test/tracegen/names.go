package tracegen

// names has the kernel names of a transformer's training step in the libraries
// of one vendor.
type names struct {
	device string // the hardware

	embedding, normForward, normBackward    string
	gemmQKV, gemmProj, gemmUp, gemmDown     string
	gemmHead, gemmGradInput, gemmGradWeight string
	attention, attentionBackward            string
	add, activation, activationBackward     string
	reduce, softmax, softmaxBackward, loss  string
	optimizer, gradNorm, fill               string
	allReduce, allGather, reduceScatter     string
}

func cudaNames() names {
	return names{
		device:             "NVIDIA H100 80GB HBM3",
		embedding:          "void at::native::(anonymous namespace)::indexSelectLargeIndex<c10::BFloat16, long, unsigned int, 2, 2, -2, true>(at::cuda::detail::TensorInfo<c10::BFloat16, unsigned int>, long, long)",
		normForward:        "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float>(int, float, c10::BFloat16 const*, c10::BFloat16 const*, float*, c10::BFloat16*)",
		normBackward:       "void at::native::(anonymous namespace)::layer_norm_grad_input_kernel_vectorized<c10::BFloat16, float>(c10::BFloat16 const*, c10::BFloat16 const*, float const*, c10::BFloat16*, int)",
		gemmQKV:            "nvjet_tst_192x192_64x4_2x1_v_bz_coopB_TNN",
		gemmProj:           "nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNT",
		gemmUp:             "nvjet_tst_256x128_64x4_1x2_h_bz_coopA_TNT",
		gemmDown:           "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_cublas",
		gemmHead:           "nvjet_tst_256x128_64x4_2x1_v_bz_coopA_NNT",
		gemmGradInput:      "nvjet_tst_256x128_64x4_2x1_v_bz_coopA_NNN",
		gemmGradWeight:     "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_bf16_128x256_64x3_nt_align8>(cutlass_80_tensorop_bf16_s16816gemm_bf16_128x256_64x3_nt_align8::Params)",
		attention:          "void flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4, false, false, cutlass::bfloat16_t>, false, true, false, false, true, true, false>(Flash_fwd_params)",
		attentionBackward:  "void flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<Flash_bwd_kernel_traits<128, 64, 128, 8, 2, 4, 2, false, false, cutlass::bfloat16_t>, false, true, false, false, true>(Flash_bwd_params)",
		add:                "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul>)",
		activation:         "void at::native::vectorized_elementwise_kernel<4, at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, at::native::GeluType)::{lambda()#1}, std::array<char*, 2ul> >(int)",
		activationBackward: "void at::native::vectorized_elementwise_kernel<4, at::native::GeluBackwardCUDAKernelImpl(at::TensorIteratorBase&, at::native::GeluType)::{lambda()#1}, std::array<char*, 3ul> >(int)",
		reduce:             "void at::native::reduce_kernel<128, 4, at::native::ReduceOp<c10::BFloat16, at::native::func_wrapper_t<c10::BFloat16, at::native::sum_functor<c10::BFloat16, float, c10::BFloat16> >, unsigned int, c10::BFloat16, 4> >(at::native::ReduceOp)",
		softmax:            "void at::native::(anonymous namespace)::cunn_SoftMaxForward<8, float, float, float, at::native::(anonymous namespace)::LogSoftMaxForwardEpilogue>(float*, float const*, int)",
		softmaxBackward:    "void at::native::(anonymous namespace)::cunn_SoftMaxBackward<8, float, float, float, at::native::(anonymous namespace)::LogSoftMaxBackwardEpilogue>(float*, float const*, float const*, long)",
		loss:               "void at::native::(anonymous namespace)::nll_loss_forward_reduce_cuda_kernel_2d<float, float, long>(float*, float*, float const*, long const*, float const*, bool, long, long, long, long)",
		optimizer:          "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous namespace)::TensorListMetadata<4>, at::native::(anonymous namespace)::FusedAdamMathFunctor<float, 4, (at::native::ADAM_MODE)1, false> >(at::native::(anonymous namespace)::TensorListMetadata<4>)",
		gradNorm:           "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous namespace)::TensorListMetadata<1>, at::native::(anonymous namespace)::LpNormFunctor<float, (at::native::NormType)1, float, 1, 1, 0> >(at::native::(anonymous namespace)::TensorListMetadata<1>)",
		fill:               "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, std::array<char*, 1ul> >(int, at::native::FillFunctor<float>, std::array<char*, 1ul>)",
		allReduce:          "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
		allGather:          "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
		reduceScatter:      "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
	}
}

// rocmNames returns the kernels of hipBLASLt, Composable Kernel and RCCL.
// Kernels that PyTorch compiles itself have the same names as on CUDA.
func rocmNames() names {
	n := cudaNames()
	n.device = "AMD Instinct MI300X"
	n.gemmQKV = "Cijk_Alik_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs_MT256x256x64_MI16x16x1_SN_LDSB1_AFC1"
	n.gemmProj = "Cijk_Alik_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs_MT256x192x64_MI16x16x1_SN_LDSB1_AFC1"
	n.gemmUp = "Cijk_Alik_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs_MT256x224x64_MI16x16x1_SN_LDSB1_AFC1"
	n.gemmDown = "Cijk_Alik_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs_MT128x256x64_MI16x16x1_SN_LDSB1_AFC1"
	n.gemmHead = "Cijk_Ailk_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs_MT256x256x32_MI16x16x1_SN_LDSB0_AFC1"
	n.gemmGradInput = "Cijk_Ailk_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs_MT256x224x64_MI16x16x1_SN_LDSB0_AFC1"
	n.gemmGradWeight = "Cijk_Ailk_Bjlk_BBS_BH_Bias_HAS_SAV_UserArgs_MT256x256x32_MI16x16x1_SN_LDSB0_AFC1"
	n.attention = "void ck_tile::kentry<256, 2, ck_tile::FmhaFwdKernel<ck_tile::BlockFmhaPipelineQRKSVSAsync<ck_tile::BlockFmhaPipelineProblem<unsigned short> > > >(ck_tile::FmhaFwdKernel::Kargs)"
	n.attentionBackward = "void ck_tile::kentry<256, 1, ck_tile::FmhaBwdDQDKDVKernel<ck_tile::BlockFmhaBwdDQDKDVPipelineKRKTRVRIGLP<ck_tile::BlockFmhaBwdPipelineProblem<unsigned short> > > >(ck_tile::FmhaBwdDQDKDVKernel::Kargs)"
	n.allReduce = "ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)"
	n.allGather, n.reduceScatter = n.allReduce, n.allReduce
	return n
}
