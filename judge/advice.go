package judge

import (
	"regexp"

	"assay/summary"
)

// The advice is for users of PyTorch, most promising first. Each line names
// the switch to turn, not just the direction, and says "if" where the capture
// does not tell whether it applies.

func commAdvice() []string {
	return []string{
		"with FSDP, overlap collectives: backward_prefetch=BackwardPrefetch.BACKWARD_PRE, forward_prefetch=True and limit_all_gathers=True; with FSDP2 set_modules_to_forward_prefetch and set_modules_to_backward_prefetch",
		"with DDP, reduce early and in good sizes: tune bucket_cap_mb, set gradient_as_bucket_view=True and static_graph=True, use no_sync() while accumulating gradients",
		"send less: reduce in bfloat16, SHARD_GRAD_OP in place of FULL_SHARD where memory allows, smaller tensor-parallel groups kept within one node",
	}
}

func kernelAdvice(k summary.Kernel, p peers) []string {
	if k.Class == "comm" {
		return []string{
			"a communication kernel runs for as long as it waits for its peers; " + p.advice(),
			"see how much of it compute hides; hidden communication costs little",
		}
	}
	profile := "profile this one kernel with Nsight Compute (ncu --kernel-name) to see whether it is bound by arithmetic, memory or latency"
	switch {
	case k.Category == "gemm" && !onTensorCores(k.Name):
		return []string{
			"check that it runs on tensor cores: bfloat16 or fp8 inputs, or torch.set_float32_matmul_precision(\"high\"), and dimensions that are multiples of 16",
			profile,
		}
	case k.Category == "gemm":
		return []string{profile}
	case k.Category == "attention":
		return []string{
			"use a fused attention: torch.nn.functional.scaled_dot_product_attention with the flash backend, or FlashAttention",
			profile,
		}
	}
	return []string{profile, "torch.compile fuses chains of small kernels into fewer passes over memory"}
}

// simt matches the names of matrix kernels that use no tensor cores, by the
// words of CUTLASS and cuBLAS: simt, ffma, ampere_sgemm_128x64_tn.
var simt = regexp.MustCompile(`(?i)simt|ffma|(^|_)[sd]gemm_`)

// tensorCores matches the names of matrix kernels that use tensor cores, or
// what AMD calls matrix cores: the instruction (wgmma, MFMA, and in the names
// of cuBLAS its shape, as s16816gemm), or the library. The model Gemma is not
// an instruction.
var tensorCores = regexp.MustCompile(`(?i)tensorop|(^|[^e])mma|nvjet|mfma|_MI\d+x\d+|[0-9]{3,}gemm|cublas|cutlass`)

// onTensorCores reports whether a matrix kernel says by its name that it need
// not be moved to tensor cores.
func onTensorCores(name string) bool {
	return !simt.MatchString(name) && tensorCores.MatchString(name)
}

func computeAdvice() []string {
	return []string{
		"the GPU is kept busy; further gains are in the kernels: lower precision, fused kernels, less recomputation",
		"busy is not efficient: compare the achieved FLOP/s with the device's peak before adding hardware",
	}
}
