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

// deltas reads numbers of the encoding DELTA_BINARY_PACKED: blocks of parts, each with the differences above the smallest of
// its block, in a width of its own.
type deltas struct {
	in      []byte
	left    uint64 // numbers that are still to come
	value   int64
	first   bool // the next number is value
	parts   int
	perPart int
	widths  []byte // of the parts of the block that are still to come
	least   int64
	packed  []byte // of the current part
	bit     int
	inPart  int // numbers of the current part that are still to come
	width   int
}

func newDeltas(in []byte) (d deltas, ok bool) {
	m := structReader{in: in}
	block, parts := m.uvarint(), m.uvarint()
	d.left, d.value, d.first = m.uvarint(), m.int(), true
	d.in = m.in
	if m.bad || block > 1<<20 || parts == 0 || parts > block || block%parts != 0 || block/parts%8 != 0 {
		return d, false
	}
	d.parts, d.perPart = int(parts), int(block/parts)
	return d, true
}

func (d *deltas) next() (int64, bool) {
	if d.left == 0 {
		return 0, false
	}
	d.left--
	if d.first {
		d.first = false
		return d.value, true
	}
	if d.inPart == 0 && !d.part() {
		return 0, false
	}
	d.inPart--
	if d.bit+d.width > 8*len(d.packed) {
		return 0, false
	}
	d.value += d.least + int64(bitsAt(d.packed, d.bit, d.width))
	d.bit += d.width
	return d.value, true
}

// part begins the next part, and the next block where the last one has ended.
func (d *deltas) part() bool {
	if len(d.widths) == 0 {
		m := structReader{in: d.in}
		d.least = m.int()
		d.widths = m.take(uint64(d.parts))
		if d.in = m.in; m.bad {
			return false
		}
	}
	d.width, d.widths, d.inPart, d.bit = int(d.widths[0]), d.widths[1:], d.perPart, 0
	if d.width > 64 {
		return false
	}
	size := min(d.perPart/8*d.width, len(d.in))
	d.packed, d.in = d.in[:size], d.in[size:]
	return true
}

// lengths returns the reader of the lengths at the beginning of a page, and what follows them.
func lengths(in []byte) (d deltas, rest []byte, ok bool) {
	if d, ok = newDeltas(in); !ok {
		return d, nil, false
	}
	to := d
	for to.left > 0 {
		if _, ok := to.next(); !ok {
			return d, nil, false
		}
	}
	return d, to.in, true
}
