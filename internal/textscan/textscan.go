// Package textscan reads texts, such as logs of many gigabytes, in which a few
// lines matter. Each reader of such lines decides with a cheap check whether a
// line may begin something that it reads; all other lines are skipped. A [Reader]
// reads lines of limited length from files with any content.
package textscan

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"assay/internal/redact"
)

// A Finder reads its own records among the lines of a text.
type Finder interface {
	// Hint reports whether a line may begin a record of the Finder, while it is
	// not open. It is called for every line, without what a progress bar has
	// overwritten and without the white space and the colors at its end, so it
	// should check the end first.
	Hint(line []byte) bool

	// Line receives a line, without its line ending, and its number, from 1 on.
	// Before a line with a hint it receives up to [Above] of the preceding
	// lines.
	Line(n int, line string)

	// Open reports whether the Finder needs the next line, whatever it
	// contains.
	Open() bool
}

const (
	// MaxLine is the maximum length of a line. Longer lines are shortened.
	MaxLine = 1 << 20

	// Above is the number of lines before one with a hint that a Finder
	// receives.
	Above = 6

	// maxAbove is the number of bytes kept of such a line.
	maxAbove = 4 << 10

	// blockSize is the number of bytes read at once, and the longest line that
	// is not copied.
	blockSize = 256 << 10
)

// Result has the counts of a scan.
type Result struct {
	Lines int // all lines
	Cut   int // lines over [MaxLine] that a Finder received
	First int // the number of the first of these
}

// Scan passes the lines of r to the finders that want them, without escape
// sequences and with only the last state of a line that a progress bar
// overwrites. It returns the error of r, unless that is io.EOF.
func Scan(r io.Reader, finders ...Finder) (Result, error) {
	s := &scanner{finders: finders, given: make([]int, len(finders)), buf: make([]byte, 0, blockSize)}
	for {
		n, err := r.Read(s.buf[len(s.buf):cap(s.buf)])
		s.buf = s.buf[:len(s.buf)+n]
		end := bytes.LastIndexByte(s.buf[len(s.buf)-n:], '\n') + 1
		if end > 0 {
			end += len(s.buf) - n
		}
		switch {
		case err != nil:
			s.block(s.buf)
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return s.Result, err
		case end > 0:
			s.block(s.buf[:end])
			s.buf = append(s.buf[:0], s.buf[end:]...)
		}
		s.grow()
	}
}

type scanner struct {
	Result
	finders []Finder
	given   []int // the last line that each Finder received
	buf     []byte
	above   [Above][]byte // the last lines, with number n at n%Above
	inLine  bool          // the rest of a shortened line comes first
}

// grow makes room for more of a line that fills the buffer. At the maximum
// length of a line it passes on the line and marks the rest as dropped.
func (s *scanner) grow() {
	if len(s.buf) < cap(s.buf) {
		return
	}
	if cap(s.buf) <= MaxLine {
		s.buf = append(make([]byte, 0, 2*cap(s.buf)), s.buf...)
		return
	}
	if !s.inLine {
		s.line(s.buf)
		s.own()
		s.inLine = true
	}
	s.buf = s.buf[:0]
}

// block passes on complete lines. Only the last line of the text may lack its
// ending.
func (s *scanner) block(b []byte) {
	if s.inLine && len(b) > 0 {
		end := bytes.IndexByte(b, '\n') + 1
		if end == 0 {
			return
		}
		b, s.inLine = b[end:], false
	}
	for len(b) > 0 {
		end := bytes.IndexByte(b, '\n')
		if end < 0 {
			s.line(b)
			break
		}
		s.line(b[:end])
		b = b[end+1:]
	}
	s.own()
}

// own copies the last lines out of the buffer, which is reused, with what decides
// where they are cut.
func (s *scanner) own() {
	for i, line := range s.above {
		s.above[i] = bytes.Clone(line[:min(len(line), maxAbove+redact.Ahead)])
	}
}

// line passes one line to the finders that want it.
func (s *scanner) line(b []byte) {
	s.Lines++
	text, made := "", false
	end := trimmed(b)
	for i, f := range s.finders {
		if !f.Open() {
			if !f.Hint(end) {
				continue
			}
			s.giveAbove(i)
		}
		if !made {
			text, made = tidy(redact.CutBytes(b, MaxLine), s.Lines == 1), true
		}
		f.Line(s.Lines, text)
		s.given[i] = s.Lines
	}
	if made && len(b) > MaxLine {
		if s.Cut++; s.Cut == 1 {
			s.First = s.Lines
		}
	}
	s.above[s.Lines%Above] = b
}

// giveAbove passes to a Finder the lines before the current one that it has not
// received.
func (s *scanner) giveAbove(i int) {
	for n := max(1, s.given[i]+1, s.Lines-Above); n < s.Lines; n++ {
		line := s.above[n%Above]
		s.finders[i].Line(n, tidy(redact.CutBytes(line, maxAbove), n == 1))
	}
}

// trimmed removes what is invisible of a line: white space and sequences that set colors
// at its end, and what a progress bar wrote before the last carriage return.
func trimmed(b []byte) []byte {
	for n := len(b); n > 0; {
		switch c := b[n-1]; {
		case c == ' ' || c == '\t' || c == '\r':
			n--
		case c == 'm' && bytes.LastIndexByte(b[max(0, n-12):n], 0x1b) >= 0:
			n = max(0, n-12) + bytes.LastIndexByte(b[max(0, n-12):n], 0x1b)
		default:
			if bytes.IndexByte(b[:n], '\r') >= 0 {
				return b[bytes.LastIndexByte(b[:n], '\r')+1 : n]
			}
			return b[:n]
		}
	}
	return nil
}

// tidy returns a line as a terminal shows it: without escape sequences, and
// only the text that remains visible after the last carriage return.
func tidy(b []byte, first bool) string {
	if first {
		b = bytes.TrimPrefix(b, []byte("\ufeff"))
	}
	b = bytes.TrimRight(b, "\r")
	if i := bytes.LastIndexByte(b, '\r'); i >= 0 {
		b = b[i+1:]
	}
	return strings.ToValidUTF8(string(redact.Line(b)), "\ufffd") // what is around a sequence may be parts of a character
}
