package unit

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// A name is a unit as users write it.
type name struct {
	text string
	size int64
}

func durationNames() []name {
	return []name{
		{"ns", 1}, {"us", 1e3}, {"µs", 1e3}, {"μs", 1e3}, // micro sign and Greek mu
		{"ms", 1e6}, {"s", 1e9}, {"min", 60e9}, {"m", 60e9}, {"h", 3600e9},
	}
}

func sizeNames() []name {
	return []name{
		{"", 1}, {"b", 1},
		{"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30}, {"tib", 1 << 40}, {"pib", 1 << 50}, {"eib", 1 << 60},
		{"kb", 1e3}, {"mb", 1e6}, {"gb", 1e9}, {"tb", 1e12}, {"pb", 1e15}, {"eb", 1e18},
	}
}

// ParseDuration reads a number with a unit, such as "1.5ms", "200us" or "3 s",
// and returns nanoseconds. Units are ns, us (or µs), ms, s, min (or m) and h.
// The result is exact: a fraction of a nanosecond is an error.
func ParseDuration(s string) (ns int64, err error) {
	q, err := parse(s, durationNames(), func(unit string) string { return unit })
	switch {
	case errors.Is(err, errUnit):
		return 0, fmt.Errorf("duration %q: want a number and one of ns, us, ms, s, min, h", s)
	case err != nil:
		return 0, fmt.Errorf("duration %q: %w", s, err)
	case !q.IsInt():
		return 0, fmt.Errorf("duration %q: not a whole number of nanoseconds", s)
	case !q.Num().IsInt64():
		return 0, fmt.Errorf("duration %q: over %d ns, the longest that can be represented", s, int64(math.MaxInt64))
	}
	return q.Num().Int64(), nil
}

// ParseBytes reads a size, such as "4096", "1.5 GiB" or "25MB", and returns
// bytes. KiB, MiB, ... are powers of 1024 and kB, MB, ... powers of 1000; case
// does not matter. A fraction of a byte is rounded to the nearest byte, so that
// the output of [Bytes] can be read back.
func ParseBytes(s string) (n int64, err error) {
	q, err := parse(s, sizeNames(), strings.ToLower)
	switch {
	case errors.Is(err, errUnit):
		return 0, fmt.Errorf("size %q: want a number and one of B, KiB, MiB, GiB, TiB, kB, MB, GB, TB", s)
	case err != nil:
		return 0, fmt.Errorf("size %q: %w", s, err)
	}
	whole := divide(new(big.Int).Abs(q.Num()), q.Denom())
	if q.Sign() < 0 {
		whole.Neg(whole)
	}
	if !whole.IsInt64() {
		return 0, fmt.Errorf("size %q: over %d bytes, the largest that can be represented", s, int64(math.MaxInt64))
	}
	return whole.Int64(), nil
}

// ParseShare reads a share, such as "15%" or "0.15", and returns the nearest
// float64: both examples give the constant 0.15.
func ParseShare(s string) (float64, error) {
	number, percent := strings.CutSuffix(s, "%")
	if percent {
		number = strings.TrimRight(number, " ")
	}
	if end, err := split(number); err != nil || end != len(number) {
		return 0, fmt.Errorf(`share %q: want a number such as "15%%" or "0.15"`, s)
	}
	if percent {
		// Dividing by 100 would round twice.
		number += "e-2"
	}
	f, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return 0, fmt.Errorf("share %q: out of range", s)
	}
	return f, nil
}

var (
	errUnit   = errors.New("unknown unit")
	errNumber = errors.New("malformed number")
)

// parse reads a decimal number and a unit, and returns the number in base
// units.
func parse(s string, names []name, fold func(string) string) (*big.Rat, error) {
	end, err := split(s)
	if err != nil {
		return nil, err
	}
	if end > maxNumber {
		return nil, fmt.Errorf("number of %d characters, at most %d", end, maxNumber)
	}
	unit := fold(strings.TrimLeft(s[end:], " "))
	for _, n := range names {
		if n.text == unit {
			q, ok := new(big.Rat).SetString(s[:end])
			if !ok {
				return nil, errNumber
			}
			return q.Mul(q, new(big.Rat).SetInt64(n.size)), nil
		}
	}
	return nil, errUnit
}

// maxNumber is the length of the longest number that is read exactly. A longer
// number cannot be represented in an int64, and exact arithmetic slows down
// with length.
const maxNumber = 50

// split returns the index at which the number at the start of s ends: an
// optional minus, digits, and at most one point with digits on at least one
// side.
func split(s string) (end int, err error) {
	rest := strings.TrimPrefix(s, "-")
	digits, points := 0, 0
	n := 0
scan:
	for ; n < len(rest); n++ {
		switch {
		case rest[n] >= '0' && rest[n] <= '9':
			digits++
		case rest[n] == '.':
			points++
		default:
			break scan
		}
	}
	if digits == 0 || points > 1 {
		return 0, errNumber
	}
	return len(s) - len(rest) + n, nil
}
