package timeline

import (
	"strings"

	"assay/judge/rule"
	"assay/judge/tree"
	"assay/summary"
)

// copyKernels judges the time of kernels that only copy, cast or transpose, if it is a twentieth of the window.
func copyKernels(c *Evaluator) []tree.Reading {
	copies := func(k summary.Kernel) bool { return computes(k) && k.Category == "layout" }
	if 20*largestOf(c, copies).Of < c.Total.Window() {
		return nil
	}
	return shareOfKernelsBy(c, rule.CopyKernels, computes, copies, copyKind)
}

// copyKind returns why a kernel copies, as far as its name tells and the advice depends on it.
func copyKind(k summary.Kernel) string {
	name := strings.ToLower(k.Name)
	for kind, words := range map[string][]string{
		"channels": {"nchwtonhwc", "nhwctonchw", "nchw_to_nhwc", "nhwc_to_nchw", "im2nhwc", "batched_transpose"},
		"casts":    {"float16_copy", "float8_copy", "tofloat32_copy", "withcast", "cast_kernel", "casttensor", "convert_kernel"}, // float16 is a part of bfloat16
	} {
		for _, w := range words {
			if strings.Contains(name, w) {
				return kind
			}
		}
	}
	return "copies"
}
