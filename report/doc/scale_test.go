package doc

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"assay/internal/label"
	"assay/internal/test/samplerun"
)

// TestSizeScale: a column of sizes has one unit.
func TestSizeScale(t *testing.T) {
	for _, tc := range []struct {
		sizes []int64
		head  string
		want  []string
	}{
		{[]int64{80 << 30, 1 << 29, 1}, "x (GiB)", []string{"80.000", "0.500", "<0.001"}},
		{[]int64{3 << 19}, "x (MiB)", []string{"1.500"}},
		{[]int64{1023, -1, math.MinInt64}, "x (B)", []string{"1,023", "-1", "-9,223,372,036,854,775,807"}},
		{[]int64{math.MaxInt64}, "x (GiB)", []string{"8,589,934,592.0"}},
	} {
		scale := SizeScaleOf(tc.sizes...)
		if got := scale.Head("x"); got != tc.head {
			t.Errorf("%v: head is %s, want %s", tc.sizes, got, tc.head)
		}
		for i, n := range tc.sizes {
			if got := scale.Text(n); got != tc.want[i] {
				t.Errorf("%d is %s, want %s", n, got, tc.want[i])
			}
		}
	}
}

func TestNumbers(t *testing.T) {
	for _, tc := range []struct {
		ns, largest int64
		want        string
	}{
		{0, 0, "0"}, {999, 999, "999"}, {1500, 1500, "1.500"}, {12_345_678, 12_345_678, "12.346"},
		{1, 12_345_678, "<0.001"}, {499, 1_000_000, "<0.001"}, {500, 1_000_000, "0.001"}, {0, 1_000_000, "0.000"},
		{999_999_999, samplerun.Sec, "1.000"}, {36_000 * samplerun.Sec, 36_000 * samplerun.Sec, "36,000.0"}, {-1500, 1500, "-1.500"}, {40 * samplerun.MS, 36_000 * samplerun.Sec, "<0.1"},
	} {
		if got := ScaleOf(tc.largest).Text(tc.ns); got != tc.want {
			t.Errorf("%d ns beside %d ns prints as %q, want %q", tc.ns, tc.largest, got, tc.want)
		}
	}
	for in, want := range map[[2]int64]int64{{10, 4}: 3, {9, 4}: 2, {11, 4}: 3, {5, 0}: 0, {1<<63 - 1, 2}: 1 << 62} {
		if got := Mean(in[0], in[1]); got != want {
			t.Errorf("%d over %d is %d, want %d", in[0], in[1], got, want)
		}
	}
	for want, in := range map[string][]int{"0–3, 8": {8, 0, 1, 2, 3, 3}, "1, 2": {2, 1}, "": nil, "7": {7, 7}} {
		if got := Ranges(in); got != want {
			t.Errorf("%v prints as %q, want %q", in, got, want)
		}
	}
	for n, want := range map[int64]string{1: "1 copy", 2: "2 copies", 1000: "1,000 copies"} {
		if got := label.Plural(n, "copy"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestApportion: cells sum to their number, no cell is off by more than one
// and what the parts too small to be drawn leave, and those have none.
func TestApportion(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for range 5000 {
		parts := make([]int64, 1+rnd.IntN(4))
		total := 0.0
		for i := range parts {
			parts[i] = rnd.Int64N(1000) >> rnd.IntN(12)
			total += float64(parts[i])
		}
		got := Apportion(14, parts...)
		sum, small := 0, 0.0
		for _, p := range parts {
			if exact := 14 * float64(p) / max(1, total); exact < 0.5 {
				small += exact
			}
		}
		for i, n := range got {
			sum += n
			exact := 14 * float64(parts[i]) / max(1, total)
			if off := float64(n) - exact; off > 1.001+small || off < -1.001 {
				t.Fatalf("%v in 14 cells is %v", parts, got)
			}
			if exact < 0.499 && n != 0 {
				t.Fatalf("%v in 14 cells is %v, part %d has %.2f", parts, got, i, exact)
			}
		}
		if total > 0 && sum != 14 {
			t.Fatalf("%v in 14 cells is %v", parts, got)
		}
	}
	for want, parts := range map[string][]int64{
		"[5 5 4 0]":  {50, 50, 40, 0},
		"[14 0 0 0]": {999, 0, 1, 0}, // a thousandth is no fourteenth
		"[13 0 1 0]": {960, 0, 40, 0},
		"[0 0 0 0]":  {0, 0, 0, 0},
	} {
		if got := fmt.Sprint(Apportion(14, parts...)); got != want {
			t.Errorf("%v in 14 cells is %s, want %s", parts, got, want)
		}
	}
}

func TestFourDigits(t *testing.T) {
	for ns, want := range map[int64]string{
		0: "0 ns", 950: "950 ns", 1500: "1.500 µs", 241_000: "241.0 µs", 241_200: "241.2 µs", 51_210: "51.21 µs", 4 * samplerun.MS: "4.000 ms",
		999_960: "1.000 ms", 60 * samplerun.Sec: "60.00 s", 720 * samplerun.Sec: "12.00 min", 93_600 * samplerun.Sec: "26.00 h",
	} {
		if got := FourDigits(ns); got != want {
			t.Errorf("%d ns prints as %q, want %q", ns, got, want)
		}
	}
}
