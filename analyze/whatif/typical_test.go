package whatif_test

import (
	"testing"

	"assay/analyze/whatif"
)

// TestTypicalOf: the median without the first step; if that is withheld, the closest within a tenth.
func TestTypicalOf(t *testing.T) {
	for _, c := range []struct {
		lengths  []int64
		withheld []int
		want     int
	}{
		{lengths: []int64{90}, want: 0},
		{lengths: []int64{900, 30, 50, 40}, want: 3},
		{lengths: []int64{900, 100, 104, 97}, withheld: []int{1}, want: 3},
		{lengths: []int64{900, 100, 140, 50}, withheld: []int{1}, want: 1}, // no other is near
	} {
		got := whatif.TypicalOf(len(c.lengths), func(i int) (int64, bool) {
			for _, w := range c.withheld {
				if w == i {
					return c.lengths[i], true
				}
			}
			return c.lengths[i], false
		})
		if got != c.want {
			t.Errorf("%v without %v: step %d, want %d", c.lengths, c.withheld, got, c.want)
		}
	}
}
