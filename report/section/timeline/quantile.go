package timeline

import (
	"slices"
	"strings"

	"assay/internal/stat"
	"assay/internal/unit"
	"assay/summary"
)

// A fraction is a part of a whole, as whole numbers, so that ranks are exact.
type fraction struct{ num, den int64 }

// quantile returns the bucket of the value that is not below the given part of all
// values. A histogram has no exact values. It is [unit.None] if there are no values.
func quantile(h summary.Histogram, part fraction) string {
	n := h.Count()
	if n <= 0 {
		return unit.None
	}
	reached, seen := stat.Rank(n, part.num, part.den), int64(0)
	for _, b := range h.Buckets {
		if seen += b.Count; seen >= reached {
			return bucketText(b.FromNS)
		}
	}
	return unit.None
}

// clockStep is the duration in ns below which times from the CPU to the GPU are not
// distinguished.
const clockStep = 1000

// bucketText prints the durations that a bucket counts: "10–15 µs".
func bucketText(from int64) string {
	edges := summary.Edges()
	i, found := slices.BinarySearch(edges, from)
	switch {
	case !found:
		return unit.None
	case i+1 == len(edges):
		return "≥ " + unit.Duration(from)
	case i+1 < len(edges) && edges[i+1] <= clockStep:
		return "< " + unit.Duration(clockStep) // profilers align the clocks of CPU and GPU to about that
	}
	low, high := unit.Duration(from), unit.Duration(edges[i+1])
	number, of, _ := strings.Cut(low, " ")
	if _, other, _ := strings.Cut(high, " "); of == other {
		low = number
	}
	return low + "–" + high
}
