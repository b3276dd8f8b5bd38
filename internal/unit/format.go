// Package unit prints and parses durations, bytes, rates, shares and counts.
//
// Inside assay a duration is an int64 of nanoseconds and a size an int64 of
// bytes; this package converts them from and to text. All rounding is integer
// arithmetic, half away from zero, so equal numbers print as equal text on
// every platform. The unit is chosen by the rounded number: 999.96 µs prints as
// "1 ms", never as "1000 µs".
package unit

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// None is printed for an undefined number, such as a share with denominator 0.
const None = "–"

// The maximum numbers of significant digits of a scaled number. Whole numbers are not rounded.
const (
	spoken  = 3 // in sentences
	tabular = 4 // in tables, where numbers are compared
)

// A scale is one unit: size is its length in the base unit, limit the number of
// them that make the next unit, or 0 for the last unit.
type scale struct {
	name  string
	size  int64
	limit int64
}

// The scales are functions because a slice in a variable could be changed.

func durations() []scale {
	return []scale{
		{"ns", 1, 1000},
		{"µs", 1e3, 1000},
		{"ms", 1e6, 1000},
		{"s", 1e9, 600},
		{"min", 60e9, 120},
		{"h", 3600e9, 0},
	}
}

func sizes() []scale {
	return []scale{
		{"B", 1, 1024},
		{"KiB", 1 << 10, 1024},
		{"MiB", 1 << 20, 1024},
		{"GiB", 1 << 30, 1024},
		{"TiB", 1 << 40, 1024},
		{"PiB", 1 << 50, 1024},
		{"EiB", 1 << 60, 0},
	}
}

func rates() []scale {
	return []scale{
		{"B/s", 1, 1000},
		{"kB/s", 1e3, 1000},
		{"MB/s", 1e6, 1000},
		{"GB/s", 1e9, 1000},
		{"TB/s", 1e12, 0},
	}
}

// Duration returns nanoseconds in a suitable unit for a sentence, with at most three
// significant digits and no trailing zeros: "950 ns", "84.2 ms", "254 s", "12.5 min",
// "26 h". Seconds are used up to 600 s, minutes up to 120 min.
func Duration(ns int64) string { return scaledWhole(ns, durations(), spoken) }

// FineDuration is [Duration] with at most four significant digits, for tables and for
// values beside their limits: "84.25 ms".
func FineDuration(ns int64) string { return scaledWhole(ns, durations(), tabular) }

// DurationOf prints a part and its whole as "84.2 ms of 1.2 s". If the whole is long enough for
// minutes, a part from one minute on is printed in minutes, too, "4.87 min of 20.6 min", so that they
// can be compared.
func DurationOf(part, whole int64) string {
	const minute, long, hours = 60e9, 600e9, 7200e9
	text := Duration(part)
	if whole >= long-5e8 && whole < hours && part >= minute && part < long {
		text = scaledWhole(part, []scale{{"min", minute, 0}}, spoken)
	}
	return text + " of " + Duration(whole)
}

// Bytes returns a size in binary units for a sentence, with at most three significant
// digits and no trailing zeros: "512 B", "1.5 KiB", "80 GiB".
func Bytes(n int64) string { return scaledWhole(n, sizes(), spoken) }

// FineBytes is [Bytes] with at most four significant digits, for tables and for values
// beside their limits.
func FineBytes(n int64) string { return scaledWhole(n, sizes(), tabular) }

// Rate returns bytes per ns nanoseconds in decimal units, as vendors state
// bandwidths: "25.6 GB/s". It returns [None] if ns is not positive.
func Rate(bytes, ns int64) string {
	if ns <= 0 {
		return None
	}
	perSecond := new(big.Int).Mul(big.NewInt(bytes), big.NewInt(1e9))
	return scaled(perSecond, big.NewInt(ns), rates(), tabular)
}

// Numbers up to small can be rounded without overflow. Nearly all numbers are
// that small, and a report prints thousands.
const small = math.MaxInt64 / 4000

// scaledWhole is the variant of scaled for a whole number of base units.
func scaledWhole(n int64, scales []scale, digits int) string {
	if n < -small || n > small {
		return scaled(big.NewInt(n), big.NewInt(1), scales, digits)
	}
	sign := ""
	if n < 0 {
		sign, n = "-", -n
	}
	most := int64(1)
	for range digits - 1 {
		most *= 10
	}
	for _, s := range scales {
		decimals, tens := digits-1, most
		if s.size == 1 {
			decimals, tens = 0, 1 // whole base units have no fraction
		}
		rounded := roundedBy(n, tens, s.size)
		for ; decimals > 0 && rounded >= 10*most; decimals-- {
			tens /= 10
			rounded = roundedBy(n, tens, s.size)
		}
		if s.limit == 0 || rounded < s.limit*tens {
			return sign + decimal(strconv.FormatInt(rounded, 10), decimals) + " " + s.name
		}
	}
	panic("unit: the last scale has a limit")
}

// roundedBy returns n*tens/size rounded to the nearest integer, halves up.
func roundedBy(n, tens, size int64) int64 {
	whole := n * tens / size // size may be as large as an int64
	if rest := n*tens - whole*size; rest >= size-rest {
		whole++
	}
	return whole
}

