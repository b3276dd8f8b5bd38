package stat

import "slices"

// selectIn returns the value that is at k if v is sorted, and reorders v so that no value before k is
// greater and none behind it is less. It is Hoare's selection with the median of three. If that does
// not halve the rest in many turns, it sorts.
func selectIn[T Number](v []T, k int) T {
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
func pivotOf[T Number](a, b, c T) T {
	return max(min(a, b), min(max(a, b), c))
}
