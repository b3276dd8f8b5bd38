package rule

import (
	"slices"
	"strings"

	"assay/summary"
)

// OfNsys reports whether Nsight Systems recorded all inputs.
func OfNsys(c *summary.Summary) bool { return allInputs(c, byNsys) }

// OfXLA reports whether the profiler of XLA or TensorFlow recorded all inputs.
func OfXLA(c *summary.Summary) bool { return allInputs(c, ByXLA) }

// OfROCm reports whether profilers of ROCm recorded all inputs.
func OfROCm(c *summary.Summary) bool { return allInputs(c, ByROCm) }

// allInputs reports whether there are inputs, and a profiler recorded all of them.
func allInputs(c *summary.Summary, by func(summary.Input) bool) bool {
	return len(c.Inputs) > 0 && !slices.ContainsFunc(c.Inputs, func(in summary.Input) bool { return !by(in) })
}

func byNsys(in summary.Input) bool { return strings.HasPrefix(in.Format, "nsys-") }

func byUnitrace(in summary.Input) bool { return in.Format == "unitrace" }

func byProton(in summary.Input) bool { return strings.HasPrefix(in.Format, "proton-") }

// ByXLA reports whether the profiler of XLA or TensorFlow recorded an input.
func ByXLA(in summary.Input) bool {
	return in.Format == summary.FormatXLA || in.Format == summary.FormatXPlane || in.Format == summary.FormatTF
}

// ByROCm reports whether a profiler of ROCm recorded an input.
func ByROCm(in summary.Input) bool {
	return strings.HasPrefix(in.Format, "rocprof") || strings.HasPrefix(in.Format, "rpd")
}

// fromTorch reports whether an input may come from PyTorch: it is not from Nsight Systems, Nsight
// Compute, NCCL, unitrace, XLA or ROCm, or it is a table, a snapshot or a log that only PyTorch writes.
func fromTorch(c *summary.Summary) bool {
	ofVendor := func(in summary.Input) bool {
		return strings.HasPrefix(in.Format, "nsys") || strings.HasPrefix(in.Format, "ncu") || in.Format == summary.FormatNCCL || byUnitrace(in)
	}
	return len(c.Inputs) == 0 || len(c.Snapshots)+len(c.MemoryTimelines)+len(c.Memory)+len(c.Compilations) > 0 ||
		slices.ContainsFunc(c.Tables, func(t summary.Table) bool { return t.Tool == "torch" }) || slices.ContainsFunc(c.Inputs, func(in summary.Input) bool {
		return !ofVendor(in) && !ByXLA(in) && !ByROCm(in)
	})
}
