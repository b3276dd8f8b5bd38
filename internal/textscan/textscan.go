// Package textscan walks through texts, such as logs of many gigabytes, in
// which a few lines matter. Readers of what such texts hold each say by which
// strings a line that begins something of theirs can be known; whatever has
// none of them is passed over a block at a time, at the speed of a search.
package textscan

import (
	"bytes"
	"errors"
	"io"
	"strings"
)

// A Finder finds what is its own among the lines of a text.
type Finder interface {
	// Hints returns the strings of which a line has one at least if the Finder
	// is to see it while it is not open. They are the same at every call.
	Hints() []string

	// Line takes a line, without what ends it, and its number, from 1 on.
	Line(n int, line string)

	// Open reports whether the next line matters, whatever it holds.
	Open() bool
}

// MaxLine is how long a line may be. Of longer ones the beginning is taken.
const MaxLine = 1 << 20

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
	s := &scanner{finders: finders, buf: make([]byte, 0, blockSize)}
	for _, f := range finders {
		var hints [][]byte
		for _, h := range f.Hints() {
			hints = append(hints, []byte(h))
		}
		s.hints = append(s.hints, hints)
	}
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

// blockSize is how much is searched at once, and what a line may have without
// being copied.
const blockSize = 256 << 10

type scanner struct {
	Result
	finders []Finder
	hints   [][][]byte // of each finder
	buf     []byte     // what was read and not yet passed on
	inLine  bool       // the rest of a line that was cut comes first
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
		s.lines(s.buf, true)
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
	s.lines(b, false)
}

// lines passes the lines of b on, and skips to the next hint where nobody wants
// them.
func (s *scanner) lines(b []byte, cut bool) {
	next := make([][]int, len(s.finders))
	for i := range s.hints {
		next[i] = make([]int, len(s.hints[i]))
	}
	for at := 0; at < len(b); {
		if !s.anyOpen() {
			hint := s.nextHint(b, at, next)
			if hint < 0 {
				s.Lines += bytes.Count(b[at:], []byte{'\n'})
				if b[len(b)-1] != '\n' {
					s.Lines++
				}
				return
			}
			begin := at + bytes.LastIndexByte(b[at:hint], '\n') + 1
			s.Lines += bytes.Count(b[at:begin], []byte{'\n'})
			at = begin
		}
		end := bytes.IndexByte(b[at:], '\n')
		if end < 0 {
			end = len(b) - at
		}
		s.line(b[at:at+end], cut)
		at += end + 1
	}
}

func (s *scanner) anyOpen() bool {
	for _, f := range s.finders {
		if f.Open() {
			return true
		}
	}
	return false
}

// nextHint returns where in b the first hint from at on is, or -1. Next has for
// each hint where it was found the last time, plus one, or -1 if there is no
// further one.
func (s *scanner) nextHint(b []byte, at int, next [][]int) int {
	first := -1
	for i, hints := range s.hints {
		for j, h := range hints {
			if next[i][j] >= 0 && next[i][j] <= at {
				if k := bytes.Index(b[at:], h); k >= 0 {
					next[i][j] = at + k + 1
				} else {
					next[i][j] = -1
				}
			}
			if k := next[i][j] - 1; k >= 0 && (first < 0 || k < first) {
				first = k
			}
		}
	}
	return first
}

// line gives one line to those who want it.
func (s *scanner) line(b []byte, cut bool) {
	s.Lines++
	if len(b) > MaxLine {
		b, cut = b[:MaxLine], true
	}
	text, made := "", false
	for i, f := range s.finders {
		if !f.Open() && !hasAny(b, s.hints[i]) {
			continue
		}
		if !made {
			text, made = tidy(b, s.Lines == 1), true
		}
		f.Line(s.Lines, text)
		if cut {
			if s.Cut == 0 {
				s.First = s.Lines
			}
			s.Cut++
			cut = false
		}
	}
}

func hasAny(b []byte, hints [][]byte) bool {
	for _, h := range hints {
		if bytes.Contains(b, h) {
			return true
		}
	}
	return false
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
		}
	}
	out.WriteString(s)
	return out.String()
}
