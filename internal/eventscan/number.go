package eventscan

import (
	"encoding/binary"
	"math/bits"
)

const (
	ones  = 0x0101010101010101
	tops  = 0x8080808080808080
	zeros = ones * '0'
)

// digits8 returns the number of digits at the start of the eight bytes of w,
// the first byte lowest, and w minus the codes of those digits.
func digits8(w uint64) (n int, d uint64) {
	d = w ^ zeros // digits become 0 to 9, everything else is larger
	// A byte over 9 sets its top bit. A carry into the next byte is harmless,
	// because only the lowest set bit is used.
	over := (d + (0x7f-9)*ones | d) & tops
	return bits.TrailingZeros64(over) >> 3, d
}

// value8 returns the number with the given eight decimal digits, one per byte
// and the first lowest. It combines pairs, then fours, then all eight.
func value8(d uint64) uint64 {
	d = d*10 + d>>8
	return ((d&0x000000ff000000ff)*0x000f424000000064 + (d>>16&0x000000ff000000ff)*0x0000271000000001) >> 32
}

var powersOfTen = [...]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8}

// digits returns the number of digits at b[i], or 0 if there are more than seven
// or the block ends too close.
func digits(b []byte, i int) int {
	if i+8 > len(b) {
		return 0
	}
	n, _ := digits8(binary.LittleEndian.Uint64(b[i:]))
	return n & 7
}

// decimalEnd returns the index after the digits at b[i], and after a decimal
// point and its digits if they follow. It returns i if there are none or the
// block ends too close.
func decimalEnd(b []byte, i int) int {
	point := digitsEnd(b, i)
	if point == i || b[point] != '.' {
		return point
	}
	if end := digitsEnd(b, point+1); end > point+1 {
		return end
	}
	return i
}

// digitsEnd returns the index after the digits at b[i], or i if there are none
// or the block ends too close.
func digitsEnd(b []byte, i int) int {
	for at := i; at+8 <= len(b); at += 8 {
		if n, _ := digits8(binary.LittleEndian.Uint64(b[at:])); n < 8 {
			return at + n
		}
	}
	return i
}

// shortNumber reads up to seven digits at b[i]. It returns their value and
// their count. The count is 0 if there are no digits or more than seven, or if
// the block ends too close.
func shortNumber(b []byte, i int) (value int64, digits int) {
	if i+8 > len(b) {
		return 0, 0
	}
	n, d := digits8(binary.LittleEndian.Uint64(b[i:]))
	return int64(value8(d << (8 * (8 - n) & 63))), n & 7
}

// number reads up to sixteen digits at b[i]. It returns their value, the index
// after them and their count. The count is 0 if there are no digits or too
// many, or if the block ends too close.
func number(b []byte, i int) (value int64, end, digits int) {
	if i+8 > len(b) {
		return 0, i, 0
	}
	n, d := digits8(binary.LittleEndian.Uint64(b[i:]))
	if n < 8 {
		return int64(value8(d << (8 * (8 - n) & 63))), i + n, n
	}
	return longNumber(b, i, value8(d))
}

// longNumber reads a number whose first eight digits have the value high.
func longNumber(b []byte, i int, high uint64) (value int64, end, digits int) {
	if i+17 > len(b) {
		return 0, i, 0
	}
	n, d := digits8(binary.LittleEndian.Uint64(b[i+8:]))
	if n == 8 && b[i+16]-'0' <= 9 {
		return 0, i, 0
	}
	low := value8(d << (8 * (8 - n)))
	return int64(high*powersOfTen[n] + low), i + 8 + n, 8 + n
}

// micros reads a decimal number of microseconds with at most sixteen digits
// before its point and three after it, as whole nanoseconds. The caller must
// check that the number ends there.
func micros(b []byte, i int) (ns int64, end int, ok bool) {
	if i+8 > len(b) {
		return 0, i, false
	}
	n, d := digits8(binary.LittleEndian.Uint64(b[i:]))
	v, end := int64(value8(d<<(8*(8-n)&63))), i+n
	if n == 8 {
		v, end, n = longNumber(b, i, uint64(v))
	}
	if n == 0 || end+8 > len(b) {
		return 0, i, false
	}
	ns = v * 1000
	if b[end] == '.' {
		n, d := digits8(binary.LittleEndian.Uint64(b[end:]) >> 8)
		if n == 3 { // nearly always; that the length is a constant lets the next value be read early
			return ns + int64(d&0xff)*100 + int64(d>>8&0xff)*10 + int64(d>>16&0xff), end + 4, v <= 1<<53
		}
		if n == 0 || n > 3 {
			return 0, i, false
		}
		d &= 1<<(8*n) - 1
		ns += int64(d&0xff)*100 + int64(d>>8&0xff)*10 + int64(d>>16)
		end += 1 + n
	}
	// 16 digits of microseconds reach 9.2e18 ns only below this.
	return ns, end, v <= 1<<53
}
