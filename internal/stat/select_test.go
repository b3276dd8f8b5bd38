package stat

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSelect: selection returns what sorting does, for values in order, with many ties, and by chance.
func TestSelect(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	shapes := map[string]func(i, n int) float64{
		"rising": func(i, _ int) float64 { return float64(i) }, "falling": func(i, n int) float64 { return float64(n - i) },
		"one value": func(int, int) float64 { return 7 }, "few values": func(int, int) float64 { return float64(r.IntN(3)) },
		"by chance": func(int, int) float64 { return r.NormFloat64() }, "organ": func(i, n int) float64 { return float64(min(i, n-i)) },
		"saw": func(i, _ int) float64 { return float64(i % 17) },
	}
	for name, shape := range shapes {
		for _, n := range []int{1, 2, 3, 31, 33, 34, 100, 1001, 20_000} {
			v := make([]float64, n)
			for i := range v {
				v[i] = shape(i, n)
			}
			sorted := slices.Sorted(slices.Values(v))
			want := (sorted[(n-1)/2] + sorted[n/2]) / 2
			if got := MedianInPlace(slices.Clone(v)); got != want {
				t.Errorf("%s of %d: median %g, want %g", name, n, got, want)
			}
			for _, k := range []int{0, n / 3, n - 1} {
				if got := selectIn(slices.Clone(v), k); got != sorted[k] {
					t.Errorf("%s of %d: value %d is %g, want %g", name, n, k, got, sorted[k])
				}
			}
		}
	}
}

// BenchmarkMedian measures the median of a series of a long log.
func BenchmarkMedian(b *testing.B) {
	v := make([]float64, 500_000)
	for i := range v {
		v[i] = float64(i * 7919 % 100_003)
	}
	b.SetBytes(int64(8 * len(v)))
	scratch := make([]float64, len(v))
	for b.Loop() {
		copy(scratch, v)
		MedianInPlace(scratch)
	}
}
