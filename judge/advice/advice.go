// Package advice has evidence and steps that several rules share: of kernels, communication
// and copies, which traces and tables have, of the causes of idle time, of phases, and of
// ranks that wait for each other.
package advice

import (
	"fmt"

	"assay/internal/lazyregexp"
	"assay/internal/unit"
	"assay/judge/finding"
	"assay/summary"
)

// The steps of a finding are for users of PyTorch, the most promising first: screens
// show only that one. Their texts and sources are in the entries of the rules.

// KernelAdvice returns the fixes for a kernel. The one for communication depends on the
// ranks of the run.
func KernelAdvice(k summary.Kernel, ofRanks finding.Step) []finding.Step {
	if k.Class == "comm" {
		return []finding.Step{ofRanks, finding.Advise("check-the-overlap")}
	}
	profile := finding.Advise("profile-one-kernel")
	switch {
	case IsProductOfVector(k.Name):
		return append(VectorAdvice(), profile)
	case k.Category == "gemm" && !onTensorCores(k.Name):
		return []finding.Step{finding.Advise("tensor-cores"), profile}
	case k.Category == "gemm":
		return []finding.Step{profile}
	case k.Category == "attention" && apart().MatchString(k.Name):
		return []finding.Step{finding.Advise("fused-attention"), profile}
	case k.Category == "attention":
		return []finding.Step{profile}
	}
	return []finding.Step{profile, finding.Advise("fuse-small-kernels")}
}

// simt matches the names of matrix kernels that use no tensor cores, by the
// words of CUTLASS and cuBLAS: simt, ffma, ampere_sgemm_128x64_tn.
var simt = lazyregexp.New(`(?i)simt|ffma|(^|_)[sd]gemm_`)

// tensorCores matches the names of matrix kernels that use tensor cores, or
// what AMD calls matrix cores: the instruction (wgmma, MFMA, and in the names
// of cuBLAS its shape, as s16816gemm), or the library. The model Gemma is not
// an instruction.
var tensorCores = lazyregexp.New(`(?i)tensorop|(^|[^e])mma|nvjet|mfma|_MI\d+x\d+|[0-9]{3,}gemm|cublas|cutlass`)

// apart matches the names of attention kernels that compute scores or probabilities only.
// The others of that category compute scores, softmax and output in one pass.
var apart = lazyregexp.New(`(?i)att(n|ention)_?(score|mask|prob|weight)`)

// ofVectors are parts of the names of kernels that multiply a matrix by a vector, or by few
// of them, in small letters: cuBLAS gemv2T and gemvNSP, mul_mat_vec of llama.cpp, skinny
// products of vLLM on ROCm (LLMM1, wvSplitK).
var ofVectors = []string{"gemv", "matvec", "mat_vec", "llmm1", "wvsplitk"}

// IsProductOfVector reports whether a kernel multiplies a matrix by a vector, by its name.
// It reads each weight for one multiplication, so memory limits it.
//
// Every kernel is asked, and a regular expression takes a hundred times as long for the
// names of templates.
func IsProductOfVector(name string) bool {
	for i := range len(name) {
		switch name[i] | 0x20 {
		case 'g', 'm', 'l', 'w': // which the parts begin with
			for _, part := range ofVectors {
				if len(name)-i >= len(part) && equalFold(name[i:i+len(part)], part) {
					return true
				}
			}
		}
	}
	return false
}

// equalFold reports whether s, of as many bytes as lower, is equal to it in small letters. Both
// are ASCII; s may have other letters, which are equal to none.
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

// VectorAdvice returns what helps products of a matrix and a vector: more vectors for each
// weight that is read, or fewer bytes.
func VectorAdvice() []finding.Step {
	return []finding.Step{finding.Advise("batch-more-requests"), finding.Advise("quantize-the-weights"), finding.Advise("speculate")}
}

// onTensorCores reports whether a matrix kernel says by its name that it need
// not be moved to tensor cores.
func onTensorCores(name string) bool {
	return !simt().MatchString(name) && tensorCores().MatchString(name)
}

// DominantTitle returns the title of a finding on one kernel, without its limit.
func DominantTitle(name string, ns, all int64) string {
	return fmt.Sprintf("Dominant kernel: %s of total kernel time (%s), %q", unit.Share(ns, all), unit.DurationOf(ns, all), finding.Short(name))
}
