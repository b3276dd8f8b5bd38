package layergen

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// The models of PyTorch: eager, compiled, in training, diffusion. And what has no layers.

func elementwise(of string, n int) string {
	return fmt.Sprintf("void at::native::vectorized_elementwise_kernel<4, at::native::%s, std::array<char*, %dul> >(int, at::native::%s, std::array<char*, %dul>)", of, n, of, n)
}

var (
	addKernel  = elementwise("CUDAFunctor_add<c10::BFloat16>", 3)
	mulKernel  = elementwise("BinaryFunctor<c10::BFloat16, c10::BFloat16, c10::BFloat16, at::native::binary_internal::MulFunctor<float> >", 3)
	geluKernel = elementwise("GeluCUDAKernelImpl(at::TensorIteratorBase&, at::native::GeluType)::{lambda()#1}", 2)
)

const (
	layerNorm = "norm 7 aten::native_layer_norm void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float, false>(int, float, c10::BFloat16 const*, c10::BFloat16 const*, float*, c10::BFloat16*)"
	flash2    = "attention 64 aten::_flash_attention_forward void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, 128, 128, 4, false, false, cutlass::bfloat16_t>, false, true, false, false, true, true, false>(pytorch_flash::Flash_fwd_params)"
	head      = "other 210 aten::mm nvjet_tst_256x128_64x4_2x1_v_bz_coopA_NNT"
)

// gptLayer is a layer of GPT with layer norms and biases.
func gptLayer() Layer {
	return layer("decoder", "GPT2Block", layerNorm,
		"attention 55 aten::addmm nvjet_tst_192x192_64x4_2x1_v_bz_coopB_bias_TNN", flash2,
		"attention 21 aten::addmm nvjet_tst_128x256_64x4_1x2_h_bz_coopA_bias_TNT",
		"other 6 aten::add "+addKernel, layerNorm,
		"mlp 74 aten::addmm nvjet_tst_256x128_64x4_1x2_h_bz_coopA_bias_TNT",
		"mlp 11 aten::gelu "+geluKernel,
		"mlp 71 aten::addmm sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_cublas",
		"other 6 aten::add "+addKernel)
}

// GPT is the forward pass of a model with layer norms.
func GPT(n int) Program {
	return decode(embed+"\nother 5 aten::add "+addKernel, Times(n, gptLayer()), layerNorm+"\n"+head)
}

// rmsEager is a norm that PyTorch computes with one kernel for each operator.
func rmsEager() string {
	return strings.Join([]string{
		"norm 4 aten::to void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}, std::array<char*, 2ul>, 4>(int)",
		"norm 5 aten::pow void at::native::vectorized_elementwise_kernel<4, at::native::(anonymous namespace)::pow_tensor_scalar_kernel_impl<float, float>(at::TensorIteratorBase&, float)::{lambda(float)#1}, std::array<char*, 2ul> >(int)",
		"norm 6 aten::mean void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MeanOps<float, float, float, float>, unsigned int, float, 4, 4> >(at::native::ReduceOp<float>)",
		"norm 2 aten::rsqrt " + elementwise("rsqrt_kernel_cuda(at::TensorIteratorBase&)::{lambda()#2}", 2),
		"norm 5 aten::mul void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl_nocast<at::native::BinaryFunctor<float, float, float, at::native::binary_internal::MulFunctor<float> > >(at::TensorIteratorBase&)::{lambda(int)#1}>(int)",
		"norm 5 aten::mul " + mulKernel}, "\n")
}

// HuggingFace is a dense model in eager PyTorch: norms and rotary embeddings are many small kernels.
func HuggingFace(n int) Program {
	neg, cat := elementwise("neg_kernel_cuda(at::TensorIteratorBase&)::{lambda()#2}", 2), "void at::native::(anonymous namespace)::CatArrayBatchedCopy<at::native::(anonymous namespace)::OpaqueType<2u>, unsigned int, 4, 64, 64>(at::native::OpaqueType<2u>*)"
	rotary := strings.Join([]string{"attention 4 aten::mul " + mulKernel, "attention 3 aten::neg " + neg, "attention 4 aten::cat " + cat, "attention 4 aten::mul " + mulKernel, "attention 4 aten::add " + addKernel}, "\n")
	l := layer("decoder", "LlamaDecoderLayer", rmsEager(),
		"attention 60 aten::mm ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn", "attention 22 aten::mm ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x4_tn",
		"attention 22 aten::mm ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x4_tn", rotary, rotary, flash2,
		"attention 59 aten::mm ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn", "other 5 aten::add "+addKernel, rmsEager(),
		"mlp 150 aten::mm ampere_bf16_s16816gemm_bf16_256x128_ldg8_f2f_stages_64x3_tn", "mlp 9 aten::silu "+elementwise("silu_kernel(at::TensorIteratorBase&)::{lambda()#2}", 2),
		"mlp 149 aten::mm ampere_bf16_s16816gemm_bf16_256x128_ldg8_f2f_stages_64x3_tn", "mlp 9 aten::mul "+mulKernel,
		"mlp 152 aten::mm ampere_bf16_s16816gemm_bf16_256x64_ldg8_f2f_stages_64x4_tn", "other 5 aten::add "+addKernel)
	return decode(embed, Times(n, l), rmsEager()+"\n"+head)
}

