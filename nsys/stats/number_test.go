package stats

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestNumber(t *testing.T) {
	for _, tc := range []struct {
		text  string
		size  int64
		whole bool
		want  int64
	}{
		{"0", 1, true, 0}, {"123", 1, true, 123}, {"9223372036854775806", 1, true, math.MaxInt64 - 1},
		{"1,234,567", 1, true, 1234567}, {"1.234.567", 1, true, 1234567}, {"1 234 567", 1, true, 1234567}, {"1\u202f234\u00a0567", 1, true, 1234567}, {"1'234", 1, true, 1234}, {"1_234", 1, true, 1234},
		{"1,234", 1, true, 1234}, {"1.234", 1, true, 1234}, {"1,234", 1000, false, 1234}, {"1.234", 1000, false, 1234},
		{"12,34,567", 1, true, 1234567}, {"12,34,567.5", 1, false, 1234568}, {"1.5", 1, false, 2}, {"2.4", 1, false, 2}, {"0.5", 1, false, 1}, {"-0.5", 1, false, -1}, {"-1.4", 1, false, -1},
		{"1,5", 1000, false, 1500}, {"1.234.567,5", 1000, false, 1234567500}, {"1,234,567.5", 1000, false, 1234567500},
		{"104.858", 1_000_000, false, 104858000}, {"0.001", 1_000_000_000, false, 1_000_000}, {"1e3", 1, true, 1000}, {"1.5E-3", 1_000_000, false, 1500}, {"1.5e+03", 1, false, 1500},
	} {
		if got, known, err := number(tc.text, tc.size, tc.whole); got != tc.want || !known || err != nil {
			t.Errorf("%q of %d units, whole %v: got %d, %v, %v, want %d", tc.text, tc.size, tc.whole, got, known, err, tc.want)
		}
	}
	for _, unknown := range []string{"", "None", "-", "n/a", "nan", "NaN", "null"} {
		if n, known, err := number(unknown, 1, true); n != 0 || known || err != nil {
			t.Errorf("%q: got %d, %v, %v", unknown, n, known, err)
		}
	}
	for text, want := range map[string]error{
		"five": errNumber, "1-2": errNumber, "--1": errNumber, ".": errNumber, "e5": errNumber, "1e": nil, "1e99": errNumber, "0x10": errNumber, "1/2": errNumber, "inf": errNumber,
		strings.Repeat("1", 65): errNumber, strings.Repeat("9", 30): errTooLarge, "9223372036854775807": errTooLarge, "-99999999999999999999": errTooLarge, "1e30": errTooLarge,
	} {
		if n, _, err := number(text, 1, false); !errors.Is(err, want) {
			t.Errorf("%q: got %d, %v, want %v", text, n, err, want)
		}
	}
}

// TestNumberOracle prints random values in the formats of many locales and
// units and compares the parsed values with exact arithmetic.
func TestNumberOracle(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 20000 {
		size := []int64{1, 1e3, 1e6, 1e9, 1 << 10, 1 << 20}[rnd.IntN(6)]
		decimals := rnd.IntN(4)
		locale := [][2]string{{"", "."}, {",", "."}, {".", ","}, {" ", ","}, {"\u202f", ","}, {"'", "."}}[rnd.IntN(6)]
		units := rnd.Int64N(1 << (1 + rnd.IntN(33)))
		fraction := rnd.Int64N(int64(math.Pow10(decimals)))
		whole := decimals == 0 && size == 1
		if decimals == 0 && !whole {
			decimals = 1 // the tool prints one
		}
		text := grouped(units, locale[0])
		exact := new(big.Rat).SetInt64(units)
		if !whole {
			text += locale[1] + fmt.Sprintf("%0*d", decimals, fraction)
			exact.Add(exact, new(big.Rat).SetFrac64(fraction, int64(math.Pow10(decimals))))
		}
		// One separator with three digits after it is ambiguous; in a column
		// with decimals it is the decimal separator.
		exact.Mul(exact, new(big.Rat).SetInt64(size))
		got, known, err := number(text, size, whole)
		if err != nil || !known {
			t.Fatalf("%q: %v, %v", text, known, err)
		}
		off := new(big.Rat).Sub(exact, new(big.Rat).SetInt64(got))
		if off.Abs(off).Cmp(big.NewRat(1, 2)) > 0 {
			t.Fatalf("%q of %d units: got %d, %s off", text, size, got, off.FloatString(3))
		}
	}
}

// grouped prints n with a separator between groups of three digits.
func grouped(n int64, separator string) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + separator + text[i:]
	}
	return text
}

func TestShareOf(t *testing.T) {
	for text, want := range map[string]int64{"60.5": 60500, "60,5": 60500, "0.0": 0, "100": 100000, "": -1, "x": -1, "-1": -1, "12.345": 12345} {
		if got := shareOf(text); got != want {
			t.Errorf("%q: got %d, want %d", text, got, want)
		}
	}
}
