package unit

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

func TestParseDuration(t *testing.T) {
	for _, tc := range []struct {
		in   string
		want int64
	}{
		{"1.5ms", 1_500_000}, {"200us", 200_000}, {"200µs", 200_000}, {"200μs", 200_000}, {"3 s", 3e9}, {"0ns", 0},
		{"1.000ns", 1}, {".5us", 500}, {"5.us", 5000}, {"-2ms", -2_000_000}, {"5m", 300e9}, {"5min", 300e9}, {"1.5h", 5400e9},
		{"0.000000001s", 1}, {"9007199254740993ns", 9007199254740993}, // no float64 holds it
		{"9223372036854775807ns", math.MaxInt64}, {"9223372036.854775807 s", math.MaxInt64},
		{"-9223372036854775808ns", math.MinInt64},
	} {
		if got, err := ParseDuration(tc.in); err != nil || got != tc.want {
			t.Errorf("ParseDuration(%q) = %d, %v, want %d", tc.in, got, err, tc.want)
		}
	}
}

func TestParseBytes(t *testing.T) {
	for _, tc := range []struct {
		in   string
		want int64
	}{
		{"4096", 4096}, {"4096B", 4096}, {"1GiB", 1 << 30}, {"10 MB", 10e6}, {"10mib", 10 << 20}, {"25KB", 25_000}, {"25kB", 25_000},
		{"1.5 KiB", 1536}, {"0.1KiB", 102}, {"0.5B", 1}, {"-0.5B", -1}, {"0.4B", 0}, {"-1 KiB", -1024}, {"7.5EiB", 15 << 59},
		{"9223372036854775807", math.MaxInt64}, {"-8 EiB", math.MinInt64},
	} {
		if got, err := ParseBytes(tc.in); err != nil || got != tc.want {
			t.Errorf("ParseBytes(%q) = %d, %v, want %d", tc.in, got, err, tc.want)
		}
	}
}

func TestParseShare(t *testing.T) {
	for _, tc := range []struct {
		in   string
		want float64
	}{
		{"15%", 0.15}, {"15 %", 0.15}, {"0.15", 0.15}, {"29%", 0.29}, {"0%", 0}, {"1", 1}, {"150%", 1.5}, {".5", 0.5}, {"-3%", -0.03},
	} {
		if got, err := ParseShare(tc.in); err != nil || got != tc.want {
			t.Errorf("ParseShare(%q) = %v, %v, want %v", tc.in, got, err, tc.want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	long := strings.Repeat("9", 51)
	for _, tc := range []struct {
		in, what, want string
	}{
		{"", "duration", `duration "": malformed number`},
		{"ms", "duration", `duration "ms": malformed number`},
		{"-", "duration", `duration "-": malformed number`},
		{".s", "duration", `duration ".s": malformed number`},
		{"1.2.3s", "duration", `duration "1.2.3s": malformed number`},
		{"15", "duration", `duration "15": want a number and one of ns, us, ms, s, min, h`},
		{"15MS", "duration", `duration "15MS": want a number and one of ns, us, ms, s, min, h`},
		{"1h30m", "duration", `duration "1h30m": want a number and one of ns, us, ms, s, min, h`},
		{"1e3s", "duration", `duration "1e3s": want a number and one of ns, us, ms, s, min, h`},
		{"1.5ns", "duration", `duration "1.5ns": not a whole number of nanoseconds`},
		{"9223372036854775808ns", "duration",
			`duration "9223372036854775808ns": over 9223372036854775807 ns, the longest that can be represented`},
		{long + "s", "duration", `duration "` + long + `s": number of 51 characters, at most 50`},
		{"12 parsecs", "size", `size "12 parsecs": want a number and one of B, KiB, MiB, GiB, TiB, kB, MB, GB, TB`},
		{"512M", "size", `size "512M": want a number and one of B, KiB, MiB, GiB, TiB, kB, MB, GB, TB`},
		{"lots", "size", `size "lots": malformed number`},
		{"8EiB", "size", `size "8EiB": over 9223372036854775807 bytes, the largest that can be represented`},
		{"", "share", `share "": want a number such as "15%" or "0.15"`},
		{"%", "share", `share "%": want a number such as "15%" or "0.15"`},
		{"15%%", "share", `share "15%%": want a number such as "15%" or "0.15"`},
		{"1e-2", "share", `share "1e-2": want a number such as "15%" or "0.15"`},
		{"NaN", "share", `share "NaN": want a number such as "15%" or "0.15"`},
		{"0.1 5", "share", `share "0.1 5": want a number such as "15%" or "0.15"`},
	} {
		var err error
		switch tc.what {
		case "duration":
			_, err = ParseDuration(tc.in)
		case "size":
			_, err = ParseBytes(tc.in)
		case "share":
			_, err = ParseShare(tc.in)
		}
		if err == nil || err.Error() != tc.want {
			t.Errorf("%s %q: got error %v, want %s", tc.what, tc.in, err, tc.want)
		}
	}
}

// TestRoundTrip: printed values can be read, and print the same again. (The
// last half unit before the end of int64 rounds up past it.)
func TestRoundTrip(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 5000 {
		n := rnd.Int64() >> (1 + rnd.IntN(62))
		if rnd.IntN(2) == 0 {
			n = -n
		}
		if back, err := ParseDuration(Duration(n)); err != nil || Duration(back) != Duration(n) {
			t.Fatalf("%d prints as %q, reads as %d, %v", n, Duration(n), back, err)
		}
		if back, err := ParseBytes(Bytes(n)); err != nil || Bytes(back) != Bytes(n) {
			t.Fatalf("%d prints as %q, reads as %d, %v", n, Bytes(n), back, err)
		}
		exact := strconv.FormatInt(n, 10)
		if back, err := ParseDuration(exact + " ns"); err != nil || back != n {
			t.Fatalf("%s ns reads as %d, %v", exact, back, err)
		}
		share := rnd.Float64()
		if back, err := ParseShare(Percent(share)); err != nil || back != share {
			t.Fatalf("%v prints as %q, reads as %v, %v", share, Percent(share), back, err)
		}
	}
}

// FuzzParse checks the guarantees of the parsers for any input: they do not
// panic, an error quotes the input, and a value that was read survives a round
// trip.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"1.5ms", "3 s", "15%", "0.15", "1GiB", "-.5h", "9223372036854775807ns", "", "%", "1..2", "٣s"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		quoted := strconv.Quote(s)
		if ns, err := ParseDuration(s); err != nil {
			if !strings.Contains(err.Error(), quoted) {
				t.Errorf("error %q does not quote %s", err, quoted)
			}
		} else if back, err := ParseDuration(strconv.FormatInt(ns, 10) + "ns"); err != nil || back != ns {
			t.Errorf("%s is %d ns, which reads as %d, %v", quoted, ns, back, err)
		}
		if n, err := ParseBytes(s); err != nil {
			if !strings.Contains(err.Error(), quoted) {
				t.Errorf("error %q does not quote %s", err, quoted)
			}
		} else if back, err := ParseBytes(strconv.FormatInt(n, 10)); err != nil || back != n {
			t.Errorf("%s is %d bytes, which reads as %d, %v", quoted, n, back, err)
		}
		if share, err := ParseShare(s); err == nil {
			if back, err := ParseShare(Percent(share)); err != nil || back != share {
				t.Errorf("%s is %v, which prints as %s and reads as %v, %v", quoted, share, Percent(share), back, err)
			}
		}
	})
}
