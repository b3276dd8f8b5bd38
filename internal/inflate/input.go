package inflate

import "io"

const (
	inputSize = 64 << 10 // bytes of compressed input held at a time

	// fastInput is the number of bytes that one round of the fast loop may
	// load: two refills of 8 bytes.
	fastInput = 16

	// maxEmptyReads is the number of consecutive reads for which the source may
	// return no bytes.
	maxEmptyReads = 100
)

// An input returns the bits of a stream, lowest bit of a byte first.
//
// The lowest n bits of the field bits are valid and unread; the others are
// zero. Whole bytes among them can always be returned to buf, because nothing
// moves within buf while bits holds bytes of it.
type input struct {
	r   io.Reader
	err error // why r gives no more; io.EOF if it just ends

	buf     *[inputSize]byte
	at, end int   // buf[at:end] is not in bits yet
	before  int64 // bytes of the stream before buf[0]

	bits uint64
	n    uint
}

// offset returns the number of bytes of which at least one bit was read.
func (in *input) offset() int64 {
	return in.before + int64(in.at) - int64(in.n>>3)
}

// giveBack returns whole bytes from bits to buf.
func (in *input) giveBack() {
	in.at -= int(in.n >> 3)
	in.n &= 7
	in.bits &= 1<<in.n - 1
}

// align drops the remaining bits of a partly read byte.
func (in *input) align() {
	in.giveBack()
	in.bits, in.n = 0, 0
}

// fill reads until buf has enough for a round of the fast loop or the source
// ends. In the second case in.err is the reason.
func (in *input) fill() {
	in.giveBack()
	in.before += int64(in.at)
	in.end = copy(in.buf[:], in.buf[in.at:in.end])
	in.at = 0
	for empty := 0; in.end < fastInput && in.err == nil; {
		var n int
		n, in.err = in.r.Read(in.buf[in.end:])
		in.end += n
		if n > 0 {
			empty = 0
			continue
		}
		if empty++; empty == maxEmptyReads && in.err == nil {
			in.err = io.ErrNoProgress
		}
	}
}

// want makes n bits available and reports whether the input has them. If it has
// fewer, all of them are available. N is at most 56, and never 64, which the
// fast loop could not distinguish from 0.
func (in *input) want(n uint) bool {
	if in.n >= n {
		return true
	}
	if in.end-in.at < 8 && in.err == nil {
		in.fill()
	}
	for in.n < 56 && in.at < in.end {
		in.bits |= uint64(in.buf[in.at]) << in.n
		in.at++
		in.n += 8
	}
	return in.n >= n
}

// take removes n bits, which must be available, and returns them.
func (in *input) take(n uint) uint {
	v := in.bits & (1<<n - 1)
	in.bits >>= n
	in.n -= n
	return uint(v)
}

// readByte returns the next byte of an aligned input.
func (in *input) readByte() (byte, bool) {
	if !in.want(8) {
		return 0, false
	}
	return byte(in.take(8)), true
}

// short returns the error for an input that ends in the middle of a member.
func (in *input) short() error {
	if in.err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return in.err
}
