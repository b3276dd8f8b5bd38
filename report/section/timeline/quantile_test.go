package timeline

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"assay/summary"
)

// TestQuantile holds quantiles to sorted lists: the bucket that is printed is
// that of the value which has no more than the part below it.
func TestQuantile(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		var h summary.Histogram
		var list []int64
		for range 1 + rnd.IntN(250) {
			ns := rnd.Int64N(1 << (1 + rnd.IntN(40)))
			h.Add(ns)
			list = append(list, ns)
		}
		slices.Sort(list)
		for _, part := range []fraction{{1, 2}, {99, 100}, {1, 1}} {
			rank := int(math.Ceil(float64(int64(len(list))*part.num) / float64(part.den)))
			value := list[max(1, rank)-1]
			want := summary.Histogram{}
			want.Add(value)
			if got := quantile(h, part); got != bucketText(want.Buckets[0].FromNS) {
				t.Fatalf("%d/%d of %v is %s, want the bucket of %d", part.num, part.den, list, got, value)
			}
		}
	}
	huge := summary.Histogram{Buckets: []summary.Bucket{{FromNS: 0, Count: math.MaxInt64 - 5}, {FromNS: 10_000, Count: 5}}}
	if got := quantile(huge, fraction{99, 100}); got != "< 1 µs" {
		t.Errorf("p99 of very many is %s", got)
	}
	if got := quantile(summary.Histogram{}, fraction{1, 2}); got != "–" {
		t.Errorf("the median of nothing is %s", got)
	}
	for from, want := range map[int64]string{10: "< 1 µs", 700: "< 1 µs", 1000: "1–1.5 µs", 15_000: "15–20 µs", 700_000_000_000: "≥ 11.7 min", 11: "–"} {
		if got := bucketText(from); got != want {
			t.Errorf("the bucket from %d is %s, want %s", from, got, want)
		}
	}
}
