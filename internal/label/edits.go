package label

import "slices"

// Edits returns how many bytes must be inserted, removed or replaced to make b of a.
func Edits(a, b string) int { return edits(a, b)[len(b)] }

// EditsOfStart returns the least of these numbers for the beginnings of b: "gpu.busy" is near
// "gpu.busy_share".
func EditsOfStart(a, b string) int { return slices.Min(edits(a, b)) }

// edits returns how many edits make each beginning of b of a, by its length.
func edits(a, b string) []int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := before
			if a[i] != b[j] {
				change++
			}
			before = row[j+1]
			row[j+1] = min(change, row[j]+1, before+1)
		}
	}
	return row
}
