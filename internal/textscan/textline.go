package textscan

import (
	"bufio"
	"bytes"
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

// Next returns the next line without its ending, in valid UTF-8 and as a screen
// shows it, and whether it was shortened. Secrets that a reader could part at an
// escape or at a column are masked. At the end of the input the error is io.EOF,
// together with the last line if it has no ending.
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
		line = maskedLine(bytes.TrimRight(r.long, "\r\n"))
		return strings.ToValidUTF8(line, "\ufffd"), cut, err
	}
}

// maskedLine returns a line as a screen shows it. Secrets with separators of columns in them,
// which are passwords in addresses, are masked, because a column would have only a part.
func maskedLine(b []byte) string {
	line := string(redact.Line(b))
	if i := strings.Index(line, "://"); i >= 0 && strings.Contains(line[i:], "@") {
		return redact.Mask(line)
	}
	return line
}
