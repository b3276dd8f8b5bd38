// Package textline reads lines of text of limited length, whatever a file holds.
package textline

import (
	"bufio"
	"errors"
	"io"
	"strings"
)

// A Reader reads lines.
type Reader struct {
	// N is how many lines were read so far: the number of the last one. Who reads
	// the lines elsewhere may set it.
	N int

	buf   *bufio.Reader
	long  []byte // a line that is longer than the buffer
	limit int
}

// NewReader returns a Reader that cuts lines of more than limit bytes there.
func NewReader(r io.Reader, limit int) *Reader {
	return &Reader{buf: bufio.NewReaderSize(r, 64<<10), limit: limit}
}

// Next returns the next line without what ends it, in valid UTF-8, and whether
// it was cut at the limit. A byte order mark before the first line is left out.
// At the end of the input the error is io.EOF, with the last line if nothing
// ends it.
func (r *Reader) Next() (line string, cut bool, err error) {
	r.N++
	r.long = r.long[:0]
	for {
		part, err := r.buf.ReadSlice('\n')
		if room := r.limit - len(r.long); len(part) > room {
			part, cut = part[:max(0, room)], true
		}
		r.long = append(r.long, part...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		line = strings.TrimRight(string(r.long), "\r\n")
		if r.N == 1 {
			line = strings.TrimPrefix(line, "\ufeff")
		}
		return strings.ToValidUTF8(line, "\ufffd"), cut, err
	}
}
