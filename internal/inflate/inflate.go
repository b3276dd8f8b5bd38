// Package inflate reads gzip files, fast enough that decompression does not
// determine how long a large trace takes to load.
//
// It accepts exactly what package compress/gzip accepts (and header text longer
// than that package's limit of 511 bytes), and gives the same bytes. For a
// broken file it returns every byte decoded before the error. The error
// distinguishes a file that ends too early ([io.ErrUnexpectedEOF]), data that
// is not gzip ([ErrHeader]), data that cannot be decoded ([CorruptError]) and
// data that decodes to something different from the original ([ErrChecksum]).
// Memory use is constant for all inputs.
//
// The implementation is fast for four reasons: bits are taken from a 64-bit
// buffer that is refilled by 8-byte loads; one table lookup may return two
// literals; matches are copied in 16-byte steps that may overshoot; and the
// inner loop runs only while there is enough input and room for output that it
// needs no check per symbol. The ends of input and window, and all errors, are
// handled by a second, fully checked loop.
package inflate

import (
	"hash/crc32"
	"io"
)

const (
	historySize = 32 << 10        // how far back a match may reach
	decodeEnd   = historySize * 8 // no symbol is begun at or past this position of the window
	windowSize  = decodeEnd + overshoot

	// overshoot is the space after decodeEnd that decoding may use: six
	// literals and a longest match, including the bytes that its copy writes
	// past its end.
	overshoot = 6 + maxMatch + copySlack

	// copySlack is the number of bytes that the copy of a match may write past
	// its end. It always makes two steps of 16 bytes.
	copySlack = 32
)

// A state is what comes next in the input.
type state uint8

const (
	atMember  state = iota // a gzip header, or the end
	atBlock                // the header of a block
	inStored               // bytes of a block without compression
	inSymbols              // Huffman codes
	atTrailer              // checksum and length of a member
)

// A Reader decompresses a gzip file of any number of members. It is not safe
// for concurrent use.
type Reader struct {
	input
	state state
	err   error // what ends the output, once all of it was returned

	// window holds the last decoded bytes. Bytes up to pos are decoded; bytes
	// from handed on were not returned to the caller yet; bytes from summed on
	// are not in the checksum yet; and bytes from oldest on belong to the
	// current member, so that matches may refer to them.
	window                      *[windowSize]byte
	pos, handed, summed, oldest int

	crc  uint32 // of the current member
	size uint32 // of the current member, modulo 2^32

	final  bool // the current block is the member's last
	stored int  // bytes left of a stored block
	codes  codes
}

// NewReader returns a Reader of the gzip file r. It may read more from r than
// the file's members. Nothing is read before the first call of Read or WriteTo,
// which therefore also report a bad header.
func NewReader(r io.Reader) *Reader {
	return &Reader{
		input:  input{r: r, buf: new([inputSize]byte)},
		window: new([windowSize]byte),
	}
}

// Read implements [io.Reader]. It returns io.EOF only if the last member is
// complete and has the right checksum; input without any member is empty.
func (z *Reader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if !z.ready() {
		return 0, z.err
	}
	n := copy(p, z.window[z.handed:z.pos])
	z.handed += n
	return n, nil
}

// WriteTo implements [io.WriterTo]. It avoids the copy that Read makes.
func (z *Reader) WriteTo(w io.Writer) (int64, error) {
	var total int64
	for z.ready() {
		n, err := w.Write(z.window[z.handed:z.pos])
		z.handed += n
		total += int64(n)
		if err == nil && z.handed < z.pos {
			err = io.ErrShortWrite
		}
		if err != nil {
			return total, err
		}
	}
	if z.err == io.EOF {
		return total, nil
	}
	return total, z.err
}

// Whole reports whether the data returned so far consists of complete members.
// If it is true, an error of Read concerns the data after them.
func (z *Reader) Whole() bool { return z.handed == z.pos && z.state == atMember }

// ready decodes more data if all decoded data was returned. It reports whether
// there is data to return; if not, z.err is the reason.
func (z *Reader) ready() bool {
	if z.handed < z.pos {
		return true
	}
	if z.err != nil {
		return false
	}
	if z.pos >= decodeEnd {
		z.slide()
	}
	for z.pos < decodeEnd && z.err == nil {
		z.err = z.step()
	}
	z.sum()
	return z.handed < z.pos
}

// slide moves the history to the front of the window.
func (z *Reader) slide() {
	by := z.pos - historySize
	copy(z.window[:], z.window[by:z.pos])
	z.pos, z.handed, z.summed = historySize, historySize, historySize
	z.oldest = max(0, z.oldest-by)
}

// step reads one element of the input: a header, a block's symbols up to the
// end of the window, or a trailer.
func (z *Reader) step() error {
	switch z.state {
	case atMember:
		return z.member()
	case atBlock:
		return z.block()
	case inStored:
		return z.copyStored()
	case inSymbols:
		return z.symbols()
	default:
		return z.trailer()
	}
}

// sum adds the data decoded since the last call to the member's checksum.
func (z *Reader) sum() {
	fresh := z.window[z.summed:z.pos]
	z.crc = crc32.Update(z.crc, crc32.IEEETable, fresh)
	z.size += uint32(len(fresh))
	z.summed = z.pos
}
