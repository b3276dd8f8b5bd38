package unit

import "math"

// Plus adds two lengths, sizes or counts. On overflow it returns math.MaxInt64
// or math.MinInt64. Damaged times can add up to more than int64 holds, and a
// sum that wraps around would be a small or negative number that looks like a
// measurement.
func Plus(a, b int64) int64 {
	switch {
	case b > 0 && a > math.MaxInt64-b:
		return math.MaxInt64
	case b < 0 && a < math.MinInt64-b:
		return math.MinInt64
	}
	return a + b
}

// Mean returns total/n rounded half up, or 0 if n is 0.
func Mean(total, n int64) int64 {
	if n <= 0 {
		return 0
	}
	m, rest := total/n, total%n
	if rest >= n-rest {
		m++
	}
	return m
}
