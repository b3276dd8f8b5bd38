package advice

import (
	"fmt"

	"assay/internal/lazyregexp"
	"assay/internal/unit"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
)

// Steps are ordered by promise, the most promising first, because screens show only that one. Their
// texts and sources are in the entries of the rules.

// KernelAdvice returns the fixes for a kernel; commStep is the one for a communication kernel,
// because it depends on the ranks of the run.
func KernelAdvice(k summary.Kernel, commStep finding.Step) []finding.Step {
	if k.Class == "comm" {
		return []finding.Step{commStep, finding.Advise("check-the-overlap").For("kernel=communication")}
	}
	profile := finding.Advise("profile-one-kernel")
	switch {
	case IsProductOfVector(k.Name):
		return append(VectorAdvice(), profile)
	case k.Category == "gemm" && !onTensorCores(k.Name) && !rule.IsQuantized(k.Name):
		return []finding.Step{finding.Advise("tensor-cores"), profile}
	case k.Category == "gemm":
		return []finding.Step{profile}
	case k.Category == "attention" && unfusedAttention().MatchString(k.Name):
		return []finding.Step{finding.Advise("fused-attention"), profile}
	case k.Category == "attention":
		return []finding.Step{profile}
	}
	return []finding.Step{profile, finding.Advise("fuse-small-kernels")}
}

// simt matches the names of GEMM kernels that use no tensor cores, by the words of CUTLASS and
// cuBLAS: simt, ffma, ampere_sgemm_128x64_tn.
var simt = lazyregexp.New(`(?i)simt|ffma|(^|_)[sd]gemm_`)

// tensorCores matches the names of GEMM kernels that use tensor cores (AMD: matrix cores), by the
// instruction (wgmma, MFMA, or its shape as in s16816gemm) or by the library. "mma" after an e is
// the model Gemma, not the instruction.
var tensorCores = lazyregexp.New(`(?i)tensorop|(^|[^e])mma|nvjet|mfma|_MI\d+x\d+|[0-9]{3,}gemm|cublas|cutlass`)

// unfusedAttention matches the names of kernels that compute only scores or probabilities. Other
// kernels of the attention category are fused: scores, softmax and output in one pass.
var unfusedAttention = lazyregexp.New(`(?i)att(n|ention)_?(score|mask|prob|weight)`)

// vectorKernelParts are lower-case parts of the names of kernels that multiply a matrix by one or a
// few vectors: cuBLAS gemv2T and gemvNSP, mul_mat_vec of llama.cpp, skinny products of vLLM on ROCm
// (LLMM1, wvSplitK).
var vectorKernelParts = []string{"gemv", "matvec", "mat_vec", "llmm1", "wvsplitk"}

// IsProductOfVector reports whether the name of a kernel shows that it multiplies a matrix by a
// vector. Such a kernel uses each weight only once per read, so memory bandwidth limits it.
//
// It runs for every kernel, and on long template names a regular expression takes a hundred times
// as long.
func IsProductOfVector(name string) bool {
	for i := range len(name) {
		switch name[i] | 0x20 {
		case 'g', 'm', 'l', 'w': // the first letters of vectorKernelParts
			for _, part := range vectorKernelParts {
				if len(name)-i >= len(part) && equalFold(name[i:i+len(part)], part) {
					return true
				}
			}
		}
	}
	return false
}

// equalFold reports whether s equals lower, ignoring ASCII case. Both must have the same length,
// and lower must be ASCII in lower case.
func equalFold(s, lower string) bool {
	for i := range len(s) {
		c := s[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

// VectorAdvice returns the fixes for products of a matrix and a vector: more vectors for each
// weight that is read, or fewer bytes per weight.
func VectorAdvice() []finding.Step {
	return []finding.Step{finding.Advise("batch-more-requests"), finding.Advise("quantize-the-weights"),
		finding.Advise("speculate")}
}

// onTensorCores reports whether the name of a GEMM kernel shows that it already uses tensor cores.
func onTensorCores(name string) bool {
	return !simt().MatchString(name) && tensorCores().MatchString(name)
}

// IsFastProduct reports whether a kernel multiplies matrices on tensor cores: what takes most of the time
// there may already be as fast as the GPU allows.
func IsFastProduct(k summary.Kernel) bool {
	return k.Category == "gemm" && onTensorCores(k.Name) && !IsProductOfVector(k.Name)
}

// DominantTitle returns the title of a finding on one kernel that takes ns of all ns of kernel
// time, without the limit of the rule.
func DominantTitle(name string, ns, all int64) string {
	return fmt.Sprintf("Dominant kernel: %s of total kernel time (%s), %q", unit.Share(ns, all),
		unit.DurationOf(ns, all), finding.Short(name))
}
