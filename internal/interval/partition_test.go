package interval

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

func ExamplePartition() {
	// time     0    10   20   30  36  40
	// compute  ##########         ####
	// comm          ##########
	compute := Of(Span{0, 20}, Span{36, 40})
	comm := Of(Span{10, 30})
	cell := Partition(Span{0, 40}, compute, comm)
	fmt.Println("idle", cell[0b00], "compute only", cell[0b01], "comm only", cell[0b10], "both", cell[0b11])
	// Output: idle 6 compute only 14 comm only 10 both 10
}

// TestPiecesAgainstBitmap checks each piece against the layers, one bit per
// nanosecond, and that the pieces tile the window.
func TestPiecesAgainstBitmap(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for range 5000 {
		layers, drawn := randomLayers(rnd)
		window := randomSpan(rnd)
		at, last := window.Start, ^uint(0)
		for piece, mask := range Pieces(window, layers...) {
			if piece.Start != at || piece.Empty() || mask == last {
				t.Fatalf("%v of %v: piece %v mask %b after %d mask %b", window, layers, piece, mask, at, last)
			}
			for ns := piece.Start; ns < piece.End; ns++ {
				if want := maskAt(drawn, ns); mask != want {
					t.Fatalf("%v of %v: at %d mask %b, want %b", window, layers, ns, mask, want)
				}
			}
			at, last = piece.End, mask
		}
		if at != window.End {
			t.Fatalf("%v of %v: pieces end at %d", window, layers, at)
		}
	}
}

// TestPartitionAgainstBitmap counts nanoseconds one at a time.
func TestPartitionAgainstBitmap(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	for range 5000 {
		layers, drawn := randomLayers(rnd)
		window := randomSpan(rnd)
		want := make([]int64, 1<<len(layers))
		for ns := window.Start; ns < window.End; ns++ {
			want[maskAt(drawn, ns)]++
		}
		if got := Partition(window, layers...); !slices.Equal(got, want) {
			t.Fatalf("Partition(%v, %v) = %v, want %v", window, layers, got, want)
		}
	}
}

// TestPartitionAddsUp checks the guarantees of Partition's doc comment for
// times that a bitmap cannot represent: the cells sum to the window, adjoining
// windows add up to the whole, and clipping first does not change the result.
func TestPartitionAddsUp(t *testing.T) {
	rnd := rand.New(rand.NewPCG(9, 10))
	const base, long = int64(1_700_000_000_000_000_000), int64(10_000_000_000)
	for range 500 {
		layers := make([]Set, rnd.IntN(MaxLayers+1))
		for i := range layers {
			var b Builder
			for range rnd.IntN(50) {
				at := base + rnd.Int64N(long)
				b.Add(Span{at, at + rnd.Int64N(long/20)})
			}
			layers[i] = b.Set()
		}
		cuts := []int64{base - 100, base + rnd.Int64N(long), base + rnd.Int64N(long), base + 2*long}
		slices.Sort(cuts)
		whole := Span{cuts[0], cuts[len(cuts)-1]}
		got := Partition(whole, layers...)
		if sum(got) != whole.Len() {
			t.Fatalf("cells %v sum to %d, window is %d", got, sum(got), whole.Len())
		}
		added := make([]int64, len(got))
		for i := range cuts[1:] {
			window := Span{cuts[i], cuts[i+1]}
			clipped := make([]Set, len(layers))
			for j, l := range layers {
				clipped[j] = l.Clip(window)
			}
			part := Partition(window, layers...)
			if alt := Partition(window, clipped...); !slices.Equal(part, alt) {
				t.Fatalf("cells %v, of the clipped layers %v", part, alt)
			}
			for mask, ns := range part {
				added[mask] += ns
			}
		}
		if !slices.Equal(added, got) {
			t.Fatalf("parts add up to %v, the whole is %v", added, got)
		}
	}
}

func TestPiecesStopsEarly(t *testing.T) {
	n := 0
	for range Pieces(Span{0, 40}, Of(Span{0, 20}, Span{36, 40})) {
		if n++; n == 2 {
			break
		}
	}
	if n != 2 {
		t.Errorf("got %d pieces, want to stop at 2", n)
	}
}

func TestTooManyLayers(t *testing.T) {
	defer func() {
		if got, want := recover(), "interval: 9 layers, at most 8"; got != want {
			t.Errorf("panics with %v, want %q", got, want)
		}
	}()
	Partition(Span{0, 1}, make([]Set, 9)...)
}

// TestPartitionAllocates checks that the number of allocations does not depend
// on the number of spans.
func TestPartitionAllocates(t *testing.T) {
	few, many := stream(10, 0), stream(10_000, 0)
	allocs := func(s Set) float64 {
		window := s.Bounds()
		return testing.AllocsPerRun(10, func() { Partition(window, s, s) })
	}
	if a, b := allocs(few), allocs(many); a != b || a > 8 {
		t.Errorf("%g allocations for 10 spans, %g for 10,000", a, b)
	}
}

func BenchmarkPartition(b *testing.B) {
	const n = 1_000_000
	layers := []Set{stream(n, 0), stream(n, 700), stream(n/10, 300), stream(n/100, 100)}
	window := Span{0, layers[0].Bounds().End}
	for b.Loop() {
		if got := sum(Partition(window, layers...)); got != window.Len() {
			b.Fatalf("cells sum to %d, window is %d", got, window.Len())
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(2.11*n), "ns/span")
}

func BenchmarkOfSorted(b *testing.B) {
	spans := stream(1_000_000, 0).Spans()
	for b.Loop() {
		if got := Of(spans...); len(got.spans) != len(spans) {
			b.Fatalf("got %d spans, want %d", len(got.spans), len(spans))
		}
	}
}

func BenchmarkOfShuffled(b *testing.B) {
	spans := slices.Clone(stream(1_000_000, 0).Spans())
	rand.New(rand.NewPCG(11, 12)).Shuffle(len(spans), func(i, j int) { spans[i], spans[j] = spans[j], spans[i] })
	for b.Loop() {
		if got := Of(spans...); len(got.spans) != len(spans) {
			b.Fatalf("got %d spans, want %d", len(got.spans), len(spans))
		}
	}
}

// stream returns n spans of 900 ns, 1000 ns apart, starting at the phase.
func stream(n int, phase int64) Set {
	var b Builder
	for i := range int64(n) {
		at := phase + 1000*i
		b.Add(Span{at, at + 900})
	}
	return b.Set()
}

// randomLayers returns up to five sets and the spans they were made of.
func randomLayers(rnd *rand.Rand) (layers []Set, drawn []uint64) {
	for range rnd.IntN(6) {
		spans := randomSpans(rnd)
		layers = append(layers, Of(spans...))
		drawn = append(drawn, bits(spans))
	}
	return layers, drawn
}

func maskAt(drawn []uint64, ns int64) (mask uint) {
	for i, m := range drawn {
		mask |= uint(m>>ns&1) << i
	}
	return mask
}

func sum(cells []int64) (n int64) {
	for _, c := range cells {
		n += c
	}
	return n
}
