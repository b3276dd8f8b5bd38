package eventscan

import (
	"errors"
	"math"
)

// Errors of ParseMicros.
var (
	errNotNumber = errors.New("not a number")
	errRange     = errors.New("beyond the range of 292 years")
)

// ParseMicros converts a JSON number of microseconds to whole nanoseconds. It
// rounds half away from zero: writers that divide nanoseconds as float64 leave
// 27.786999999999999 of 27787 ns.
//
// A float64 is not exact enough: near 1.7e15 µs, the present Unix time,
// neighboring float64s are 250 ns apart.
func ParseMicros(lit []byte) (ns int64, err error) {
	i, neg := 0, false
	if i < len(lit) && (lit[i] == '-' || lit[i] == '+') {
		neg = lit[i] == '-'
		i++
	}
	var d decimal
	i = d.digits(lit, i)
	if i < len(lit) && lit[i] == '.' {
		whole := d.count
		i = d.digits(lit, i+1)
		d.exp -= d.count - whole
	}
	if d.count == 0 {
		return 0, errNotNumber
	}
	if i < len(lit) && (lit[i] == 'e' || lit[i] == 'E') {
		if i = d.exponent(lit, i+1); i < 0 {
			return 0, errNotNumber
		}
	}
	if i != len(lit) {
		return 0, errNotNumber
	}
	d.exp += 3 // µs to ns
	ns, err = d.int64()
	if neg {
		ns = -ns
	}
	return ns, err
}

// A decimal is digits × 10^exp. It keeps the leading 19 digits, which is all
// that an int64 can represent.
type decimal struct {
	value   uint64
	kept    int    // significant digits in value
	count   int    // digits seen
	dropped int    // digits seen after value was full
	below   uint64 // the first of them
	exp     int
}

func (d *decimal) digits(s []byte, i int) int {
	for ; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
		d.count++
		switch {
		case d.kept == 19:
			if d.dropped++; d.dropped == 1 {
				d.below = uint64(s[i] - '0')
			}
		case d.kept > 0 || s[i] != '0':
			d.kept++
			d.value = d.value*10 + uint64(s[i]-'0')
		}
	}
	return i
}

// exponent reads the digits of an exponent and returns the index after them, or
// -1 if there are none.
func (d *decimal) exponent(s []byte, i int) int {
	neg := false
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		neg = s[i] == '-'
		i++
	}
	start, exp := i, 0
	for ; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
		exp = min(exp*10+int(s[i]-'0'), 1<<20) // larger exponents give the same result
	}
	if i == start {
		return -1
	}
	if neg {
		exp = -exp
	}
	d.exp += exp
	return i
}

func (d *decimal) int64() (int64, error) {
	exp := d.exp + d.dropped
	v, below := d.value, d.below
	for ; exp < 0 && v > 0; exp++ {
		v, below = v/10, v%10
	}
	if exp == 0 && below >= 5 {
		v++
	}
	for ; exp > 0 && v > 0; exp-- {
		if v > math.MaxInt64/10 {
			return 0, errRange
		}
		v *= 10
	}
	if v > math.MaxInt64 {
		return 0, errRange
	}
	return int64(v), nil
}
