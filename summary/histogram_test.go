package summary

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestEdges checks the scale: it covers all durations, is ascending, and no
// step after the first is wider than a factor of 1.7.
func TestEdges(t *testing.T) {
	edges := Edges()
	if edges[0] != 0 {
		t.Errorf("the scale starts at %d, want 0", edges[0])
	}
	for i := 2; i < len(edges); i++ {
		if ratio := float64(edges[i]) / float64(edges[i-1]); ratio <= 1 || ratio > 1.7 {
			t.Errorf("from %d to %d is a factor of %g", edges[i-1], edges[i], ratio)
		}
	}
	for _, want := range []int64{10_000, 1_000_000, 1_000_000_000} {
		if !slices.Contains(edges, want) {
			t.Errorf("%d ns is no edge", want)
		}
	}
}

// TestHistogramAdd finds the bucket of each duration by checking every edge.
func TestHistogramAdd(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	durations := append(slices.Clone(Edges()), 1, 9, 11, 14, math.MaxInt64/2)
	for range 1000 {
		durations = append(durations, rnd.Int64()>>rnd.IntN(63)/4)
	}
	for _, ns := range durations {
		var want Bucket
		for _, e := range Edges() {
			if e <= ns {
				want = Bucket{FromNS: e, Count: 1, TotalNS: ns}
			}
		}
		var h Histogram
		h.Add(ns)
		if !slices.Equal(h.Buckets, []Bucket{want}) {
			t.Fatalf("%d ns falls into %+v, want %+v", ns, h.Buckets, want)
		}
	}
}

func TestHistogramSums(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		var whole, a, b Histogram
		var count, total int64
		for range rnd.IntN(50) {
			ns := rnd.Int64N(1e9) >> rnd.IntN(30)
			count++
			total += ns
			whole.Add(ns)
			if rnd.IntN(2) == 0 {
				a.Add(ns)
			} else {
				b.Add(ns)
			}
		}
		if whole.Count() != count || whole.TotalNS() != total {
			t.Fatalf("%+v: count %d, total %d, want %d, %d", whole, whole.Count(), whole.TotalNS(), count, total)
		}
		before := slices.Clone(a.Buckets)
		ab, ba := a.Plus(b), b.Plus(a)
		if !slices.Equal(ab.Buckets, whole.Buckets) || !slices.Equal(ba.Buckets, whole.Buckets) {
			t.Fatalf("%+v plus %+v is %+v and %+v, want %+v", a, b, ab, ba, whole)
		}
		if !slices.Equal(a.Buckets, before) {
			t.Fatalf("Plus changed its receiver to %+v", a)
		}
		text, err := json.Marshal(whole)
		if err != nil {
			t.Fatal(err)
		}
		var back Histogram
		if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(back, whole) {
			t.Fatalf("%s reads as %+v, %v", text, back, err)
		}
	}
}

func TestHistogramErrors(t *testing.T) {
	for text, want := range map[string]string{
		`{"buckets":[{"from_ns":12}]}`:                "bucket 0 starts at 12 ns",
		`{"buckets":[{"from_ns":20},{"from_ns":10}]}`: "bucket 1 starts at 10 ns",
		`{"buckets":[{"from_ns":10},{"from_ns":10}]}`: "bucket 1 starts at 10 ns",
		`{"buckets":"none"}`:                          "cannot unmarshal string",
	} {
		var h Histogram
		if err := json.Unmarshal([]byte(text), &h); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want %q", text, err, want)
		}
	}
}

// TestBucketOf compares the fast search with a plain search, at and next to
// every edge and every power of two.
func TestBucketOf(t *testing.T) {
	check := func(ns int64) {
		want := 0
		for i, edge := range Edges() {
			if edge <= ns {
				want = i
			}
		}
		if got := bucketOf(ns); got != want {
			t.Errorf("bucketOf(%d) is %d, want %d", ns, got, want)
		}
	}
	around := func(n int64) {
		check(n - 1)
		check(n)
		check(n + 1)
	}
	for _, edge := range Edges() {
		around(edge)
	}
	for n := range 63 {
		around(1 << n)
	}
	check(math.MaxInt64)
	check(math.MinInt64)
}
