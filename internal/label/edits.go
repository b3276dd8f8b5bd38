package label

import "slices"

// Edits returns the edit distance of a and b: the number of bytes to insert, remove or replace.
func Edits(a, b string) int { return edits(a, b)[len(b)] }

// EditsOfStart returns the smallest edit distance of a and any prefix of b, so "gpu.busy" is near
// "gpu.busy_share".
func EditsOfStart(a, b string) int { return slices.Min(edits(a, b)) }

// edits returns the edit distances of a and each prefix of b, by length of the prefix.
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
