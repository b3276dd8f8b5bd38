package judge

import (
	"slices"
	"strings"

	"assay/summary"
)

// ofNsys reports whether Nsight Systems recorded all inputs.
func (c *evaluator) ofNsys() bool {
	other := func(in summary.Input) bool { return !strings.HasPrefix(in.Format, "nsys-") }
	return len(c.Inputs) > 0 && !slices.ContainsFunc(c.Inputs, other)
}

// ofTorch reports whether an input may come from PyTorch: it does not come from Nsight
// Systems or Nsight Compute.
func (c *evaluator) ofTorch() bool {
	ofNVIDIA := func(in summary.Input) bool {
		return strings.HasPrefix(in.Format, "nsys") || strings.HasPrefix(in.Format, "ncu")
	}
	return len(c.Inputs) == 0 || slices.ContainsFunc(c.Inputs, func(in summary.Input) bool { return !ofNVIDIA(in) })
}
