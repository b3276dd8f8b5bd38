// Package textscan walks through texts, such as logs of many gigabytes, in
// which a few lines matter. Readers of what such texts hold each say of a line,
// by a look that costs next to nothing, whether it may begin something of theirs;
// all others are passed over.
package textscan

import (
	"bytes"
	"errors"
	"io"
	"strings"
)

// A Finder finds what is its own among the lines of a text.
type Finder interface {
	// Hint reports whether a line may begin something of the Finder, while it is
	// not open. It is asked of every line, with the white space and the colours at
	// its end cut off, so it should look at the end first.
	Hint(line []byte) bool

	// Line takes a line, without what ends it, and its number, from 1 on. Before a
	// line with a hint come the lines above it, up to [Above] of them.
	Line(n int, line string)

	// Open reports whether the next line matters, whatever it holds.
	Open() bool
}

const (
	// MaxLine is how long a line may be. Of longer ones the beginning is taken.
	MaxLine = 1 << 20

	// Above is how many lines above one with a hint a Finder gets to see.
	Above = 6

	// maxAbove is how much is kept of such a line.
	maxAbove = 4 << 10

	// blockSize is how much is read at once, and what a line may have without
	// being copied.
	blockSize = 256 << 10
)

// Result says what was passed through.
type Result struct {
	Lines int // all of them
	Cut   int // those over [MaxLine] that some Finder was given
	First int // the first of these
}

// Scan gives the lines of r to the finders that want them: with their escape
// sequences dropped, and of what a progress bar wrote over itself only the last
// state. It returns what r returns, if that is not io.EOF.
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
	given   []int // the last line that each Finder got
	buf     []byte
	above   [Above][]byte // the last lines, that of number n at n%Above
	inLine  bool          // the rest of a line that was cut comes first
}

// grow makes room for more of a line that fills the buffer, or, at the longest
// that a line may be, passes on what there is and marks the rest as dropped.
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

// block passes on lines that are whole, but perhaps the last of the text.
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

// own copies the last lines out of the buffer, which is used again.
func (s *scanner) own() {
	for i, line := range s.above {
		s.above[i] = bytes.Clone(line[:min(len(line), maxAbove)])
	}
}

// line gives one line to those who want it.
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
			text, made = tidy(b[:min(len(b), MaxLine)], s.Lines == 1), true
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

// giveAbove gives a Finder the lines above the one at hand that it has not seen.
func (s *scanner) giveAbove(i int) {
	for n := max(1, s.given[i]+1, s.Lines-Above); n < s.Lines; n++ {
		line := s.above[n%Above]
		s.finders[i].Line(n, tidy(line[:min(len(line), maxAbove)], n == 1))
	}
}

// trimmed drops what cannot be seen at the end of a line: white space, and
// sequences that set colours.
func trimmed(b []byte) []byte {
	for n := len(b); n > 0; {
		switch c := b[n-1]; {
		case c == ' ' || c == '\t' || c == '\r':
			n--
		case c == 'm' && bytes.LastIndexByte(b[max(0, n-12):n], 0x1b) >= 0:
			n = max(0, n-12) + bytes.LastIndexByte(b[max(0, n-12):n], 0x1b)
		default:
			return b[:n]
		}
	}
	return nil
}

// tidy returns a line as it stands on a terminal: without escape sequences, and
// what the last carriage return leaves to be seen.
func tidy(b []byte, first bool) string {
	if first {
		b = bytes.TrimPrefix(b, []byte("\ufeff"))
	}
	b = bytes.TrimRight(b, "\r")
	if i := bytes.LastIndexByte(b, '\r'); i >= 0 {
		b = b[i+1:]
	}
	text := strings.ToValidUTF8(string(b), "\ufffd")
	if strings.IndexByte(text, 0x1b) >= 0 {
		text = withoutEscapes(text)
	}
	return text
}

// withoutEscapes drops the sequences that set colours and move the cursor (CSI,
// which end in a letter or one of @[\]^_`{|}~) and those that name the window
// or make links (OSC, which end in BEL or ESC \).
func withoutEscapes(s string) string {
	var out strings.Builder
	for {
		i := strings.IndexByte(s, 0x1b)
		if i < 0 {
			break
		}
		out.WriteString(s[:i])
		s = s[i+1:]
		switch {
		case strings.HasPrefix(s, "["):
			end := strings.IndexFunc(s[1:], func(r rune) bool { return r >= '@' && r <= '~' })
			if end < 0 {
				return out.String()
			}
			s = s[1+end+1:]
		case strings.HasPrefix(s, "]"):
			end := strings.IndexAny(s, "\a\x1b")
			if end < 0 {
				return out.String()
			}
			s = strings.TrimPrefix(s[end+1:], `\`)
		case len(s) > 1 && strings.IndexByte("()*+", s[0]) >= 0: // a character set
			s = s[2:]
		}
	}
	out.WriteString(s)
	return out.String()
}
