// Package advice has evidence and steps that several rules share: of kernels, communication
// and copies, which traces and tables have, of the causes of idle time, of phases, and of
// ranks that wait for each other.
package advice

import (
	"fmt"

	"assay/internal/lazyregexp"
	"assay/judge/finding"
	"assay/summary"
	"assay/unit"
)

// The steps of a finding are for users of PyTorch, the most promising first: screens
// show only that one. Their texts and sources are in the entries of the rules.

func CommAdvice() []finding.Step {
	return []finding.Step{
		finding.Advise("fsdp-prefetch"), finding.Advise("fsdp-send-less"), finding.Advise("ddp-buckets"), finding.Advise("ddp-send-less"), finding.Advise("send-less"),
		finding.Advise("fsdp-forward-prefetch"), finding.Advise("fsdp-shard-grad-op"), finding.Advise("fsdp2-prefetch"), finding.Advise("ddp-no-sync"),
	}
}

// KernelAdvice returns the fixes for a kernel. The one for communication depends on the
// ranks of the run.
func KernelAdvice(k summary.Kernel, ofRanks finding.Step) []finding.Step {
	if k.Class == "comm" {
		return []finding.Step{ofRanks, finding.Advise("check-the-overlap")}
	}
	profile := finding.Advise("profile-one-kernel")
	switch {
	case k.Category == "gemm" && !onTensorCores(k.Name):
		return []finding.Step{finding.Advise("tensor-cores"), profile}
	case k.Category == "gemm":
		return []finding.Step{profile}
	case k.Category == "attention":
		return []finding.Step{finding.Advise("fused-attention"), profile}
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

// onTensorCores reports whether a matrix kernel says by its name that it need
// not be moved to tensor cores.
func onTensorCores(name string) bool {
	return !simt().MatchString(name) && tensorCores().MatchString(name)
}

// DominantTitle returns the title of a finding on one kernel, without its limit.
func DominantTitle(name string, ns, all int64) string {
	return fmt.Sprintf("Dominant kernel: %s of total kernel time (%s), %q", unit.Share(ns, all), unit.DurationOf(ns, all), finding.Short(name))
}
