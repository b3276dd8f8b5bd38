package stat

import (
	"slices"
	"testing"
)

// TestWarmUp: one slow step of 240 s among steps of 40 s, in records of one step and of ten; a record of ten steps
// that is slower by chance; and a start of too few records.
func TestWarmUp(t *testing.T) {
	ten := []int64{10, 10, 10, 10, 10, 10}
	for _, tc := range []struct {
		name   string
		walls  []float64
		covers []int64
		starts []int
		warm   []int
	}{
		{"steps", []float64{240, 40, 41, 40, 39, 40}, nil, []int{0}, []int{0}},
		{"means of ten steps", []float64{60, 40, 41, 40, 39, 40}, ten, []int{0}, []int{0}},
		{"a mean within the noise", []float64{43, 40, 42, 38, 39, 41}, ten, []int{0}, nil},
		{"a first step that is a little slower", []float64{55, 40, 41, 40, 39, 40}, nil, []int{0}, nil},
		{"two starts", []float64{60, 40, 40, 60, 40, 41, 40, 40}, append(ten, 10, 10), []int{0, 3}, []int{0, 3}},
		{"two records", []float64{240, 40}, nil, []int{0}, nil},
	} {
		var warm []int
		for i, is := range WarmUp(tc.walls, tc.covers, tc.starts) {
			if is {
				warm = append(warm, i)
			}
		}
		if !slices.Equal(warm, tc.warm) {
			t.Errorf("%s: %v, want %v", tc.name, warm, tc.warm)
		}
	}
}
