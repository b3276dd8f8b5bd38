package pickle

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
)

const (
	readSize = 256 << 10

	// maxLine is the maximum length of a line of protocol 0, which is a number or a text.
	maxLine = 16 << 20

	// maxEmptyReads is how often in succession a reader may return neither bytes nor an error.
	maxEmptyReads = 100
)

// An input reads instructions and their arguments. It has its own buffer instead of
// a bufio.Reader, because half of the instructions are one byte long and a call for
// each of them would take longer than its execution.
type input struct {
	r     io.Reader
	buf   []byte
	rest  []byte // the part of buf that was not consumed yet
	read  int64  // bytes that r has returned
	ended error  // the error of r, which applies after rest
	err   error  // the error that an instruction met at the end of the input
	line  []byte
}

func newInput(r io.Reader) *input { return &input{r: r, buf: make([]byte, readSize)} }

// offset returns the offset of the next byte.
func (in *input) offset() int64 { return in.read - int64(len(in.rest)) }

// fail records the error that ended the input. It does not distinguish an input
// that ends within an instruction from one that ends between two.
func (in *input) fail(err error) error {
	if err == io.ErrUnexpectedEOF {
		err = io.EOF
	}
	in.err = err
	return err
}

// isEnd reports whether err is the end of the input or an error of its reader.
func (in *input) isEnd(err error) bool { return in.err != nil && errors.Is(err, in.err) }

// need reads until rest has n bytes. n must be at most readSize.
func (in *input) need(n int) error {
	if len(in.rest) >= n {
		return nil
	}
	have := copy(in.buf, in.rest)
	for empty := 0; have < n && in.ended == nil; {
		k, err := in.r.Read(in.buf[have:])
		have += k
		in.read += int64(k)
		if empty++; k > 0 {
			empty = 0
		}
		if in.ended = err; err == nil && empty == maxEmptyReads {
			in.ended = io.ErrNoProgress
		}
	}
	in.rest = in.buf[:have]
	if have < n {
		return in.fail(in.ended)
	}
	return nil
}

// next consumes n bytes, which need must have read.
func (in *input) next(n int) []byte {
	b := in.rest[:n:n]
	in.rest = in.rest[n:]
	return b
}

// byte reads one byte.
func (in *input) byte() (byte, error) {
	if len(in.rest) == 0 {
		n, err := in.lastUint(1)
		return byte(n), err
	}
	b := in.rest[0]
	in.rest = in.rest[1:]
	return b, nil
}

// uint reads an unsigned little-endian number of 1 to 8 bytes.
func (in *input) uint(size int) (uint64, error) {
	if len(in.rest) < 8 {
		return in.lastUint(size)
	}
	n := binary.LittleEndian.Uint64(in.rest) & (1<<(8*uint(size)) - 1)
	in.rest = in.rest[size:]
	return n, nil
}

// lastUint reads a number near the end of the buffer.
func (in *input) lastUint(size int) (uint64, error) {
	if err := in.need(size); err != nil {
		return 0, err
	}
	var buf [8]byte
	copy(buf[:], in.next(size))
	return binary.LittleEndian.Uint64(buf[:]), nil
}

// bigEndian reads the eight bytes of a float.
func (in *input) bigEndian() (uint64, error) {
	if err := in.need(8); err != nil {
		return 0, err
	}
	return binary.BigEndian.Uint64(in.next(8)), nil
}

// text reads n bytes, which are valid until the next read. Because n may be wrong, it
// allocates memory only as the bytes arrive, and calls take before each allocation.
func (in *input) text(n uint64, take func(bytes int) error) ([]byte, error) {
	if n <= readSize {
		if err := in.need(int(n)); err != nil {
			return nil, err
		}
		return in.next(int(n)), nil
	}
	in.line = in.line[:0]
	for left := n; left > 0; {
		part := int(min(left, readSize))
		if err := take(part); err != nil {
			return nil, err
		}
		if err := in.need(part); err != nil {
			return nil, err
		}
		in.line = append(in.line, in.next(part)...)
		left -= uint64(part)
	}
	return in.line, nil
}

// skip skips n bytes.
func (in *input) skip(n uint64) error {
	for n > 0 {
		if err := in.need(1); err != nil {
			return err
		}
		n -= uint64(len(in.next(int(min(n, uint64(len(in.rest)))))))
	}
	return nil
}

var errLongLine = errors.New("a line of it is longer than any number or text of a pickle")

// lineText reads up to a line feed and returns the bytes before it, which are valid
// until the next read.
func (in *input) lineText() ([]byte, error) {
	in.line = in.line[:0]
	for {
		if err := in.need(1); err != nil {
			return nil, err
		}
		end := bytes.IndexByte(in.rest, '\n')
		if end >= 0 {
			in.line = append(in.line, in.next(end + 1)[:end]...)
		} else {
			in.line = append(in.line, in.next(len(in.rest))...)
		}
		switch {
		case len(in.line) > maxLine:
			return nil, errLongLine
		case end >= 0:
			return in.line, nil
		}
	}
}