// scaled prints num/den base units in the first scale whose limit exceeds the
// rounded number. Den is positive.
func scaled(num, den *big.Int, scales []scale, digits int) string {
	sign := ""
	if num.Sign() < 0 {
		sign = "-"
		num = new(big.Int).Neg(num)
	}
	for _, s := range scales {
		unit := new(big.Int).Mul(den, big.NewInt(s.size))
		decimals := digits - 1
		if s.size == 1 && den.Cmp(big.NewInt(1)) == 0 {
			decimals = 0 // whole base units have no fraction
		}
		rounded, tens := roundTo(num, unit, decimals, digits)
		limit := new(big.Int).Mul(big.NewInt(s.limit), tens)
		if s.limit == 0 || rounded.Cmp(limit) < 0 {
			return sign + decimal(rounded.String(), len(tens.String())-1) + " " + s.name
		}
	}
	panic("unit: the last scale has a limit")
}

// roundTo returns num/den rounded to as many decimals as fit the significant
// digits, at most the given number, as an integer of 1/tens.
func roundTo(num, den *big.Int, decimals, digits int) (rounded, tens *big.Int) {
	full := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil)
	for ; ; decimals-- {
		tens = new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimals)), nil)
		rounded = divide(new(big.Int).Mul(num, tens), den)
		if decimals == 0 || rounded.Cmp(full) < 0 {
			return rounded, tens
		}
	}
}

// divide returns num/den rounded to the nearest integer, halves up. Neither is
// negative.
func divide(num, den *big.Int) *big.Int {
	twice := new(big.Int).Lsh(num, 1)
	return twice.Add(twice, den).Quo(twice, new(big.Int).Lsh(den, 1))
}

// decimal inserts a point before the last n digits of s and drops trailing
// zeros.
func decimal(s string, n int) string {
	if n == 0 {
		return s
	}
	if pad := n + 1 - len(s); pad > 0 {
		s = strings.Repeat("0", pad) + s
	}
	s = s[:len(s)-n] + "." + s[len(s)-n:]
	return strings.TrimRight(strings.TrimRight(s, "0"), ".")
}

// Share returns num/den in percent with one decimal: "40.0%". Rounding never
// hides a difference: a share that is not zero prints at least as "<0.1%", and
// "100.0%" means that num equals den; its neighbors print as ">99.9%" and
// ">100.0%". It returns [None] if den is 0.
func Share(num, den int64) string {
	if den == 0 {
		return None
	}
	n, d := magnitude(num), magnitude(den)
	negative := n != 0 && (num < 0) != (den < 0)
	text := percentTenths(n, d)
	below, above := "<", ">"
	sign := ""
	if negative {
		below, above, sign = above, below, "-"
	}
	switch {
	case n != 0 && text == "0.0":
		return below + sign + "0.1%"
	case n < d && text == "100.0":
		return above + sign + "99.9%"
	case n > d && text == "100.0":
		return above + sign + "100.0%"
	}
	return sign + text + "%"
}

// percentTenths returns 100*n/d, rounded to exactly one decimal.
func percentTenths(n, d uint64) string {
	if n > small || d > math.MaxInt64 {
		return decimalTenth(permille(n, d))
	}
	tenths := roundedBy(int64(n), 1000, int64(d))
	return strconv.FormatInt(tenths/10, 10) + "." + strconv.FormatInt(tenths%10, 10)
}

// permille returns 1000*n/d, rounded.
func permille(n, d uint64) *big.Int {
	num := new(big.Int).SetUint64(n)
	return divide(num.Mul(num, big.NewInt(1000)), new(big.Int).SetUint64(d))
}

// decimalTenth prints tenths with exactly one decimal.
func decimalTenth(tenths *big.Int) string {
	whole, tenth := new(big.Int).QuoRem(tenths, big.NewInt(10), new(big.Int))
	return whole.String() + "." + tenth.String()
}

// magnitude returns |n|, which int64 cannot hold for the smallest int64.
func magnitude(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}

// Percent returns a share, as used for thresholds, in percent with the fewest
// digits that [ParseShare] reads back as the same number: 0.2 is "20%", 0.125
// is "12.5%". Unlike [Share] it does not round.
func Percent(share float64) string {
	// Changing the decimal exponent keeps the digits; multiplying 0.29 by 100
	// gives 28.999999999999996.
	mantissa, exponent, finite := strings.Cut(strconv.FormatFloat(share, 'e', -1, 64), "e")
	if !finite {
		return mantissa + "%" // NaN, +Inf, -Inf
	}
	sign := ""
	if strings.HasPrefix(mantissa, "-") {
		sign, mantissa = "-", mantissa[1:]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	shift, _ := strconv.Atoi(exponent) // FormatFloat wrote it
	shift += 2
	point := len(fraction) - shift
	if point <= 0 {
		if whole == "0" {
			return "0%"
		}
		return sign + whole + fraction + strings.Repeat("0", -point) + "%"
	}
	return sign + decimal(whole+fraction, point) + "%"
}

// Count returns n with thousands separators: "1,234,567".
func Count(n int64) string {
	s := strconv.FormatUint(magnitude(n), 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	if n < 0 {
		return "-" + s
	}
	return s
}

// Timestamp prints a time in microseconds with three decimals, as written in a
// trace.
func Timestamp(ns int64) string {
	sign := ""
	n := uint64(ns)
	if ns < 0 {
		sign, n = "-", -n
	}
	return fmt.Sprintf("%s%d.%03d µs", sign, n/1000, n%1000)
}

// FLOPRate formats operations per second with three significant digits:
// "8.1 TFLOP/s".
func FLOPRate(v float64) string {
	names := []string{"FLOP/s", "kFLOP/s", "MFLOP/s", "GFLOP/s", "TFLOP/s", "PFLOP/s"}
	i := 0
	for v >= 999.5 && i+1 < len(names) {
		v /= 1000
		i++
	}
	return fmt.Sprintf("%.3g %s", v, names[i])
}
