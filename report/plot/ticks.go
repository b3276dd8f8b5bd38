package plot

import (
	"math"

	"assay/unit"
)

// ticksBetween returns round moments from low to high, about five.
func ticksBetween(low, high int64) (ticks []int64) {
	step := tickStep(max(1, high-low), 6)
	for t := low / step * step; t <= high; t += step {
		if t >= low {
			ticks = append(ticks, t)
		}
		if t > math.MaxInt64-step {
			break
		}
	}
	return ticks
}

// within keeps a place on an axis: sums of a damaged file may have wrapped.
func within(x, low, high float64) float64 {
	if math.IsNaN(x) {
		return low
	}
	return max(low, min(x, high))
}

// timeTicks returns moments from 0 to span at distances that are round
// numbers of some unit of time, at most n and one.
func timeTicks(span int64, n int64) []int64 {
	step := tickStep(span, n)
	var ticks []int64
	for t := int64(0); t <= span; t += step {
		ticks = append(ticks, t)
		if t > math.MaxInt64-step {
			break
		}
	}
	return ticks
}

func tickStep(span, n int64) int64 {
	fits := func(step int64) bool { return span/step <= n }
	for ten := int64(1); ten <= 1e10; ten *= 10 {
		for _, k := range []int64{1, 2, 5} {
			if step := ten * k; step <= 1e10 && fits(step) {
				return step
			}
		}
	}
	const minute, hour = int64(60e9), int64(3600e9)
	for _, step := range []int64{30e9, minute, 2 * minute, 5 * minute, 10 * minute, 30 * minute} {
		if fits(step) {
			return step
		}
	}
	for ten := hour; ; ten *= 10 {
		for _, k := range []int64{1, 2, 5} {
			if fits(ten * k) {
				return ten * k
			}
		}
	}
}

func tickText(ns int64) string {
	if ns == 0 {
		return "0"
	}
	return unit.Duration(ns)
}
