package pyprof

import (
	"bufio"
	"errors"
	"io"
	"strings"

	"assay/diag"
)

// A lineReader reads lines of limited length.
type lineReader struct {
	input  string // its name, for messages
	buf    *bufio.Reader
	long   []byte // a line that is longer than the buffer
	n      int    // lines so far
	issues diag.Ledger
}

func newLineReader(r io.Reader, name string) *lineReader {
	return &lineReader{input: name, buf: bufio.NewReaderSize(r, 64<<10)}
}

func (r *lineReader) pos() diag.Pos { return diag.Pos{File: r.input, Line: r.n} }

func (r *lineReader) issue(code string, severity diag.Severity, help string) {
	r.issues.Add(diag.Issue{Code: code, Severity: severity, First: r.pos(), Help: help})
}

// next returns the next line without what ends it. At the end of the input the
// error is io.EOF, with the last line if nothing ends it.
func (r *lineReader) next() (string, error) {
	r.n++
	r.long = r.long[:0]
	cut := false
	for {
		part, err := r.buf.ReadSlice('\n')
		if room := maxLine - len(r.long); len(part) > room {
			part, cut = part[:max(0, room)], true
		}
		r.long = append(r.long, part...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if cut {
			r.issue("line-too-long", diag.DataLoss, "lines of more than 1 MiB were cut there")
		}
		line := strings.TrimRight(string(r.long), "\r\n")
		if r.n == 1 {
			line = strings.TrimPrefix(line, "\ufeff")
		}
		return strings.ToValidUTF8(line, "\ufffd"), err
	}
}

// each calls f for every line, and returns what kept it from reading on to the
// end, or nil.
func (r *lineReader) each(f func(line string) error) error {
	for {
		line, err := r.next()
		if line != "" || err == nil {
			if failed := f(line); failed != nil {
				return failed
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
