package summary

import (
	"encoding/json"
	"fmt"
	"math/bits"
	"slices"
)

// edges are the bounds of the buckets of every Histogram, in nanoseconds: 1, 1.5, 2, 3, 5, 7 times each
// power of ten. They are whole numbers and roughly equally spaced on a log scale. The scale is fixed, so
// that the histograms of any two captures can be added.
var edges = func() []int64 {
	out := []int64{0}
	for ten := int64(10); ten <= 1e11; ten *= 10 {
		for _, tenths := range []int64{10, 15, 20, 30, 50, 70} {
			out = append(out, ten/10*tenths)
		}
	}
	return out
}()

// Edges returns the lower bounds of the buckets, in nanoseconds; the last
// bucket has no upper bound. The caller must not modify it.
func Edges() []int64 { return edges }

// A Bucket counts the durations from FromNS up to the next edge.
type Bucket struct {
	FromNS  int64 `json:"from_ns"`
	Count   int64 `json:"count"`
	TotalNS int64 `json:"total_ns"` // sum of the durations counted
}

// A Histogram is a distribution of durations: its buckets that are not empty, in ascending order. The zero
// Histogram is empty. Its sums are computed with [Plus].
type Histogram struct {
	Buckets []Bucket `json:"buckets"`
}

// Add counts one duration, which must not be negative.
func (h *Histogram) Add(ns int64) {
	h.add(Bucket{FromNS: edges[bucketOf(ns)], Count: 1, TotalNS: ns})
}

// Plus returns the sum of two distributions.
func (h Histogram) Plus(g Histogram) Histogram {
	sum := Histogram{slices.Clone(h.Buckets)}
	for _, b := range g.Buckets {
		sum.add(b)
	}
	return sum
}

// Count returns the number of durations added.
func (h Histogram) Count() (n int64) {
	for _, b := range h.Buckets {
		n = Plus(n, b.Count)
	}
	return n
}

// TotalNS returns the sum of the durations added.
func (h Histogram) TotalNS() (ns int64) {
	for _, b := range h.Buckets {
		ns = Plus(ns, b.TotalNS)
	}
	return ns
}

func (h *Histogram) add(b Bucket) {
	i := 0 // the first bucket that is not below b; written out, because a generic search calls a function per comparison
	for to := len(h.Buckets); i < to; {
		if middle := (i + to) / 2; h.Buckets[middle].FromNS < b.FromNS {
			i = middle + 1
		} else {
			to = middle
		}
	}
	if i == len(h.Buckets) || h.Buckets[i].FromNS != b.FromNS {
		h.Buckets = slices.Insert(h.Buckets, i, Bucket{FromNS: b.FromNS})
	}
	sum := &h.Buckets[i]
	sum.Count, sum.TotalNS = Plus(sum.Count, b.Count), Plus(sum.TotalNS, b.TotalNS)
}

// bucketOf returns the index of the last edge that is not above ns.
func bucketOf(ns int64) int {
	if ns <= 0 {
		return 0
	}
	i := startOf[bits.Len64(uint64(ns))]
	for i+1 < len(edges) && edges[i+1] <= ns {
		i++
	}
	return i
}

// startOf has, for each bit length, the bucket of the smallest number of that length. Other numbers of that
// length are in one of the next few buckets, so a lookup needs no search.
var startOf = func() (out [65]int) {
	for n := 1; n < 64; n++ {
		i, found := slices.BinarySearch(edges, 1<<(n-1))
		if !found {
			i--
		}
		out[n] = i
	}
	return out
}()

// MarshalJSON writes the buckets as a list. Without buckets the list is empty,
// not null.
func (h Histogram) MarshalJSON() ([]byte, error) {
	type plain Histogram // without this method
	if h.Buckets == nil {
		h.Buckets = []Bucket{}
	}
	return json.Marshal(plain(h))
}

// JSONShape returns what MarshalJSON encodes.
func (Histogram) JSONShape() any {
	type plain Histogram // without the methods
	return plain{}
}

// UnmarshalJSON reads a histogram and checks that its buckets are those of the
// scale.
func (h *Histogram) UnmarshalJSON(b []byte) error {
	type plain Histogram
	if err := json.Unmarshal(b, (*plain)(h)); err != nil {
		return err
	}
	if len(h.Buckets) == 0 {
		h.Buckets = nil // an empty histogram is the zero Histogram
	}
	for i, b := range h.Buckets {
		if _, ok := slices.BinarySearch(edges, b.FromNS); !ok || i > 0 && h.Buckets[i-1].FromNS >= b.FromNS {
			return fmt.Errorf("histogram: bucket %d starts at %d ns, which is not a rising edge of the scale", i, b.FromNS)
		}
	}
	return nil
}
