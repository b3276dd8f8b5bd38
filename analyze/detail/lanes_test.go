package detail

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestLargest compares with a sort of all values. Some values are equal.
func TestLargest(t *testing.T) {
	rnd := rand.New(rand.NewPCG(8, 9))
	for range 5000 {
		list := make([]int64, rnd.IntN(60))
		for i := range list {
			list[i] = rnd.Int64N(1 + rnd.Int64N(40))
		}
		want := slices.Clone(list)
		slices.Sort(want)
		slices.Reverse(want)
		n := rnd.IntN(len(list) + 3)
		if got := largest(slices.Clone(list), n); !slices.Equal(got, want[:min(n, len(want))]) {
			t.Fatalf("the %d largest of %v are %v", n, list, got)
		}
	}
}
