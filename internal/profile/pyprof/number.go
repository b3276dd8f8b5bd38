package pyprof

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"assay/internal/profile"
)

var (
	errNumber = errors.New("not a number")
	errRange  = errors.New("too large for 64 bits")
)

// seconds reads decimal seconds and returns nanoseconds. It does not use floating point,
// so it is exact. Digits below a nanosecond are dropped.
func seconds(text string) (int64, error) { return decimal(text, 9) }

// decimal reads a decimal number and returns it multiplied by 10^places.
func decimal(text string, places int) (int64, error) {
	rest, negative := strings.CutPrefix(text, "-")
	whole, fraction, _ := strings.Cut(rest, ".")
	if whole+fraction == "" || strings.Trim(whole+fraction, "0123456789") != "" {
		return 0, errNumber
	}
	if len(fraction) > places {
		fraction = fraction[:places]
	}
	n, err := strconv.ParseInt("0"+whole+fraction+strings.Repeat("0", places-len(fraction)), 10, 64)
	if err != nil {
		return 0, errRange
	}
	if negative {
		n = -n
	}
	return n, nil
}

// fromFloat converts seconds in floating point to nanoseconds.
func fromFloat(s float64) (int64, error) {
	ns := math.Round(s * 1e9)
	switch {
	case math.IsNaN(ns):
		return 0, errNumber
	case ns >= math.MaxInt64 || ns <= math.MinInt64:
		return 0, errRange
	}
	return int64(ns), nil
}

// calls reads a number of calls: "1973", or "1973/1" for a recursive function, where the
// second number counts only calls that are not recursive. For a shortened number such as
// "197..", the cells have no value.
func calls(text string) (all, primitive profile.Cell, err error) {
	if strings.HasSuffix(text, "..") && strings.Trim(text, "0123456789./") == "" {
		return profile.Cell{}, profile.Cell{}, nil
	}
	first, second, recursive := strings.Cut(text, "/")
	n, err := strconv.ParseInt(first, 10, 64)
	if err != nil || n < 0 {
		return all, primitive, errNumber
	}
	all, primitive = profile.Known(n), profile.Known(n)
	if recursive {
		if n, err = strconv.ParseInt(second, 10, 64); err != nil || n < 0 {
			return all, primitive, errNumber
		}
		primitive = profile.Known(n)
	}
	return all, primitive, nil
}
