package jsonscan

import (
	"encoding/binary"
	"math/bits"
)

// Eight bytes are searched at once by arithmetic on a word that holds them, the
// first byte lowest. A byte of x is zero exactly where the text has the wanted
// byte; (x-ones) &^ x & tops then has its top bit set at the first such byte.
// Higher bytes may have further bits set, so only the lowest counts.
const (
	ones        = 0x0101010101010101
	tops        = 0x8080808080808080
	quotes      = ones * '"'
	backslashes = ones * '\\'

	// Brackets differ from ']' or '}' by these bits only: [ 0x5b, ] 0x5d, {
	// 0x7b, } 0x7d. Setting 0x26 makes all four 0x7f, and also y 0x79, Y 0x59,
	// _ 0x5f and DEL 0x7f, which the caller must exclude.
	bracketBits = ones * 0x26
	bracketLike = ones * 0x7f
)

// quoteOrBackslash returns the index of the first quote or backslash at or
// after i, or len(b) if there is none.
func quoteOrBackslash(b []byte, i int) int {
	for ; i+8 <= len(b); i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		x, y := w^quotes, w^backslashes
		if hit := ((x-ones)&^x | (y-ones)&^y) & tops; hit != 0 {
			return i + bits.TrailingZeros64(hit)>>3
		}
	}
	for ; i < len(b); i++ {
		if b[i] == '"' || b[i] == '\\' {
			return i
		}
	}
	return len(b)
}

// special returns a word whose top bits are set for those of the eight bytes at
// b[i] that are quotes, backslashes or brackets, and possibly for some others.
// Bytes past the end of b are not counted.
func special(b []byte, i int) uint64 {
	var w uint64
	if i+8 <= len(b) {
		w = binary.LittleEndian.Uint64(b[i:])
	} else {
		for k, c := range b[i:] {
			w |= uint64(c) << (8 * k)
		}
	}
	x, y, z := w^quotes, w^backslashes, (w|bracketBits)^bracketLike
	return ((x-ones)&^x | (y-ones)&^y | (z-ones)&^z) & tops
}
