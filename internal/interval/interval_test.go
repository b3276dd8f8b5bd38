package interval

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func ExampleSet_And() {
	compute := Of(Span{0, 10}, Span{20, 30})
	comm := Of(Span{5, 25})
	fmt.Println(compute.And(comm).Spans(), compute.And(comm).Len())
	// Output: [{5 10} {20 25}] 10
}

// horizon is the last time of random spans: one bit of a uint64 each.
const horizon = 64

// TestAgainstBitmap checks every operation against the obviously correct
// implementation: one bit per nanosecond.
func TestAgainstBitmap(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		a, b, clip := randomSpans(rnd), randomSpans(rnd), randomSpan(rnd)
		x, y := bits(a), bits(b)
		check := func(op string, got Set, want uint64) {
			t.Helper()
			if bits(got.spans) != want {
				t.Fatalf("%s(%v, %v, %v) = %v, want bits %064b", op, a, b, clip, got.spans, want)
			}
			for i, s := range got.spans {
				if s.Empty() || i > 0 && got.spans[i-1].End >= s.Start {
					t.Fatalf("%s(%v, %v, %v) = %v: not canonical", op, a, b, clip, got.spans)
				}
			}
		}
		input := slices.Clone(a)
		check("Of", Of(a...), x)
		if !slices.Equal(a, input) {
			t.Fatalf("Of reordered its argument %v to %v", input, a)
		}
		check("And", Of(a...).And(Of(b...)), x&y)
		check("Or", Of(a...).Or(Of(b...)), x|y)
		check("Sub", Of(a...).Sub(Of(b...)), x&^y)
		check("Clip", Of(a...).Clip(clip), x&bits([]Span{clip}))
		var built Builder
		for _, s := range a {
			built.Add(s)
		}
		check("Builder", built.Set(), x)
		check("Builder after Set", built.Set(), 0)
	}
}

// TestSortedInput checks that the fast path for sorted spans, which random
// spans rarely take, gives the same result as the slow one.
func TestSortedInput(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		shuffled := randomSpans(rnd)
		sorted := slices.SortedFunc(slices.Values(shuffled), byStart)
		if got, want := Of(sorted...), Of(shuffled...); !slices.Equal(got.spans, want.spans) {
			t.Fatalf("Of(%v) = %v, Of(%v) = %v", sorted, got.spans, shuffled, want.spans)
		}
	}
}

func TestBounds(t *testing.T) {
	if got := (Set{}).Bounds(); got != (Span{}) {
		t.Errorf("the empty set has bounds %v", got)
	}
	if got, want := Of(Span{7, 9}, Span{-3, -1}, Span{90, 90}).Bounds(), (Span{-3, 9}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestExtremes uses times for which unchecked additions or comparisons of
// lengths overflow.
func TestExtremes(t *testing.T) {
	const lo, hi = math.MinInt64, math.MaxInt64
	whole := Span{lo, hi}
	for _, tc := range []struct {
		span Span
		want int64
	}{
		{Span{hi - 1, hi}, 1},
		{Span{lo, lo + 5}, 5},
		{Span{0, hi}, hi},
		{Span{-1, hi}, hi}, // one too many for int64
		{whole, hi},
		{Span{hi, lo}, 0},
		{Span{5, 5}, 0},
	} {
		if got := tc.span.Len(); got != tc.want {
			t.Errorf("%v has length %d, want %d", tc.span, got, tc.want)
		}
	}
	ends := Of(Span{lo, lo + 10}, Span{hi - 10, hi})
	if got := ends.Len(); got != 20 {
		t.Errorf("the ends of time are %d long, want 20", got)
	}
	if got, want := Of(whole).Sub(ends).Spans(), []Span{{lo + 10, hi - 10}}; !slices.Equal(got, want) {
		t.Errorf("Sub: got %v, want %v", got, want)
	}
	if got := Of(Span{lo, 0}, Span{1, hi}).Len(); got != hi {
		t.Errorf("a length that does not fit is %d, want %d", got, int64(hi))
	}
	if got, want := Partition(Span{hi - 20, hi}, ends), []int64{10, 10}; !slices.Equal(got, want) {
		t.Errorf("Partition at the end of time: got %v, want %v", got, want)
	}
	if got, want := Partition(Span{lo, lo + 30}, ends), []int64{20, 10}; !slices.Equal(got, want) {
		t.Errorf("Partition at the start of time: got %v, want %v", got, want)
	}
	if got, want := Partition(Span{0, hi}, Of(Span{0, 1})), []int64{hi - 1, 1}; !slices.Equal(got, want) {
		t.Errorf("Partition past the last span: got %v, want %v", got, want)
	}
	if got, want := Partition(whole, Of(whole)), []int64{0, hi}; !slices.Equal(got, want) {
		t.Errorf("Partition of all time: got %v, want %v", got, want)
	}
}

func randomSpan(rnd *rand.Rand) Span {
	start := rnd.Int64N(horizon)
	return Span{start, start + rnd.Int64N(horizon-start+1)}
}

func randomSpans(rnd *rand.Rand) []Span {
	out := make([]Span, rnd.IntN(8))
	for i := range out {
		out[i] = randomSpan(rnd)
		if rnd.IntN(8) == 0 { // a reversed span is empty
			out[i].Start, out[i].End = out[i].End, out[i].Start
		}
	}
	return out
}

func bits(spans []Span) (m uint64) {
	for _, s := range spans {
		for ns := s.Start; ns < s.End; ns++ {
			m |= 1 << ns
		}
	}
	return m
}
