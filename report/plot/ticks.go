package plot

import (
	"math"
	"strconv"

	"assay/internal/unit"
)

// CountTicks returns the multiples of a round number from low to high, at most n and one, such
// as numbers of steps: 0, 50, 100.
func CountTicks(low, high int64, n int64) (ticks []Tick) {
	for _, at := range ticksAt(low, high, countStep(high-low, n)) {
		ticks = append(ticks, Tick{float64(at), unit.Count(at)})
	}
	return ticks
}

// TimeTicks returns round times in ns from low to high, at most n and one. All have the unit of
// the last one if that is minutes or hours.
func TimeTicks(low, high int64, n int64) (ticks []Tick) {
	text := tickText
	const minute, hour = int64(60e9), int64(3600e9)
	in := func(unit int64, name string) func(int64) string {
		return func(ns int64) string {
			if ns == 0 {
				return "0"
			}
			return strconv.FormatFloat(float64(ns)/float64(unit), 'f', -1, 64) + " " + name
		}
	}
	switch {
	case high >= 2*hour:
		text = in(hour, "h")
	case high >= 10*minute:
		text = in(minute, "min")
	}
	for _, at := range ticksAt(low, high, tickStep(max(1, high-low), n)) {
		ticks = append(ticks, Tick{float64(at), text(at)})
	}
	return ticks
}

// countStep returns the smallest of 1, 2, 5, 10 and so on that divides a span into at most n
// parts.
func countStep(span, n int64) int64 {
	for ten := int64(1); ten < math.MaxInt64/10; ten *= 10 {
		for _, k := range []int64{1, 2, 5} {
			if span/(ten*k) <= n {
				return ten * k
			}
		}
	}
	return math.MaxInt64 / 10
}

// ticksAt returns the multiples of a step from low to high.
func ticksAt(low, high, step int64) (ticks []int64) {
	first := low / step * step
	if first < low {
		first += step
	}
	for at := first; at <= high && len(ticks) < 100; at += step {
		ticks = append(ticks, at)
		if at > math.MaxInt64-step {
			break
		}
	}
	return ticks
}
