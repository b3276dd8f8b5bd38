package parquet

import (
	"encoding/binary"
	"math"
)

// runs reads numbers in the hybrid of run lengths and packed bits.
type runs struct {
	in     []byte
	width  int
	left   uint64 // of the current run
	packed []byte // of the current run; nil if its values are equal
	bit    int
	value  uint64
}

// next returns false at the end and for damage.
func (r *runs) next() (uint64, bool) {
	for r.left == 0 {
		head, n := binary.Uvarint(r.in)
		if n <= 0 {
			return 0, false
		}
		r.in, r.left, r.packed, r.bit = r.in[n:], head>>1, nil, 0
		if head&1 == 0 {
			size := (r.width + 7) / 8
			if size > len(r.in) {
				return 0, false
			}
			r.value = bitsAt(r.in, 0, 8*size)
			r.in = r.in[size:]
			continue
		}
		if r.left > math.MaxInt32 {
			return 0, false
		}
		size := min(int(r.left)*r.width, len(r.in)) // the last run may be cut
		r.packed, r.in = r.in[:size:size], r.in[size:]
		r.left *= 8
	}
	r.left--
	if r.packed == nil {
		return r.value, true
	}
	if r.bit+r.width > 8*len(r.packed) {
		return 0, false
	}
	v := bitsAt(r.packed, r.bit, r.width)
	r.bit += r.width
	return v, true
}

// bitsAt returns a number of a width of at most 64 bits, which the bytes must have.
func bitsAt(in []byte, bit, width int) uint64 {
	if width == 0 {
		return 0
	}
	at, shift := bit/8, bit%8
	if len(in)-at >= 8 && shift+width <= 64 {
		return binary.LittleEndian.Uint64(in[at:]) >> shift & (math.MaxUint64 >> (64 - width))
	}
	var v uint64
	for got := 0; got < width; at, shift = at+1, 0 {
		v |= uint64(in[at]>>shift) << got
		got += 8 - shift
	}
	return v & (math.MaxUint64 >> (64 - width))
}
