package inflate

import (
	"fmt"
	"hash/crc32"
	"io"
)

// Bits of the flag byte of a gzip header (RFC 1952, section 2.3.1). The lowest,
// "probably text", has no effect.
const (
	flagHeaderCRC = 1 << 1
	flagExtra     = 1 << 2
	flagName      = 1 << 3
	flagComment   = 1 << 4
)

// A header reads the bytes of a gzip header and computes their checksum.
type header struct {
	*input
	crc   uint32 // of the bytes read, inverted as the algorithm requires
	short bool   // the input ended
}

func (h *header) next() byte {
	b, ok := h.readByte()
	if !ok {
		h.short = true
		return 0
	}
	h.crc = crc32.IEEETable[byte(h.crc)^b] ^ h.crc>>8
	return b
}

func (h *header) skip(n int) {
	for ; n > 0 && !h.short; n-- {
		h.next()
	}
}

func (h *header) skipText() {
	for h.next() != 0 {
	}
}

func (h *header) uint16() uint16 {
	low := h.next()
	return uint16(low) | uint16(h.next())<<8
}

// member reads a gzip header. It returns io.EOF if the input ends before it.
//
// The first bytes are checked one by one, so that a few bytes of garbage are
// reported as garbage and not as a truncated header.
func (z *Reader) member() error {
	z.align()
	start := z.offset()
	if !z.want(8) {
		return z.input.err
	}
	h := header{input: &z.input, crc: ^uint32(0)}
	for _, magic := range [...]byte{0x1f, 0x8b} {
		if b := h.next(); b != magic && !h.short {
			return fmt.Errorf("byte %d: %w", start, ErrNotGzip)
		}
	}
	if method := h.next(); method != 8 && !h.short {
		return fmt.Errorf("byte %d: %w: compression method %d, and only 8 is defined", start, ErrHeader, method)
	}
	flags := h.next()
	h.skip(6) // time, hints of the compressor, operating system
	if flags&flagExtra != 0 {
		h.skip(int(h.uint16()))
	}
	if flags&flagName != 0 {
		h.skipText()
	}
	if flags&flagComment != 0 {
		h.skipText()
	}
	if flags&flagHeaderCRC != 0 {
		want := uint16(^h.crc)
		if got := h.uint16(); got != want && !h.short {
			return fmt.Errorf("byte %d: %w: its checksum does not match", start, ErrHeader)
		}
	}
	if h.short {
		return z.short()
	}
	z.crc, z.size = 0, 0
	z.oldest = z.pos
	z.state = atBlock
	return nil
}

// trailer reads the checksum and length at a member's end and compares them
// with what was decoded.
func (z *Reader) trailer() error {
	z.sum()
	z.align()
	var stated [2]uint32
	for i := range stated {
		if !z.want(32) {
			return z.short()
		}
		stated[i] = uint32(z.take(32))
	}
	if stated != [2]uint32{z.crc, z.size} {
		return fmt.Errorf("byte %d: %w", z.offset(), ErrChecksum)
	}
	z.state = atMember
	return nil
}

var _ io.WriterTo = (*Reader)(nil)
