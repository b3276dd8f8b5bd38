package pickle

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
)

const (
	readSize = 256 << 10

	// maxLine is how long a line of protocol 0 may be: a number or a text.
	maxLine = 16 << 20
)

// An input reads what instructions consist of and knows where it is.
type input struct {
	r      *bufio.Reader
	offset int64
	err    error // what ended it
	line   []byte
}

func newInput(r io.Reader) *input { return &input{r: bufio.NewReaderSize(r, readSize)} }

// fail notes what ended the input. One that ends within an instruction ends as
// one that ends between two.
func (in *input) fail(err error) error {
	if err == io.ErrUnexpectedEOF {
		err = io.EOF
	}
	in.err = err
	return err
}

// ended reports whether err is the input's end, or what kept it from being
// read.
func (in *input) ended(err error) bool { return in.err != nil && errors.Is(err, in.err) }

func (in *input) byte() (byte, error) {
	b, err := in.r.ReadByte()
	if err != nil {
		return 0, in.fail(err)
	}
	in.offset++
	return b, nil
}

// uint reads an unsigned number of 1 to 8 bytes, the lowest first.
func (in *input) uint(size int) (uint64, error) {
	b, err := in.r.Peek(size)
	if err != nil {
		return 0, in.fail(err)
	}
	var buf [8]byte
	copy(buf[:], b)
	in.r.Discard(size)
	in.offset += int64(size)
	return binary.LittleEndian.Uint64(buf[:]), nil
}

// bigEndian reads the eight bytes of a float.
func (in *input) bigEndian() (uint64, error) {
	b, err := in.r.Peek(8)
	if err != nil {
		return 0, in.fail(err)
	}
	n := binary.BigEndian.Uint64(b)
	in.r.Discard(8)
	in.offset += 8
	return n, nil
}

// text reads n bytes. They are valid until the next read. The length is
// believed only as far as bytes follow: memory is asked for as they come, each
// time through take.
func (in *input) text(n uint64, take func(bytes int) error) ([]byte, error) {
	if n <= readSize {
		b, err := in.r.Peek(int(n))
		if err != nil {
			return nil, in.fail(err)
		}
		in.line = append(in.line[:0], b...)
		in.r.Discard(int(n))
		in.offset += int64(n)
		return in.line, nil
	}
	in.line = in.line[:0]
	for left := n; left > 0; {
		if err := take(int(min(left, readSize))); err != nil {
			return nil, err
		}
		b, err := in.r.Peek(int(min(left, readSize)))
		if err != nil {
			return nil, in.fail(err)
		}
		in.line = append(in.line, b...)
		in.r.Discard(len(b))
		in.offset += int64(len(b))
		left -= uint64(len(b))
	}
	return in.line, nil
}

// skip passes n bytes.
func (in *input) skip(n uint64) error {
	for n > 0 {
		k, err := in.r.Discard(int(min(n, readSize)))
		in.offset += int64(k)
		if n -= uint64(k); err != nil {
			return in.fail(err)
		}
	}
	return nil
}

var errLongLine = errors.New("a line of it is longer than any number or text of a pickle")

// lineText reads up to a line feed, which is not part of the result. It is valid
// until the next read.
func (in *input) lineText() ([]byte, error) {
	in.line = in.line[:0]
	for {
		b, err := in.r.ReadSlice('\n')
		in.offset += int64(len(b))
		in.line = append(in.line, b...)
		switch {
		case len(in.line) > maxLine:
			return nil, errLongLine
		case err == bufio.ErrBufferFull:
		case err != nil:
			return nil, in.fail(err)
		default:
			return in.line[:len(in.line)-1], nil
		}
	}
}
