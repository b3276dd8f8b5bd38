// Package stat has the statistics that resist outliers: medians, deviations from them, and ranks of
// quantiles. One slow step of a job is common, and would move a mean.
//
// The median of an even number of values is the mean of the two in the middle, as in NumPy, R and
// benchmath, so that it does not depend on which end one counts from. Of whole numbers (nanoseconds,
// bytes, calls) that mean is rounded down and computed without overflow: times never pass through a
// float64. Where half a unit matters, as in a gate on calls per step, take the median of float64s.
//
// Quantiles are nearest ranks: the smallest value that at least that part of all values does not
// exceed. So a p99 is a value that occurred, or a bucket of a histogram that has one.
package stat

import "slices"

// A Number is what medians are taken of. No value may be a NaN.
type Number interface{ int64 | float64 }

// Median returns the median, or 0 if there are no values.
func Median[T Number](values []T) T { return MedianInPlace(slices.Clone(values)) }

// MedianBy returns the median of a figure of the elements, or 0 if there are none.
func MedianBy[E any, T Number](list []E, of func(E) T) T {
	values := make([]T, len(list))
	for i, e := range list {
		values[i] = of(e)
	}
	return MedianInPlace(values)
}

// MedianInPlace is [Median] without a copy: it reorders the values. It selects instead of sorting: a
// log has millions of values in each of several series.
func MedianInPlace[T Number](v []T) T {
	if len(v) == 0 {
		return 0
	}
	k := len(v) / 2
	high := selectIn(v, k)
	if len(v)%2 == 1 {
		return high
	}
	return mean(slices.Max(v[:k]), high)
}

// MAD returns the median and the median absolute deviation from it, both 0 if there are no values.
func MAD[T Number](values []T) (median, mad T) { return MADInPlace(slices.Clone(values)) }

// MADInPlace is [MAD] without a copy: it overwrites the values.
func MADInPlace[T Number](v []T) (median, mad T) {
	median = MedianInPlace(v)
	for i, x := range v {
		v[i] = max(x-median, median-x)
	}
	return median, MedianInPlace(v)
}

// MediansOfOthers returns for each value the median of all others.
func MediansOfOthers[T Number](values []T) []T {
	sorted := slices.Sorted(slices.Values(values))
	out, n := make([]T, len(values)), len(values)-1
	if n < 1 {
		return out
	}
	for i, v := range values {
		own, _ := slices.BinarySearch(sorted, v)
		at := func(k int) T { // the k-th of the others
			if k >= own {
				k++
			}
			return sorted[k]
		}
		out[i] = mean(at((n-1)/2), at(n/2))
	}
	return out
}

// Middle returns the two elements in the middle of a sorted list that is not empty. They are the same
// if their number is odd. It is for medians that must be an element: a step to show, a rank to name.
func Middle[E any](sorted []E) (low, high E) {
	n := len(sorted)
	return sorted[(n-1)/2], sorted[n/2]
}

// Rank returns how many of n values, in order, reach the quantile num/den: the nearest rank, n·num/den
// rounded up. It is exact for any n.
func Rank(n, num, den int64) int64 {
	above := den - num
	return n - (n/den*above + n%den*above/den)
}

// mean returns the middle of low and high.
func mean[T Number](low, high T) T {
	if low == high {
		return low
	}
	if a, whole := any(low).(int64); whole {
		b := any(high).(int64)
		return T(a&b + (a^b)>>1) // what both have, and half of where they differ
	}
	return low/2 + high/2
}
