// Package inflate reads gzip files, fast enough that decompression does not
// decide how long a large trace takes to load.
//
// It accepts exactly what package compress/gzip accepts (and header text
// longer than that package's limit of 511 bytes), and gives the same bytes. A
// broken file gives every byte that was decoded before the break, then an error
// that tells a file that ends too early ([io.ErrUnexpectedEOF]) from data that
// is no gzip ([ErrHeader]), that cannot be decoded ([CorruptError]) and that
// decodes to something else than was packed ([ErrChecksum]). Memory use is
// fixed, whatever the input.
//
// What makes it fast: bits are taken from a 64-bit buffer that is refilled by
// 8-byte loads, one table lookup may give two literals, matches are copied in
// 16-byte steps that may overshoot, and the inner loop runs only where there is
// so much input and room for output that it need not ask per symbol. The ends,
// and everything that is wrong, are left to a careful twin of that loop.
package inflate

import (
	"hash/crc32"
	"io"
)

const (
	historySize = 32 << 10        // how far back a match may reach
	decodeEnd   = historySize * 8 // no symbol is begun at or past this place of the window
	windowSize  = decodeEnd + overshoot

	// overshoot is the room that decoding may use past decodeEnd: six literals
	// and a longest match, with what its copy writes past its end.
	overshoot = 6 + maxMatch + copySlack

	// copySlack is how far past its end the copy of a match may write. Two steps
	// of 16 bytes come without asking how long the match is.
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
	err   error // what ends the output, once all of it is handed out

	// window holds the last bytes decoded. Bytes up to pos are decoded, those
	// from handed on have not been given to the caller yet, those from summed on
	// are not in the checksum yet, and those from oldest on are of the current
	// member, so that matches may reach them.
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

// Read implements [io.Reader]. It returns io.EOF only where the last member
// ends whole and with the right checksum; input without any member is empty.
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

// WriteTo implements [io.WriterTo]. It saves the copy that Read makes.
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

// Whole reports whether all that was handed out so far is whole members. Where
// it is true, an error of Read concerns what follows them.
func (z *Reader) Whole() bool { return z.handed == z.pos && z.state == atMember }

// ready decodes more if all that was decoded is handed out. It reports whether
// there is something to hand out; if not, z.err says why.
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

// step reads one thing from the input: a header, a block's symbols up to the
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

// sum adds what was decoded since the last call to the member's checksum.
func (z *Reader) sum() {
	fresh := z.window[z.summed:z.pos]
	z.crc = crc32.Update(z.crc, crc32.IEEETable, fresh)
	z.size += uint32(len(fresh))
	z.summed = z.pos
}
