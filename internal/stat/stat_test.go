package stat

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// exact returns the median in unlimited precision, by counting instead of sorting: the mean of the
// least value that half of the values do not exceed and the greatest that half are not below.
func exact(values []int64) *big.Rat {
	low, high := int64(math.MaxInt64), int64(math.MinInt64)
	for _, v := range values {
		under, over := 0, 0
		for _, w := range values {
			if w <= v {
				under++
			}
			if w >= v {
				over++
			}
		}
		if 2*under >= len(values) {
			low = min(low, v)
		}
		if 2*over >= len(values) {
			high = max(high, v)
		}
	}
	sum := new(big.Int).Add(big.NewInt(low), big.NewInt(high))
	return new(big.Rat).SetFrac(sum, big.NewInt(2))
}

// floor rounds a fraction down.
func floor(r *big.Rat) int64 { return new(big.Int).Div(r.Num(), r.Denom()).Int64() } // Euclidean: rounds down

func samples(r *rand.Rand) [][]int64 {
	out := [][]int64{{3}, {1, 2}, {2, 1}, {-3, 6}, {-1, 0}, {-2, -1}, {5, 1, 3}, {4, 1, 2, 8},
		{math.MaxInt64, math.MaxInt64 - 1}, {math.MinInt64, math.MaxInt64}, {math.MinInt64, math.MinInt64 + 1, math.MaxInt64, 7}}
	for n := range 60 {
		v := make([]int64, n+1)
		for i := range v {
			v[i] = r.Int64N(1+int64(n)*3) - int64(n)
		}
		out = append(out, v)
	}
	return out
}

func TestMedian(t *testing.T) {
	for _, v := range samples(rand.New(rand.NewPCG(3, 4))) {
		before := slices.Clone(v)
		want := exact(v)
		if got := Median(v); got != floor(want) {
			t.Errorf("%v: median %d, want %v rounded down", v, got, want)
		}
		if !slices.Equal(v, before) {
			t.Errorf("Median changed its argument: %v, was %v", v, before)
		}
		middle, _ := want.Float64()
		if got := MedianBy(v, func(n int64) float64 { return float64(n) }); got != middle && slices.Max(v) < 1<<50 {
			t.Errorf("%v: median of floats %v, want %v", v, got, middle)
		}
		low, high := Middle(slices.Sorted(slices.Values(v)))
		if mean := floor(new(big.Rat).SetFrac(new(big.Int).Add(big.NewInt(low), big.NewInt(high)), big.NewInt(2))); mean != floor(want) {
			t.Errorf("%v: the middle is %d and %d, the median %v", v, low, high, want)
		}
	}
	if Median[int64](nil) != 0 || Median([]float64{}) != 0 {
		t.Error("the median of no values is not 0")
	}
	if got := Median([]float64{math.MaxFloat64, math.MaxFloat64 / 2}); got != 0.75*math.MaxFloat64 {
		t.Errorf("the median of large values is %g", got)
	}
}

func TestMAD(t *testing.T) {
	for _, v := range samples(rand.New(rand.NewPCG(5, 6)))[11:] {
		middle := floor(exact(v))
		apart := make([]int64, len(v))
		for i, x := range v {
			if apart[i] = x - middle; apart[i] < 0 {
				apart[i] = -apart[i]
			}
		}
		if median, mad := MAD(v); median != middle || mad != floor(exact(apart)) {
			t.Errorf("%v: median %d, MAD %d, want %d and %v", v, median, mad, middle, exact(apart))
		}
	}
}

func TestMediansOfOthers(t *testing.T) {
	for _, v := range samples(rand.New(rand.NewPCG(7, 8))) {
		for i, got := range MediansOfOthers(v) {
			want := int64(0)
			if others := slices.Delete(slices.Clone(v), i, i+1); len(others) > 0 {
				want = floor(exact(others))
			}
			if got != want {
				t.Errorf("%v without the value at %d: median %d, want %d", v, i, got, want)
			}
		}
	}
}

func TestRank(t *testing.T) {
	for n := int64(1); n < 300; n++ {
		for _, part := range [][2]int64{{1, 2}, {99, 100}, {1, 100}, {1, 1}} {
			want := int64(0)
			for want*part[1] < n*part[0] {
				want++
			}
			if got := Rank(n, part[0], part[1]); got != want {
				t.Errorf("%v of %d values: rank %d, want %d", part, n, got, want)
			}
		}
	}
	if got := Rank(math.MaxInt64, 1, 2); got != math.MaxInt64/2+1 {
		t.Errorf("half of the most values: rank %d", got)
	}
}
