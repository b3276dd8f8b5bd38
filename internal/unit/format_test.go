package unit

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
)

func ExampleShare() {
	fmt.Println(Share(842, 2105), Share(1, 1_000_000), Share(999_999, 1_000_000), Share(5, 5), Share(0, 0))
	// Output: 40.0% <0.1% >99.9% 100.0% –
}

func TestDuration(t *testing.T) {
	for _, tc := range []struct {
		ns         int64
		want, fine string
	}{
		{0, "0 ns", "0 ns"}, {1, "1 ns", "1 ns"}, {950, "950 ns", "950 ns"}, {999, "999 ns", "999 ns"},
		{1000, "1 µs", "1 µs"}, {1001, "1 µs", "1.001 µs"}, {1005, "1.01 µs", "1.005 µs"}, {9999, "10 µs", "9.999 µs"},
		{10_004, "10 µs", "10 µs"}, {10_005, "10 µs", "10.01 µs"}, {99_949, "99.9 µs", "99.95 µs"}, {99_950, "100 µs", "99.95 µs"},
		{999_499, "999 µs", "999.5 µs"}, {999_500, "1 ms", "999.5 µs"}, {999_950, "1 ms", "1 ms"}, {2_500_000, "2.5 ms", "2.5 ms"},
		{84_200_000, "84.2 ms", "84.2 ms"}, {210_500_000, "211 ms", "210.5 ms"},
		{1_234_000_000, "1.23 s", "1.234 s"}, {74_560_000_000, "74.6 s", "74.56 s"},
		{599_499_999_999, "599 s", "599.5 s"}, {599_500_000_000, "9.99 min", "599.5 s"}, {599_950_000_000, "10 min", "9.999 min"},
		{90 * 60e9, "90 min", "90 min"}, {7130e9, "119 min", "118.8 min"}, {7169e9, "119 min", "119.5 min"}, {7170e9, "1.99 h", "119.5 min"}, {26 * 3600e9, "26 h", "26 h"},
		{-84_200_000, "-84.2 ms", "-84.2 ms"}, {-999_950, "-1 ms", "-1 ms"},
		{math.MaxInt64, "2562048 h", "2562048 h"}, {math.MinInt64, "-2562048 h", "-2562048 h"},
	} {
		if got, fine := Duration(tc.ns), FineDuration(tc.ns); got != tc.want || fine != tc.fine {
			t.Errorf("%d ns are %q and %q, want %q and %q", tc.ns, got, fine, tc.want, tc.fine)
		}
	}
}

func TestBytes(t *testing.T) {
	for _, tc := range []struct {
		n    int64
		want string
	}{
		{0, "0 B"}, {512, "512 B"}, {1023, "1023 B"}, {1024, "1 KiB"}, {1536, "1.5 KiB"},
		{1<<20 - 1, "1 MiB"}, {1023 << 10, "1023 KiB"}, {80 << 30, "80 GiB"}, {-(3 << 20) / 2, "-1.5 MiB"},
		{math.MaxInt64, "8 EiB"}, {math.MinInt64, "-8 EiB"},
	} {
		if got := Bytes(tc.n); got != tc.want {
			t.Errorf("Bytes(%d) = %q, want %q", tc.n, got, tc.want)
		}
	}
}

func TestRate(t *testing.T) {
	for _, tc := range []struct {
		bytes, ns int64
		want      string
	}{
		{25_600_000_000, 1e9, "25.6 GB/s"}, {1, 1, "1 GB/s"}, {0, 5, "0 B/s"}, {1, 2e9, "0.5 B/s"},
		{999_960, 1e9, "1 MB/s"}, {5, 0, None}, {5, -1, None}, {-2000, 1e9, "-2 kB/s"},
		{math.MaxInt64, 1, "9223372036854776 TB/s"}, // 2^63 GB/s
		{1, math.MaxInt64, "0 B/s"},                 // 1e-10 B/s
		{math.MaxInt64, math.MaxInt64, "1 GB/s"},    // a product of three words inside
		{math.MinInt64, math.MaxInt64, "-1 GB/s"},   // and the other end
		{3_350_000_000_000_000, 1e12, "3.35 TB/s"},  // HBM3 of one H100
	} {
		if got := Rate(tc.bytes, tc.ns); got != tc.want {
			t.Errorf("Rate(%d, %d) = %q, want %q", tc.bytes, tc.ns, got, tc.want)
		}
	}
}