// Compiled is a dense model after torch.compile: Triton has fused what is between the matrix products.
func Compiled(n int) Program {
	l := layer("decoder", "LlamaDecoderLayer", "norm 9 triton_red_fused triton_red_fused__to_copy_add_mean_mul_pow_rsqrt_2",
		"attention 51 aten::mm nvjet_tst_192x192_64x4_2x1_v_bz_coopB_TNN", "attention 8 triton_poi_fused triton_poi_fused_add_cat_mul_neg_3",
		flash2, "attention 20 aten::mm nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNT", "norm 10 triton_red_fused triton_red_fused__to_copy_add_mean_mul_pow_rsqrt_4",
		"mlp 140 aten::mm nvjet_tst_256x128_64x4_1x2_h_bz_coopA_TNT", "mlp 13 triton_poi_fused triton_poi_fused_mul_silu_5",
		"mlp 70 aten::mm nvjet_tst_128x192_64x4_1x2_h_bz_coopA_TNT")
	return decode("other 5 triton_poi triton_poi_fused_embedding_0", Times(n, l), "other 9 triton_red triton_red_fused_add_mean_mul_pow_rsqrt_9\n"+head)
}

// EncoderDecoder runs n layers of an encoder and then n of a decoder, which also attend to the encoder's output.
func EncoderDecoder(n int) Program {
	cross := []string{layerNorm, "attention 12 aten::addmm nvjet_tst_64x64_64x8_2x1_v_bz_bias_TNN",
		"attention 30 aten::_efficient_attention_forward fmha_cutlassF_bf16_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel<cutlass::bfloat16_t, cutlass::arch::Sm80>::Params)",
		"attention 11 aten::addmm nvjet_tst_64x64_64x8_1x2_h_bz_bias_TNN", "other 3 aten::add " + addKernel}
	encoder, decoder := gptLayer(), gptLayer()
	encoder.Kind, encoder.Module = "encoder", "T5EncoderBlock"
	decoder.Module = "T5DecoderBlock"
	decoder.Kernels = slices.Concat(decoder.Kernels[:5], lines(strings.Join(cross, "\n")), decoder.Kernels[5:])
	return decode(embed, append(Times(n, encoder), Times(n, decoder)...), layerNorm+"\n"+head)
}

// DiT is a diffusion transformer: equal blocks, whose norms are modulated by the time step.
func DiT(n int) Program {
	g := gptLayer()
	g.Kind, g.Module = "decoder", "DiTBlock"
	g.Kernels = slices.Concat(lines("other 9 aten::addmm nvjet_tst_32x64_64x16_4x1_v_bz_bias_TNN"), g.Kernels)
	return decode("other 8 aten::cudnn_convolution void cudnn::cnn::implicit_convolve_sgemm<float, float, 128, 5, 5, 3, 3, 3, 1, true, false, true>(int)", Times(n, g),
		layerNorm+"\nother 20 aten::addmm nvjet_tst_64x128_64x8_1x1_h_bz_bias_TNN\nother 4 aten::add "+addKernel)
}

// backward returns the kernels of the backward pass of a layer: two products for each, in reverse.
func backward(l Layer) Layer {
	var out []Kernel
	for _, k := range slices.Backward(l.Kernels) {
		switch {
		case k.Op == "aten::addmm":
			grad, weight := k, k
			grad.Name = strings.TrimSuffix(strings.TrimSuffix(k.Name, "T"), "_TN") + "_NNN"
			weight.Name, weight.NS = strings.TrimSuffix(strings.TrimSuffix(k.Name, "T"), "_TN")+"_NTN", k.NS+k.NS/16
			out = append(out, grad, weight)
		case k.Part == "norm":
			k.Op, k.Name, k.NS = "aten::native_layer_norm_backward", "void at::native::(anonymous namespace)::layer_norm_grad_input_kernel_vectorized<c10::BFloat16, float>(c10::BFloat16 const*, c10::BFloat16 const*, float const*, c10::BFloat16*, int)", 2*k.NS
			gamma := k
			gamma.Name = "void at::native::(anonymous namespace)::cuComputePartGradGammaBeta<float, float, true>(float const*, float const*, int, int)"
			out = append(out, k, gamma)
		case strings.Contains(k.Name, "flash_fwd"):
			k.Op, k.NS = "aten::_flash_attention_backward", k.NS*5/2
			k.Name = "void pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<pytorch_flash::Flash_bwd_kernel_traits<64, 128, 128, 8, 4, 4, 4, false, false, cutlass::bfloat16_t>, false, true, false, false, true>(pytorch_flash::Flash_bwd_params)"
			out = append(out, k)
		case k.Op == "aten::gelu":
			k.Op, k.Name = "aten::gelu_backward", elementwise("GeluBackwardCUDAKernelImpl(at::TensorIteratorBase&, at::native::GeluType)::{lambda()#1}", 3)
			out = append(out, k)
		default:
			out = append(out, k)
		}
	}
	return Layer{l.Kind, l.Module, out}
}

