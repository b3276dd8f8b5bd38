package blind

import "fmt"

// Names of kernels as PyTorch's profiler shows them.
const (
	gemm      = "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_cublas"
	gemmSmall = "ampere_bf16_s16816gemm_bf16_64x64_ldg8_f2f_stages_64x5_tn"
	gemv      = "void gemv2T_kernel_val<int, int, __nv_bfloat16, __nv_bfloat16, __nv_bfloat16, float, 128, 16, 4, 4, false, false, cublasGemvParamsEx<int> >(cublasGemvParamsEx<int>, float, float)"
	add       = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16>, at::detail::Array<char*, 3> >(int, at::native::CUDAFunctor_add<c10::BFloat16>, at::detail::Array<char*, 3>)"
	silu      = "void at::native::vectorized_elementwise_kernel<4, at::native::(anonymous namespace)::silu_kernel(at::TensorIteratorBase&)::{lambda(c10::BFloat16)#1}, at::detail::Array<char*, 2> >(int)"
	norm      = "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float>(int, float, c10::BFloat16 const*, c10::BFloat16 const*, c10::BFloat16 const*, float*, float*, c10::BFloat16*)"
	flash     = "void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<128, 128, 64, 4, false, false, cutlass::bfloat16_t, pytorch_flash::Flash_kernel_traits<128, 128, 64, 4, cutlass::bfloat16_t> >, false, true, false, false, false, true, false, false>(pytorch_flash::Flash_fwd_params)"
	adam      = "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<FusedOptimizerTensorListMetadata<4>, FusedAdamMathFunctor<float, 4, false>, float const*, double>(int)"

	allReduce     = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
	allGather     = "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
	reduceScatter = "ncclDevKernel_ReduceScatter_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
	sendRecv      = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"
)

// layer is a layer of a transformer in which matrix products take d each.
func (s *Sim) layer(d int64) {
	s.run("aten::layer_norm", norm, s.vary(d/10))
	s.run("aten::linear", gemm, s.vary(d))
	s.run("aten::_flash_attention_forward", flash, s.vary(d/2))
	s.run("aten::linear", gemm, s.vary(d/2))
	s.run("aten::add", add, s.vary(d/12))
	s.run("aten::linear", gemm, s.vary(d))
	s.run("aten::silu", silu, s.vary(d/12))
	s.run("aten::linear", gemm, s.vary(d))
}

// forward runs n layers.
func (s *Sim) forward(n int, d int64) {
	for range n {
		s.layer(d)
	}
}

// train is a step of training: forward, backward on its own thread, optimizer.
func (s *Sim) train(n int, d int64) {
	s.forward(n, d)
	s.backward(func() {
		for range n {
			s.op("autograd::engine::evaluate_function: AddmmBackward0", func() { s.layer(d + d/2) })
		}
	})
	s.update(d)
}

func (s *Sim) update(d int64) {
	s.note("Optimizer.step#AdamW.step", func() { s.run("aten::_fused_adamw_", adam, s.vary(d)) })
}

// steps runs f in n steps of the profiler. The host may be ahead of the GPU when
// a step ends.
func (s *Sim) steps(n int, f func(i int)) {
	for i := range n {
		s.step(i+3, func() { f(i) })
	}
}

// Stories returns all stories, in the order of their families.
func Stories() []Story {
	var all []Story
	for _, family := range []func() []Story{
		launches, tinyKernels, loader, items, workAfterWait, logging, checkpoint, collection, evaluation, offloadedOptimizer,
		ddp, fsdp, tensorParallel, pipeline, expertParallel, straggler, lateInTurn, hidden,
		weights, activations, tinyCopies, blockingCopies, allocator,
		gemvDecode, attention, slowing, warmUp, replays, streams, rollout, sglang, vllm,
		waits, pinning, recompiling,
	} {
		all = append(all, family()...)
	}
	return all
}

// family makes a story of each variant.
func family(name string, st Story, variants ...func(s *Sim, with bool)) []Story {
	var all []Story
	for i, program := range variants {
		v := st
		v.Family, v.Name, v.Program = name, fmt.Sprintf("%s-%d", name, i+1), program
		all = append(all, v)
	}
	return all
}

// when returns d if with is set.
func when(with bool, d int64) int64 {
	if with {
		return d
	}
	return 0
}
