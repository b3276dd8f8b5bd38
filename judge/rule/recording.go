package rule

import (
	"slices"
	"strings"

	"assay/summary"
)

// OfNsys reports whether Nsight Systems recorded all inputs.
func OfNsys(c *summary.Summary) bool {
	other := func(in summary.Input) bool { return !strings.HasPrefix(in.Format, "nsys-") }
	return len(c.Inputs) > 0 && !slices.ContainsFunc(c.Inputs, other)
}

// fromTorch reports whether an input may come from PyTorch: it is not from Nsight Systems or Nsight
// Compute.
func fromTorch(c *summary.Summary) bool {
	fromNVIDIA := func(in summary.Input) bool {
		return strings.HasPrefix(in.Format, "nsys") || strings.HasPrefix(in.Format, "ncu")
	}
	return len(c.Inputs) == 0 || slices.ContainsFunc(c.Inputs, func(in summary.Input) bool { return !fromNVIDIA(in) })
}
