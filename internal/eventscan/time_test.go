package eventscan

import (
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"
)

func TestParseMicros(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want int64
		err  error
	}{
		{"0", 0, nil}, {"1", 1000, nil}, {"1.5", 1500, nil}, {"0.001", 1, nil}, {".5", 500, nil}, {"7.", 7000, nil},
		{"1712195495505582.988", 1712195495505582988, nil}, // a float64 would end in 3000
		{"1.0009", 1001, nil}, {"1.0004999", 1000, nil}, {"1.9999999999999999999999", 2000, nil}, {"-0.0019", -2, nil},
		{"27.786999999999999", 27787, nil}, {"647129.35199999996", 647129352, nil}, {"3.0000000000000004", 3000, nil},
		{"0.00099999999999999", 1, nil}, {"0.0005", 1, nil}, {"0.00005", 0, nil}, {"1712195495505582.98849", 1712195495505582988, nil},
		{"-5.001", -5001, nil},
		{"1e3", 1000000, nil}, {"1.7e+15", 1700000000000000000, nil}, {"25e-1", 2500, nil}, {"123456e-5", 1235, nil},
		{"0e999999999999", 0, nil}, {"1e-999999999999", 0, nil}, {"000000000000000000000000000001", 1000, nil},
		{"9223372036854775.807", 9223372036854775807, nil}, {"9223372036854775.808", 0, errRange},
		{"18446744073709551.615", 0, errRange}, {"99999999999999999999", 0, errRange}, {"1e300", 0, errRange},
		{"", 0, errNotNumber}, {"-", 0, errNotNumber}, {".", 0, errNotNumber}, {"1x", 0, errNotNumber}, {"0.-12", 0, errNotNumber},
		{"NaN", 0, errNotNumber}, {"inf", 0, errNotNumber}, {"1e", 0, errNotNumber}, {"1 2", 0, errNotNumber}, {"0x10", 0, errNotNumber},
	} {
		got, err := ParseMicros([]byte(tt.in))
		if got != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("ParseMicros(%q) = %d, %v; want %d, %v", tt.in, got, err, tt.want, tt.err)
		}
	}
}

// TestParseMicrosExact compares with rational arithmetic.
func TestParseMicrosExact(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		lit := fmt.Sprintf("%d.%0*d", rnd.Int64N(1<<rnd.IntN(53)+1), rnd.IntN(12)+1, rnd.Int64N(1_000_000))
		if rnd.IntN(4) == 0 {
			lit += fmt.Sprintf("e%d", rnd.IntN(8)-5)
		}
		if rnd.IntN(4) == 0 {
			lit = "-" + lit
		}
		exact, ok := new(big.Rat).SetString(lit)
		if !ok {
			t.Fatalf("%q is no number", lit)
		}
		exact.Mul(exact, big.NewRat(1000, 1))
		exact.Add(exact, big.NewRat(int64(exact.Sign()), 2))
		want := new(big.Int).Quo(exact.Num(), exact.Denom()) // Quo cuts towards zero
		got, err := ParseMicros([]byte(lit))
		if !want.IsInt64() {
			if err == nil {
				t.Fatalf("ParseMicros(%q) = %d, want an error: %v", lit, got, want)
			}
			continue
		}
		if err != nil || got != want.Int64() {
			t.Fatalf("ParseMicros(%q) = %d, %v; want %v", lit, got, err, want)
		}
	}
}
