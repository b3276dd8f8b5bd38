package logs

import "slices"

// medianIn returns the median of values, which it reorders. It selects instead of sorting, because a
// log may have millions of values in each series. Values must not be NaN.
func medianIn(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	k := len(v) / 2
	high := selectIn(v, k)
	if len(v)%2 == 1 {
		return high
	}
	low := slices.Max(v[:k])
	if low == high {
		return low
	}
	return low/2 + high/2
}

// selectIn returns the k-th smallest value of v, from 0, and reorders v so that no value before k is
// greater and no value after it is less. It is quickselect with median of three. If that makes too
// little progress, it sorts.
func selectIn(v []float64, k int) float64 {
	low, high := 0, len(v)-1
	for turns := 0; high-low > 32; turns++ {
		if turns > 64 {
			break
		}
		p := pivotOf(v[low], v[low+(high-low)/2], v[high])
		i, j := low, high
		for i <= j {
			for v[i] < p {
				i++
			}
			for v[j] > p {
				j--
			}
			if i <= j {
				v[i], v[j] = v[j], v[i]
				i, j = i+1, j-1
			}
		}
		switch {
		case k <= j:
			high = j
		case k >= i:
			low = i
		default:
			return v[k]
		}
	}
	slices.Sort(v[low : high+1])
	return v[k]
}

// pivotOf returns the middle of three values.
func pivotOf(a, b, c float64) float64 {
	return max(min(a, b), min(max(a, b), c))
}
