// Package runsort sorts lists that consist of long parts in order, such as the events of a
// thread: a profiler writes most of them by time, one buffer after the other.
package runsort

import (
	"slices"
	"sort"
)

// Sort sorts a list. Elements that are equal keep their order. The time grows with the
// parts that are out of order, and how far their values reach into each other; a list in
// order is only looked through.
func Sort[T any](list []T, compare func(a, b T) int) { Merge(list, runs(list, compare), compare) }

// Merge sorts a list whose parts in order end at the given indices, the last one at its end,
// as Sort does. It changes the indices.
func Merge[T any](list []T, ends []int, compare func(a, b T) int) {
	var room []T
	for len(ends) > 1 {
		from, merged := 0, ends[:0]
		for i := 0; i < len(ends); i += 2 {
			last := min(i+1, len(ends)-1)
			if last > i {
				room = merge(list[from:ends[last]], ends[i]-from, room, compare)
			}
			from = ends[last]
			merged = append(merged, from)
		}
		ends = merged
	}
}

// runs returns where the parts of a list end that are in order.
func runs[T any](list []T, compare func(a, b T) int) (ends []int) {
	for i := 1; i < len(list); i++ {
		if compare(list[i-1], list[i]) > 0 {
			ends = append(ends, i)
		}
	}
	return append(ends, len(list))
}

// merge merges the two parts of a list, each of which is in order. It uses the room and
// returns it for the next merge.
func merge[T any](list []T, middle int, room []T, compare func(a, b T) int) []T {
	a, b := list[:middle], list[middle:]
	// What is before all of b, and what is after all of a, is in its place.
	at := sort.Search(len(a), func(i int) bool { return compare(a[i], b[0]) > 0 })
	if at == len(a) {
		return room
	}
	n, _ := slices.BinarySearchFunc(b, a[len(a)-1], compare)
	out := list[at:]
	a, b = append(room[:0], a[at:]...), b[:n]
	room = a
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
	return room
}
