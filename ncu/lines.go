package ncu

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

// cells takes a line of CSV apart and puts its cells into the space of a list.
// Two quotes within a cell in quotes are one. It is false if a quote is still
// open at the end: then the cell goes on in the next line.
func cells(line string, comma byte, out []string) (list []string, whole bool) {
	out = out[:0]
	for {
		if line = strings.TrimLeft(line, " "); !strings.HasPrefix(line, `"`) {
			end := strings.IndexByte(line, comma)
			if end < 0 {
				return append(out, strings.TrimSpace(line)), true
			}
			out, line = append(out, strings.TrimSpace(line[:end])), line[end+1:]
			continue
		}
		end, doubled := closing(line)
		if end < 0 {
			return out, false
		}
		cell := line[1:end]
		if doubled {
			cell = strings.ReplaceAll(cell, `""`, `"`)
		}
		out, line = append(out, cell), line[end+1:]
		next := strings.IndexByte(line, comma)
		if next < 0 {
			return out, true
		}
		line = line[next+1:]
	}
}

// closing returns where the quote is that closes the cell that line begins with,
// or -1, and whether there are doubled ones before it.
func closing(line string) (end int, doubled bool) {
	for i := 1; i < len(line); i++ {
		if line[i] != '"' {
			continue
		}
		if i+1 == len(line) || line[i+1] != '"' {
			return i, doubled
		}
		doubled = true
		i++
	}
	return -1, doubled
}
