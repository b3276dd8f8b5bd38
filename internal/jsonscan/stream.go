package jsonscan

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// A Stream is a window that moves over a reader. The window always starts at
// the next unread byte; [Stream.Value] grows it until a whole value is inside.
type Stream struct {
	r        io.Reader
	buf      []byte
	pos, end int   // the window is buf[pos:end]
	base     int64 // offset of buf[0] in the input
	err      error // the error that ended r; io.EOF at its end
	max      int
}

// ErrTooLong reports a value longer than the stream's limit.
var ErrTooLong = errors.New("value is too long")

// The buffer of a stream begins small, because many inputs are, and grows to the
// usual size while it is read. Only a value that is longer makes it larger.
const (
	firstBuffer = 16 << 10
	usualBuffer = 256 << 10
)

// NewStream returns a stream over r whose values may be up to max bytes long.
func NewStream(r io.Reader, max int) *Stream {
	return &Stream{r: r, buf: make([]byte, firstBuffer), max: max}
}

// Offset returns the position of the window's start in the input.
func (s *Stream) Offset() int64 { return s.base + int64(s.pos) }

// Window returns the bytes in the window. They are valid until the next call.
func (s *Stream) Window() []byte { return s.buf[s.pos:s.end] }

// Advance moves the window's start by n bytes, which must be inside it.
func (s *Stream) Advance(n int) { s.pos += n }

// Rest returns a reader of the window and everything after it. The stream must
// not be used until Restart.
func (s *Stream) Rest() io.Reader {
	rest := s.r
	if s.err != nil {
		rest = ended{s.err}
	}
	return io.MultiReader(bytes.NewReader(bytes.Clone(s.Window())), rest)
}

// Restart continues the stream with r, whose first byte is at the offset.
func (s *Stream) Restart(r io.Reader, offset int64) {
	s.r, s.base, s.pos, s.end, s.err = r, offset, 0, 0, nil
}

// ended is a reader that returns an error.
type ended struct{ err error }

func (e ended) Read([]byte) (int, error) { return 0, e.err }

// Err returns the error that ended the input, or nil if the input has not ended
// or ended with io.EOF.
func (s *Stream) Err() error {
	if s.err == io.EOF {
		return nil
	}
	return s.err
}

// More reads at least one further byte into the window and reports whether it
// succeeded. It returns false at the input's end and when the window holds the
// longest permitted value.
func (s *Stream) More() bool {
	if s.err != nil || s.end-s.pos > s.max {
		return false
	}
	if s.end == len(s.buf) {
		s.makeRoom()
	}
	for tries := 0; ; tries++ {
		n, err := s.r.Read(s.buf[s.end:])
		s.end += n
		if err != nil {
			s.err = err
		} else if n == 0 && tries == 100 {
			s.err = io.ErrNoProgress
		}
		if n > 0 || s.err != nil {
			return n > 0
		}
	}
}

// makeRoom moves the window to the front of the buffer, or into a larger buffer
// if it fills more than half of it or the buffer is smaller than usual.
func (s *Stream) makeRoom() {
	to := s.buf
	switch {
	case len(s.buf) < usualBuffer:
		to = make([]byte, 4*len(s.buf))
	case s.end-s.pos > len(s.buf)/2:
		to = make([]byte, 2*len(s.buf))
	}
	n := copy(to, s.buf[s.pos:s.end])
	s.base += int64(s.pos)
	s.buf, s.pos, s.end = to, 0, n
}

// Peek skips white space and returns the next byte without reading it, or
// false at the end of the input.
func (s *Stream) Peek() (byte, bool) {
	for {
		s.pos += Space(s.Window(), 0)
		if s.pos < s.end {
			return s.buf[s.pos], true
		}
		if !s.More() {
			return 0, false
		}
	}
}

// Value returns the length of the value at the window's start, which must not
// be white space, and ensures that the window holds all of it. The value is not
// consumed: the caller advances. An input that ends inside the value gives
// [ErrShort], a value over the limit [ErrTooLong].
func (s *Stream) Value() (int, error) {
	n, err := s.Parse(func(b []byte) (int, error) { return Skip(b, 0) })
	if err == ErrShort {
		return s.lastLiteral(n)
	}
	return n, err
}

// Parse calls f with a window that grows until f returns a result other than
// [ErrShort] or the input ends. It returns the last result of f.
func (s *Stream) Parse(f func(window []byte) (int, error)) (int, error) {
	for {
		n, err := f(s.Window())
		if err != ErrShort {
			return n, err
		}
		// Doubling before the next try keeps the work linear in the value's
		// length, even if each read returns few bytes.
		grown := false
		for want := max(1, 2*(s.end-s.pos)); s.end-s.pos < want && s.More(); {
			grown = true
		}
		switch {
		case grown:
		case s.end-s.pos > s.max:
			return n, fmt.Errorf("%w: over %d bytes", ErrTooLong, s.max)
		default:
			return n, ErrShort
		}
	}
}

// lastLiteral returns the result for a value that touches the end of the input:
// a number is complete there, everything else is not.
func (s *Stream) lastLiteral(n int) (int, error) {
	if w := s.Window(); len(w) > 0 && s.err == io.EOF && isLiteral(w[0]) {
		return n, nil
	}
	return n, ErrShort
}

// Discard reads past the value at the window's start without storing it, so its
// length is not limited. It only balances quotes and brackets.
func (s *Stream) Discard() error {
	depth, quoted, escaped := 0, false, false
	for {
		for i, c := range s.Window() {
			switch {
			case escaped:
				escaped = false
			case quoted && c == '\\':
				escaped = true
			case c == '"':
				quoted = !quoted
			case quoted:
				continue
			case c == '{' || c == '[':
				depth++
				continue
			case c == '}' || c == ']':
				if depth == 0 { // the bracket that encloses a bare literal
					s.pos += i
					return nil
				}
				depth--
			case isLiteral(c) || depth > 0:
				continue
			}
			if depth == 0 && !quoted && !escaped {
				if c == '"' || c == '}' || c == ']' {
					i++
				}
				s.pos += i
				return nil
			}
		}
		s.pos = s.end
		if !s.More() {
			return ErrShort
		}
	}
}
