package view

import (
	"slices"
	"strings"

	"assay/summary"
)

// OfAscend reports whether a summary without GPUs comes from a trace of Ascend's profiler, which the names
// of the runtime's calls show. Such a trace has slices of the NPU among those of the CPU.
func OfAscend(s *summary.Summary) bool {
	return len(s.Devices) == 0 && slices.ContainsFunc(s.Spans, func(r summary.Span) bool { return strings.HasPrefix(r.Name, "AscendCL@") })
}
