package compare

import (
	"strings"

	"assay/internal/lazyregexp"
)

// canonical returns the name of a kernel without the parts that a tuner, a compiler or another GPU
// changes although the kernel does the same work: the number at the end of a Triton kernel, tiles
// and stages, the architecture. Numbers of types (bf16, float32) are kept, because another type is
// different work.
func canonical(name string) string {
	s := strings.TrimPrefix(strings.TrimSpace(name), "void ")
	if m := nvjet().FindStringSubmatch(s); m != nil {
		return "nvjet_" + m[1] + "_" + m[2]
	}
	if i := strings.Index(s, "_MT"); i > 0 && strings.HasPrefix(s, "Cijk_") {
		return s[:i] // the rest is the tile of Tensile
	}
	if strings.HasPrefix(s, "triton_") {
		return tritonNumber().ReplaceAllString(s, "")
	}
	s = architecture().ReplaceAllString(s, "")
	return numbers().ReplaceAllStringFunc(s, func(n string) string {
		if typed().MatchString(n) {
			return n
		}
		return strings.TrimRight(n, "0123456789") + "#"
	})
}

var (
	// nvjet_tst_192x192_64x4_2x1_v_bz_coopB_TNN: type, tiles, and the layout at the end. The parts
	// between them are the schedule.
	nvjet = lazyregexp.New(`^nvjet_(?:sm\d+_)?([a-z]+)_.*?([TN]{3})(?:_|$)`)

	// triton_poi_fused_add_12, or triton_poi_fused_add_12_0d1d2de with the specialization of its
	// arguments.
	tritonNumber = lazyregexp.New(`_\d+(?:_(?:\d+d?[ec]*)+)?$`)

	architecture = lazyregexp.New(`^(?:(?:ampere|volta|turing|hopper|blackwell|maxwell|pascal)_|sm\d+_)`)
	numbers      = lazyregexp.New(`e[45]m[23]|[A-Za-z]*\d+`)
	typed        = lazyregexp.New(`(?i)(?:f|fp|float|int|half|e\dm)\d+$`)
)
