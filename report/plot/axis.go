package plot

import (
	"math"

	"assay/internal/unit"
)

// An axis maps values to pixels: low is at x, and high at the end of its length.
type axis struct{ low, high, x, length float64 }

// at returns the position of a value. Values beyond an end are clamped to it, because sums of a
// damaged file may have any value.
func (a axis) at(v float64) float64 {
	place := (v - a.low) / (a.high - a.low)
	if math.IsNaN(place) {
		place = 0
	}
	return a.x + float64(a.length*max(0, min(place, 1)))
}

// grid draws a line from top to bottom at each tick, and its time below.
func (c *Canvas) grid(a axis, ticks []int64, top, bottom float64) {
	for _, tick := range ticks {
		x := a.at(float64(tick))
		c.line(x, top, x, bottom, 1, colorGrid)
		c.text(x, bottom+18, tickText(tick), textStyle{size: sizeSmall, color: colorGrey, align: center})
	}
}

// scale draws a short line below the plane at each tick, and its time below that.
func (c *Canvas) scale(a axis, ticks []int64, bottom float64) {
	for _, tick := range ticks {
		x := a.at(float64(tick))
		c.line(x, bottom, x, bottom+5, 1, colorGrey)
		c.text(x, bottom+19, tickText(tick), textStyle{size: sizeSmall, color: colorGrey, align: center})
	}
}

// ticksBetween returns at most n+1 times from low to high, in ns, that are multiples of a round
// time.
func ticksBetween(low, high, n int64) (ticks []int64) {
	step := tickStep(max(1, high-low), n)
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

// tickStep returns the shortest round time that divides a span into at most n
// parts.
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

// tickText prints a time of an axis.
func tickText(ns int64) string {
	const hour = 3600e9
	switch {
	case ns == 0:
		return "0"
	case ns == hour: // between two ticks in hours, or above minutes
		return "1 h"
	}
	return unit.Duration(ns)
}
