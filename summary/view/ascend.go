package view

import (
	"slices"
	"strings"

	"assay/summary"
)

// OfAscend reports whether a summary without GPUs is of a trace of Ascend's profiler, by
// the calls of its runtime. Such a trace has slices of the NPU beside those of the CPU.
func OfAscend(s *summary.Summary) bool {
	return len(s.Devices) == 0 && slices.ContainsFunc(s.Spans, func(r summary.Span) bool { return strings.HasPrefix(r.Name, "AscendCL@") })
}
