package torchprof

import (
	"errors"
	"math"
	"math/bits"
	"strings"

	"assay/internal/profile"
)

var (
	errNumber   = errors.New("not a number of its column")
	errTooLarge = errors.New("does not fit 64 bits")
)

// units are the units of times and, in lower case, of sizes, the longest first.
// All sizes are powers of 1024, written "Kb" by versions until 2.8 and "KB"
// since.
var (
	timeUnits = []struct {
		text string
		size int64
	}{{"ns", 1}, {"us", 1e3}, {"µs", 1e3}, {"μs", 1e3}, {"ms", 1e6}, {"s", 1e9}}
	sizeUnits = []struct {
		text string
		size int64
	}{{"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30}, {"tib", 1 << 40},
		{"kb", 1 << 10}, {"mb", 1 << 20}, {"gb", 1 << 30}, {"tb", 1 << 40}, {"b", 1}}
)

// parse reads a cell. A text for a missing value gives an unknown cell; any
// other text that is not a value of the column's kind is an error.
func (c *column) parse(text string) (profile.Cell, error) {
	switch c.role {
	case aTime:
		return parseTime(text)
	case aSize:
		lower := strings.ToLower(text)
		for _, u := range sizeUnits {
			if n, ok := strings.CutSuffix(lower, u.text); ok {
				return known(decimal(strings.TrimSpace(n), u.size))
			}
		}
	case aCount:
		return known(decimal(strings.ReplaceAll(text, ",", ""), 1))
	case someFlops:
		if text == "--" {
			return profile.Cell{}, nil
		}
		return known(decimal(text, c.size))
	case aShare:
		_, ok := parseShare(text)
		if !ok {
			return profile.Cell{}, errNumber
		}
		return profile.Cell{}, nil
	}
	return profile.Cell{}, errNumber
}

// parseTime reads a time such as "57.549ms".
func parseTime(text string) (profile.Cell, error) {
	for _, u := range timeUnits {
		if n, ok := strings.CutSuffix(text, u.text); ok {
			return known(decimal(strings.TrimSpace(n), u.size))
		}
	}
	return profile.Cell{}, errNumber
}

func known(n int64, err error) (profile.Cell, error) {
	return profile.Cell{Value: n, Known: err == nil}, err
}

// parseShare reads a share in percent. It returns NaN for "nan", and for the
// bare 0 that is printed as the share of work that overlaps the host.
func parseShare(text string) (percent float64, ok bool) {
	switch strings.ToLower(strings.TrimSuffix(text, "%")) {
	case "nan", "-nan", "inf", "-inf":
		return math.NaN(), true
	}
	if text == "0" {
		return math.NaN(), true
	}
	digits, isShare := strings.CutSuffix(text, "%")
	n, err := decimal(digits, 1000)
	if !isShare || err != nil {
		return 0, false
	}
	return float64(n) / 1000, true
}

// decimal reads a decimal number of units of the given size and returns the
// number of base units, rounded half away from zero.
func decimal(text string, size int64) (int64, error) {
	negative := strings.HasPrefix(text, "-")
	text = strings.TrimPrefix(text, "-")
	whole, fraction, point := strings.Cut(text, ".")
	if whole == "" || point && fraction == "" || len(fraction) > 15 {
		return 0, errNumber
	}
	var n, scale uint64 = 0, 1
	for i, part := range []string{whole, fraction} {
		for j := range len(part) {
			digit := part[j] - '0'
			if digit > 9 {
				return 0, errNumber
			}
			if n > (math.MaxInt64-9)/10 {
				return 0, errTooLarge
			}
			n = 10*n + uint64(digit)
			if i == 1 {
				scale *= 10
			}
		}
	}
	hi, lo := bits.Mul64(n, uint64(size))
	lo, carry := bits.Add64(lo, scale/2, 0)
	if hi += carry; hi >= scale {
		return 0, errTooLarge
	}
	if n, _ = bits.Div64(hi, lo, scale); n >= math.MaxInt64 {
		return 0, errTooLarge
	}
	if negative {
		return -int64(n), nil
	}
	return int64(n), nil
}
