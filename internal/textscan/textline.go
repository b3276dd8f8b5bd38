package textscan

import (
	"bufio"
	"errors"
	"io"
	"strings"

	"assay/internal/redact"
)

// A Reader reads lines.
type Reader struct {
	// N is the number of lines read so far, that is, the number of the last
	// one. A caller that reads lines in another way may set it.
	N int

	buf   *bufio.Reader
	long  []byte // a line that is longer than the buffer
	limit int
}

// NewReader returns a Reader that shortens lines of more than limit bytes.
func NewReader(r io.Reader, limit int) *Reader {
	return &Reader{buf: bufio.NewReaderSize(r, 64<<10), limit: limit}
}

// Next returns the next line without its ending, in valid UTF-8, and whether it
// was shortened. A byte order mark before the first line is left out. At the
// end of the input the error is io.EOF, together with the last line if it has
// no ending.
func (r *Reader) Next() (line string, cut bool, err error) {
	r.N++
	r.long = r.long[:0]
	for {
		part, err := r.buf.ReadSlice('\n')
		if room := r.limit + redact.Ahead - len(r.long); len(part) > room {
			part = part[:max(0, room)]
		}
		r.long = append(r.long, part...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if cut = len(r.long) > r.limit; cut {
			r.long = redact.CutBytes(r.long, r.limit)
		}
		line = strings.TrimRight(string(r.long), "\r\n")
		if r.N == 1 {
			line = strings.TrimPrefix(line, "\ufeff")
		}
		return strings.ToValidUTF8(line, "\ufffd"), cut, err
	}
}
