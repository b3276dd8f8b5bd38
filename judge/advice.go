package judge

import (
	"assay/internal/lazyregexp"
	"assay/summary"
)

// The advice is for users of PyTorch, most promising first. Each line names
// the switch to turn, not just the direction, and says "if" where the capture
// does not tell whether it applies. The lines are in remedies.yaml, with the pages
// that they come from.

func commAdvice() []string {
	return []string{
		say("fsdp-prefetch"),
		say("fsdp-send-less"),
		say("ddp-buckets"),
		say("ddp-send-less"),
		say("send-less"),
	}
}

func kernelAdvice(k summary.Kernel, p peers) []string {
	if k.Class == "comm" {
		return []string{
			say("wait-of-peers", "peers", p.advice()),
			say("hidden-is-cheap"),
		}
	}
	profile := say("profile-one-kernel")
	switch {
	case k.Category == "gemm" && !onTensorCores(k.Name):
		return []string{
			say("tensor-cores"),
			profile,
		}
	case k.Category == "gemm":
		return []string{profile}
	case k.Category == "attention":
		return []string{
			say("fused-attention"),
			profile,
		}
	}
	return []string{profile, say("fuse-small-kernels")}
}

// simt matches the names of matrix kernels that use no tensor cores, by the
// words of CUTLASS and cuBLAS: simt, ffma, ampere_sgemm_128x64_tn.
var simt = lazyregexp.New(`(?i)simt|ffma|(^|_)[sd]gemm_`)

// tensorCores matches the names of matrix kernels that use tensor cores, or
// what AMD calls matrix cores: the instruction (wgmma, MFMA, and in the names
// of cuBLAS its shape, as s16816gemm), or the library. The model Gemma is not
// an instruction.
var tensorCores = lazyregexp.New(`(?i)tensorop|(^|[^e])mma|nvjet|mfma|_MI\d+x\d+|[0-9]{3,}gemm|cublas|cutlass`)

// onTensorCores reports whether a matrix kernel says by its name that it need
// not be moved to tensor cores.
func onTensorCores(name string) bool {
	return !simt().MatchString(name) && tensorCores().MatchString(name)
}

func computeAdvice() []string {
	return []string{
		say("gains-are-in-kernels"),
		say("busy-is-not-efficient"),
	}
}