// Training is a step with forward and backward passes and an optimizer. With recomputation each backward pass of a layer
// begins with its forward pass, so that the passes of layers alternate.
func Training(n int, recompute bool) Program {
	g := gptLayer()
	loss := "other 30 aten::log_softmax void at::native::(anonymous namespace)::cunn_SoftMaxForward<8, float, float, float, at::native::(anonymous namespace)::LogSoftMaxForwardEpilogue>(float*, float const*, int)"
	optimizer := ""
	for range 12 {
		optimizer += "other 44 aten::_fused_adamw_ void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous namespace)::FusedOptimizerTensorListMetadata<4>, at::native::(anonymous namespace)::FusedAdamMathFunctor<float, 4, (at::native::ADAM_MODE)1, false> >(int)\n"
	}
	p := Program{Passes: []Pass{{Name: "forward", Before: lines(embed), Layers: Times(n, g), After: lines(layerNorm + "\n" + head + "\n" + loss)}}}
	top := lines("other 33 aten::log_softmax_backward void at::native::(anonymous namespace)::cunn_SoftMaxBackward<8, float, float, float, at::native::(anonymous namespace)::LogSoftMaxBackwardEpilogue>(float*, float const*, float const*, long)\nother 230 aten::mm nvjet_tst_256x128_64x4_2x1_v_bz_coopA_NTN")
	if recompute {
		p.Passes = append(p.Passes, Pass{Name: "backward", Before: top})
		for range n {
			p.Passes = append(p.Passes, Pass{Name: "recompute", Layers: []Layer{g}, Joined: true}, Pass{Name: "backward", Layers: []Layer{backward(g)}, Joined: true})
		}
	} else {
		p.Passes = append(p.Passes, Pass{Name: "backward", Before: top, Layers: Times(n, backward(g))})
	}
	p.Passes = append(p.Passes, Pass{Name: "optimizer", Before: lines(optimizer)})
	return p
}

// UNet has blocks of other sizes at each level, so no two are equal.
func UNet() Program {
	var all []Kernel
	for level := range 9 {
		size := 64 << min(level, 8-level)
		all = append(all, lines(fmt.Sprintf(`
other %d aten::cudnn_convolution void cutlass__5x_cudnn::Kernel<cutlass_tensorop_bf16_s16816fprop_optimized_bf16_%dx64_32x%d_nhwc_align%d>(cutlass_tensorop::Params)
norm %d aten::native_group_norm void at::native::(anonymous namespace)::RowwiseMomentsCUDAKernel<float, %d>(long, float, float const*)
other %d aten::silu void at::native::vectorized_elementwise_kernel<%d, at::native::silu_kernel(at::TensorIteratorBase&)::{lambda()#2}, std::array<char*, 2ul> >(int)`,
			30+size/8+level, size, level+2, 1+level, 5+level, level, 4+level, level))...)
		if level%3 == 1 {
			all = append(all, lines(flash2)...)
		}
	}
	return Program{Passes: []Pass{{Name: "forward", Before: all}}}
}

// Random launches n kernels of a few dozen names without an order.
func Random(seed uint64, n int) Program {
	r := rand.New(rand.NewPCG(seed, 1))
	var names []Kernel
	for _, p := range []Program{Llama(2), GPT(2), Mixture(1, 1, true, true), Hybrid(6), ROCm(2)} {
		for _, l := range p.Passes[0].Layers {
			names = append(names, l.Kernels...)
		}
	}
	var out []Kernel
	for range n {
		k := names[r.IntN(len(names))]
		k.Stream, k.Beside = 0, false
		out = append(out, k)
	}
	return Program{Passes: []Pass{{Name: "forward", Before: out}}}
}

// Loop repeats one kernel, or two, n times: a solver or an optimizer without layers.
func Loop(n, kernels int) Program {
	both := []string{"other 11 aten::add_ " + addKernel, "other 13 aten::mul_ " + mulKernel}
	var out []Kernel
	for range n {
		out = append(out, lines(strings.Join(both[:kernels], "\n"))...)
	}
	return Program{Passes: []Pass{{Name: "forward", Before: out}}}
}

// Single is a model of one layer.
func Single() Program {
	return Program{Passes: []Pass{{Name: "forward", Before: lines(embed), Layers: Llama(1).Passes[0].Layers, After: lines(vllmNorm + sampling)}}}
}
