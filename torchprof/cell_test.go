package torchprof

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestCells(t *testing.T) {
	times, sizes, counts, kilo := column{role: aTime}, column{role: aSize}, column{role: aCount}, column{role: someFlops, size: 1000}
	for _, tc := range []struct {
		c    *column
		text string
		want int64
		err  error
	}{
		{&times, "0.000us", 0, nil}, {&times, "12.979us", 12979, nil}, {&times, "57.549ms", 57549000, nil}, {&times, "1.234s", 1234000000, nil},
		{&times, "-46.000us", -46000, nil}, {&times, "0.029ms", 29000, nil}, {&times, "2.5µs", 2500, nil}, {&times, "7ns", 7, nil},
		{&times, "57.549m", 0, errNumber}, {&times, "57.549", 0, errNumber}, {&times, "xx.yyy ms", 0, errNumber}, {&times, "us", 0, errNumber},
		{&times, "1.us", 0, errNumber}, {&times, ".5us", 0, errNumber}, {&times, "1e3us", 0, errNumber}, {&times, "9223372036.854s", 9223372036854000000, nil},
		{&times, "9223372036.855s", 0, errTooLarge}, {&times, "99999999999999999999us", 0, errTooLarge}, {&times, "--1us", 0, errNumber},
		{&sizes, "0 b", 0, nil}, {&sizes, "324 b", 324, nil}, {&sizes, "-1.02 Kb", -1044, nil}, {&sizes, "-1.02 KB", -1044, nil},
		{&sizes, "1.50 Mb", 3 << 19, nil}, {&sizes, "-10.50 Gb", -21 << 29, nil}, {&sizes, "2.00 TB", 2 << 40, nil}, {&sizes, "1 B", 1, nil},
		{&sizes, "1.50 MiB", 3 << 19, nil}, {&sizes, "12", 0, errNumber}, {&sizes, "Gb", 0, errNumber}, {&sizes, "99999999999.00 Gb", 0, errTooLarge},
		{&counts, "10001", 10001, nil}, {&counts, "10,001", 10001, nil}, {&counts, "3.5x", 0, errNumber},
		{&kilo, "752.640", 752640, nil}, {&kilo, "torch/nn.py(3): f", 0, errNumber},
	} {
		got, err := tc.c.parse(tc.text)
		if err != tc.err || err == nil && (got.Value != tc.want || !got.Known) {
			t.Errorf("%q: %v, %v; want %d, %v", tc.text, got, err, tc.want, tc.err)
		}
	}
	if got, err := kilo.parse("--"); err != nil || got.Known {
		t.Errorf("no operations: %v, %v", got, err)
	}
}

// TestDecimal compares with exact fractions.
func TestDecimal(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		text := fmt.Sprint(rnd.Uint64N(1 << rnd.UintN(50)))
		if n := rnd.IntN(10); n > 0 {
			text += "." + fmt.Sprintf("%0*d", n, rnd.Uint64())[:n]
		}
		if rnd.IntN(3) == 0 {
			text = "-" + text
		}
		size := []int64{1, 1000, 1e6, 1e9, 1 << 10, 1 << 30, 1 << 40}[rnd.IntN(7)]
		exact, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatal(text)
		}
		exact.Mul(exact, new(big.Rat).SetInt64(size))
		want := strings.TrimPrefix(exact.FloatString(0), "-")
		got, err := decimal(text, size)
		switch have := strings.TrimPrefix(fmt.Sprint(got), "-"); {
		case err == errTooLarge && len(want) >= len("9223372036854775807"):
		case err == errTooLarge && len(strings.Trim(text, "-.")) > 18: // before the fraction is dropped
		case err != nil || have != want:
			t.Fatalf("%s of %d: %d, %v; want %s", text, size, got, err, want)
		}
	}
}

func TestHeaders(t *testing.T) {
	for text, want := range map[string]column{
		"Self CPU %":       {role: aShare, place: "CPU", self: true},
		"Self CPU total %": {role: aShare, place: "CPU", self: true},
		"Self CPU":         {role: aTime, place: "CPU", self: true},
		"Self CPU total":   {role: aTime, place: "CPU", self: true},
		"CPU total %":      {role: aShare, place: "CPU"},
		"CUDA total":       {role: aTime, place: "CUDA"},
		"XPU time avg":     {role: aTime, place: "XPU", mean: true},
		"Self MTIA Mem":    {role: aSize, place: "MTIA", self: true},
		"Total MFLOPs":     {role: someFlops, size: 1e6},
		"Number of Calls":  {role: aCount},
		"CPU":              {},
		"Self Cpu":         {},
		"GFLOPS":           {},
		"Self  ":           {},
	} {
		if got := columnOf(text); got != want && (want != column{} || got.role != ignored) {
			t.Errorf("%q is %+v, want %+v", text, got, want)
		}
	}
}
