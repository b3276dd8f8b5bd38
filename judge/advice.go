package judge

import (
	"assay/internal/lazyregexp"
	"assay/summary"
)

// The steps of a finding are for users of PyTorch, the most promising first: screens
// show only that one. Their texts and sources are in the entries of the rules.

func commAdvice() []Step {
	return []Step{
		advise("fsdp-prefetch"), advise("fsdp-send-less"), advise("ddp-buckets"), advise("ddp-send-less"), advise("send-less"),
		advise("fsdp-forward-prefetch"), advise("fsdp-shard-grad-op"), advise("fsdp2-prefetch"), advise("ddp-no-sync"),
	}
}

func kernelAdvice(k summary.Kernel, ofRanks Step) []Step {
	if k.Class == "comm" {
		return []Step{ofRanks, advise("check-the-overlap")}
	}
	profile := advise("profile-one-kernel")
	switch {
	case k.Category == "gemm" && !onTensorCores(k.Name):
		return []Step{advise("tensor-cores"), profile}
	case k.Category == "gemm":
		return []Step{profile}
	case k.Category == "attention":
		return []Step{advise("fused-attention"), profile}
	}
	return []Step{profile, advise("fuse-small-kernels")}
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
