// Package runsort sorts lists that consist of long sorted runs, such as the events of a thread: a
// profiler writes most of them by time, one buffer after the other.
package runsort

import (
	"slices"
	"sort"
)

// Sort sorts a list in place. The sort is stable. A sorted list takes one pass; otherwise the time
// grows with the number of runs and with how far the values of neighbouring runs overlap.
func Sort[T any](list []T, compare func(a, b T) int) { Merge(list, runs(list, compare), compare) }

// Merge is [Sort] for a list whose sorted runs are known: they end at the given indices, the last at
// the end of the list. It overwrites ends.
func Merge[T any](list []T, ends []int, compare func(a, b T) int) {
	var buffer []T
	for len(ends) > 1 {
		from, merged := 0, ends[:0]
		for i := 0; i < len(ends); i += 2 {
			last := min(i+1, len(ends)-1)
			if last > i {
				buffer = merge(list[from:ends[last]], ends[i]-from, buffer, compare)
			}
			from = ends[last]
			merged = append(merged, from)
		}
		ends = merged
	}
}

// Each calls f with the elements of a list in the order of [Merge], and leaves the list as it is. It is for few runs.
func Each[T any](list []T, ends []int, compare func(a, b T) int, f func(*T)) {
	parts, from := make([][]T, 0, len(ends)), 0
	for _, end := range ends {
		if end > from {
			parts = append(parts, list[from:end])
		}
		from = end
	}
	for len(parts) > 0 {
		best := 0
		for i := 1; i < len(parts); i++ {
			if compare(parts[i][0], parts[best][0]) < 0 {
				best = i
			}
		}
		f(&parts[best][0])
		if parts[best] = parts[best][1:]; len(parts[best]) == 0 {
			parts = slices.Delete(parts, best, best+1)
		}
	}
}

// runs returns the ends of the sorted runs of a list.
func runs[T any](list []T, compare func(a, b T) int) (ends []int) {
	for i := 1; i < len(list); i++ {
		if compare(list[i-1], list[i]) > 0 {
			ends = append(ends, i)
		}
	}
	return append(ends, len(list))
}

// merge merges the sorted parts list[:middle] and list[middle:]. It uses buffer, which it may grow,
// and returns it for the next merge.
func merge[T any](list []T, middle int, buffer []T, compare func(a, b T) int) []T {
	a, b := list[:middle], list[middle:]
	// Elements of a before all of b, and of b after all of a, are in place already.
	at := sort.Search(len(a), func(i int) bool { return compare(a[i], b[0]) > 0 })
	if at == len(a) {
		return buffer
	}
	n, _ := slices.BinarySearchFunc(b, a[len(a)-1], compare)
	out := list[at:]
	a, b = append(buffer[:0], a[at:]...), b[:n]
	buffer = a
	for len(a) > 0 {
		if len(b) == 0 {
			copy(out, a)
			break
		}
		if compare(b[0], a[0]) < 0 {
			out[0], b = b[0], b[1:]
		} else {
			out[0], a = a[0], a[1:]
		}
		out = out[1:]
	}
	return buffer
}
