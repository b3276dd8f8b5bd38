package stats

import (
	"bufio"
	"errors"
	"io"
	"strings"
)

// A lineReader reads lines of limited length.
type lineReader struct {
	buf   *bufio.Reader
	long  []byte // a line that is longer than the buffer
	limit int
	n     int // lines so far
}

// next returns the next line without what ends it, and whether it was cut at
// the limit. At the end of the input the error is io.EOF, with the last line if
// nothing ends it.
func (r *lineReader) next() (line string, cut bool, err error) {
	r.n++
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
		if r.n == 1 {
			line = strings.TrimPrefix(line, "\ufeff")
		}
		return strings.ToValidUTF8(line, "\ufffd"), cut, err
	}
}

func newLineReader(r io.Reader, limit int) *lineReader {
	return &lineReader{buf: bufio.NewReaderSize(r, 64<<10), limit: limit}
}