func TestShare(t *testing.T) {
	for _, tc := range []struct {
		num, den int64
		want     string
	}{
		{0, 7, "0.0%"}, {1, 3, "33.3%"}, {2, 3, "66.7%"}, {1, 2000, "0.1%"}, {1, 2001, "<0.1%"},
		{1, math.MaxInt64, "<0.1%"}, {1999, 2000, ">99.9%"}, {9994, 10_000, "99.9%"}, {10_000, 10_000, "100.0%"},
		{10_001, 10_000, ">100.0%"}, {10_005, 10_000, "100.1%"}, {3, 2, "150.0%"}, {5, 0, "–"}, {0, 0, "–"},
		{-2, 5, "-40.0%"}, {2, -5, "-40.0%"}, {-2, -5, "40.0%"}, {0, -5, "0.0%"},
		{-1, 1_000_000, ">-0.1%"}, {-999_999, 1_000_000, "<-99.9%"}, {-5, 5, "-100.0%"}, {-10_001, 10_000, "<-100.0%"},
		{math.MaxInt64, math.MaxInt64, "100.0%"}, {math.MaxInt64 - 1, math.MaxInt64, ">99.9%"},
		{math.MinInt64, math.MinInt64, "100.0%"}, {math.MinInt64, math.MaxInt64, "<-100.0%"},
		{math.MaxInt64, 1, "922337203685477580700.0%"},
	} {
		if got := Share(tc.num, tc.den); got != tc.want {
			t.Errorf("Share(%d, %d) = %q, want %q", tc.num, tc.den, got, tc.want)
		}
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 7: "7", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1000: "-1,000", -999: "-999",
		math.MaxInt64: "9,223,372,036,854,775,807", math.MinInt64: "-9,223,372,036,854,775,808",
	} {
		if got := Count(n); got != want {
			t.Errorf("Count(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestPercent(t *testing.T) {
	for share, want := range map[float64]string{
		0: "0%", 0.15: "15%", 0.2: "20%", 0.29: "29%", 0.5: "50%", 1: "100%", 1.5: "150%", 20: "2000%", 0.07: "7%",
		0.125: "12.5%", 0.001: "0.1%", 1.0 / 3: "33.33333333333333%", -0.105: "-10.5%", 1e-10: "0.00000001%",
		math.Inf(1): "+Inf%",
	} {
		if got := Percent(share); got != want {
			t.Errorf("Percent(%g) = %q, want %q", share, got, want)
		}
	}
}

// TestRoundingIsNearest checks printed numbers against exact rationals: they
// have at most three or four significant digits, and no text of as many decimals in the
// same unit is nearer.
func TestRoundingIsNearest(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		n := rnd.Int64() >> rnd.IntN(63)
		checkNearest(t, n, Duration(n), durations(), spoken)
		checkNearest(t, n, Bytes(n), sizes(), spoken)
		checkNearest(t, n, FineDuration(n), durations(), tabular)
		checkNearest(t, n, FineBytes(n), sizes(), tabular)
	}
}

func checkNearest(t *testing.T, n int64, text string, scales []scale, digits int) {
	t.Helper()
	number, unit, _ := strings.Cut(text, " ")
	var in scale
	for _, s := range scales {
		if s.name == unit {
			in = s
		}
	}
	whole, fraction, _ := strings.Cut(number, ".")
	if fraction != "" && len(whole)+len(fraction) > digits && in.limit != 0 {
		t.Fatalf("%d prints as %q: more than %d digits", n, text, digits)
	}
	printed, ok := new(big.Rat).SetString(number)
	if !ok || in.size == 0 {
		t.Fatalf("%d prints as %q", n, text)
	}
	if in.limit != 0 && printed.Cmp(new(big.Rat).SetInt64(in.limit)) >= 0 {
		t.Fatalf("%d prints as %q: that is a whole larger unit", n, text)
	}
	// Trailing zeros were dropped, so the step is that of all digits.
	step := new(big.Rat).SetInt64(1)
	for d := len(whole); d < digits && in.size > 1; d++ {
		step.Quo(step, new(big.Rat).SetInt64(10))
	}
	off := new(big.Rat).Sub(printed, big.NewRat(n, in.size))
	if off.Abs(off).Cmp(step.Quo(step, new(big.Rat).SetInt64(2))) > 0 {
		t.Fatalf("%d prints as %q, which is more than half a digit off", n, text)
	}
}

func TestTimestamp(t *testing.T) {
	for ns, want := range map[int64]string{
		0: "0.000 µs", 1: "0.001 µs", -1: "-0.001 µs", 1_763_000_000_500_000_123: "1763000000500000.123 µs",
		math.MinInt64: "-9223372036854775.808 µs", math.MaxInt64: "9223372036854775.807 µs",
	} {
		if got := Timestamp(ns); got != want {
			t.Errorf("%d: %q, want %q", ns, got, want)
		}
	}
}

// TestSmallIsAsLarge compares the fast path for small numbers with the
// arithmetic that works for all numbers.
func TestSmallIsAsLarge(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	number := func() int64 {
		n := rnd.Int64() >> rnd.IntN(64)
		switch rnd.IntN(4) {
		case 0:
			n = small - 2 + rnd.Int64N(5)
		case 1: // near the limits of rounding and units
			n = []int64{1e3, 1e6, 1e9, 600e9, 7200e9, 1 << 10, 1 << 20, 1 << 60, 9995, 99995e5}[rnd.IntN(10)]*(1+rnd.Int64N(3)) - 3 + rnd.Int64N(7)
		}
		return n
	}
	for range 50_000 {
		n, d := number(), number()
		if rnd.IntN(3) == 0 {
			n = -n
		}
		if got, want := Duration(n), scaled(big.NewInt(n), big.NewInt(1), durations(), spoken); got != want {
			t.Fatalf("%d ns: %s, want %s", n, got, want)
		}
		if got, want := Bytes(n), scaled(big.NewInt(n), big.NewInt(1), sizes(), spoken); got != want {
			t.Fatalf("%d bytes: %s, want %s", n, got, want)
		}
		if d == 0 {
			continue
		}
		if got, want := percentTenths(magnitude(n), magnitude(d)), decimalTenth(permille(magnitude(n), magnitude(d))); got != want {
			t.Fatalf("%d of %d: %s, want %s", n, d, got, want)
		}
	}
}

func TestDurationOf(t *testing.T) {
	const s, minute = 1e9, 60e9
	for _, tc := range []struct {
		part, whole int64
		want        string
	}{
		{84_200_000, 1_200_000_000, "84.2 ms of 1.2 s"},
		{38.25 * s, 76.5 * s, "38.3 s of 76.5 s"},
		{765 * s, 786 * s, "12.8 min of 13.1 min"},
		{30 * s, 99 * minute, "30 s of 99 min"},
		{292 * s, 1238 * s, "4.87 min of 20.6 min"},
		{90 * s, 120 * minute, "90 s of 2 h"},
		{30 * s, 100 * minute, "30 s of 100 min"},
		{0, 60 * s, "0 ns of 60 s"},
		{599.6 * s, 10 * minute, "9.99 min of 10 min"},
		{38.25 * s, 765 * s, "38.3 s of 12.8 min"},
	} {
		if got := DurationOf(tc.part, tc.whole); got != tc.want {
			t.Errorf("%d of %d: %s, want %s", tc.part, tc.whole, got, tc.want)
		}
	}
}

func TestFLOPRate(t *testing.T) {
	for v, want := range map[float64]string{0: "0 FLOP/s", 999: "999 FLOP/s", 999.6: "1 kFLOP/s", 8.1e12: "8.1 TFLOP/s", 1e21: "1e+06 PFLOP/s"} {
		if got := FLOPRate(v); got != want {
			t.Errorf("%v is %q, want %q", v, got, want)
		}
	}
}
