package analyze_test

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"assay/analyze"
	"assay/internal/interval"
	"assay/summary"
	"assay/trace"
)

// measured measures a trace that is given as text.
func measured(t *testing.T, in string) *summary.Summary {
	t.Helper()
	tr, err := trace.Read(strings.NewReader(in), "in", trace.SelectAll())
	if err != nil {
		t.Fatal(err)
	}
	return analyze.Trace(tr, summary.Input{}, analyze.DefaultOptions())
}

// TestLargestGaps compares with a look at every microsecond and a sort of all
// gaps.
func TestLargestGaps(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	most := 0
	for range 200 {
		const length = 120
		var busy [length]bool
		var b bytes.Buffer
		b.WriteString("[")
		for i := range 1 + rnd.IntN(25) {
			start := rnd.IntN(length - 4)
			dur := 1 + rnd.IntN(4)
			for us := start; us < start+dur; us++ {
				busy[us] = true
			}
			if i > 0 {
				b.WriteString(",")
			}
			fmt.Fprintf(&b, `{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":%d,"ts":%d,"dur":%d}`, i%3, start, dur)
		}
		b.WriteString("]")
		var want []summary.Gap
		last := -1 // the last busy microsecond
		for us, on := range busy {
			if on && last >= 0 && us > last+1 {
				want = append(want, summary.Gap{
					StartNS: int64(last+1) * 1000, NS: int64(us-last-1) * 1000,
					Owner: summary.OwnerUnknown, Before: "k", After: "k", // nothing is known of the host
				})
			}
			if on {
				last = us
			}
		}
		slices.SortFunc(want, func(a, b summary.Gap) int { return cmp.Or(cmp.Compare(b.NS, a.NS), cmp.Compare(a.StartNS, b.StartNS)) })
		most = max(most, len(want))
		want = want[:min(5, len(want))]
		if got := measured(t, b.String()).Devices[0].LargestGaps; !slices.Equal(got, want) {
			t.Fatalf("%s\ngot  %v\nwant %v", b.String(), got, want)
		}
	}
	if most < 10 {
		t.Errorf("no trace had more than %d gaps; the test tests little", most)
	}
}

// TestSpan: the capture spans what the program did, on host and devices, and not
// what the profiler did around it.
func TestSpan(t *testing.T) {
	row := func(cat string, pid int, start, dur float64) string {
		return fmt.Sprintf(`{"ph":"X","cat":%q,"name":"n","pid":%d,"tid":1,"ts":%.3f,"dur":%.3f}`, cat, pid, start, dur)
	}
	kernel := row("kernel", 0, 100, 10)
	around := row("Trace", 9, 0, 9000) + "," + row("overhead", 8, 1, 8000)
	for _, tc := range []struct {
		name, events string
		want         int64
	}{
		{"nothing", ``, 0},
		{"the profiler alone", around, 0},
		{"a kernel", kernel, 10_000},
		{"the profiler around it", kernel + "," + around, 10_000},
		{"operator before", kernel + "," + row("cpu_op", 7, 90.5, 1), 19_500},
		{"call around", kernel + "," + row("cuda_runtime", 7, 80, 50.001), 50_001},
		{"python after", kernel + "," + row("python_function", 7, 200, 1), 101_000},
		{"annotation within", kernel + "," + row("user_annotation", 7, 101, 1), 10_000},
		{"other span after", kernel + "," + row("mine", 7, 111, 0), 11_000},
		{"before the origin", kernel + "," + row("cpu_op", 7, -5, 1), 115_000},
		{"an instant has no length", kernel + `,{"ph":"i","name":"n","pid":7,"tid":1,"ts":500}`, 10_000},
	} {
		if got := measured(t, "["+tc.events+"]").Inputs[0].SpanNS; got != tc.want {
			t.Errorf("%s: got %d ns, want %d", tc.name, got, tc.want)
		}
	}
}

// TestGapsArePieces: the gaps of a device are the pieces of its window in which
// no class of work runs, also around work without length.
func TestGapsArePieces(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		s := tell()
		var all []interval.Span
		for i := range int64(1 + rng.IntN(20)) {
			from := rng.Int64N(60)
			to := from + rng.Int64N(8)
			s.launch("cudaLaunchKernel", []string{"gemm", "ncclAllReduce"}[i%2], i+1, 0, from, to)
			all = append(all, interval.Span{Start: from * 1000, End: to * 1000})
		}
		d := s.measured().Devices[0]
		var want summary.Histogram
		for piece, running := range interval.Pieces(interval.Span{Start: d.StartNS, End: d.StartNS + d.WindowNS}, interval.Of(all...)) {
			if running == 0 {
				want.Add(piece.Len())
			}
		}
		if !reflect.DeepEqual(d.Gaps, want) {
			t.Fatalf("%v: gaps %v, want %v", all, d.Gaps, want)
		}
	}
}
