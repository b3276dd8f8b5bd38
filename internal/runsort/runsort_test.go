package runsort

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// An element is compared by its key; its number shows whether equal ones kept their order.
type element struct{ key, number int }

func byKey(a, b element) int { return cmp.Compare(a.key, b.key) }

// TestSort compares with the stable sort of the standard library: lists of random parts in
// order, which reach into each other more or less, with many equal keys.
func TestSort(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		var list []element
		for part := range rnd.IntN(12) {
			key := part * rnd.IntN(20)
			for range rnd.IntN(30) {
				list = append(list, element{key, len(list)})
				key += rnd.IntN(3)
			}
		}
		if rnd.IntN(4) == 0 {
			rnd.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
			for i := range list {
				list[i].number = i
			}
		}
		want := slices.Clone(list)
		slices.SortStableFunc(want, byKey)
		var each []element
		if Each(list, runs(list, byKey), byKey, func(x *element) { each = append(each, *x) }); !slices.Equal(each, want) {
			t.Fatalf("%v, want %v", each, want)
		}
		if Sort(list, byKey); !slices.Equal(list, want) {
			t.Fatalf("%v, want %v", list, want)
		}
	}
}

// TestCost: a list in order is compared once with itself, and one of two parts that do not
// share keys hardly more.
func TestCost(t *testing.T) {
	const n = 1 << 16
	list := make([]int, n)
	for i := range list {
		list[i] = (i + n/2) % n
	}
	for range 2 {
		compared := 0
		Sort(list, func(a, b int) int { compared++; return cmp.Compare(a, b) })
		if !slices.IsSorted(list) || compared > 2*n {
			t.Errorf("%d comparisons of %d elements", compared, n)
		}
	}
}
