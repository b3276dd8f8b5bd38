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
