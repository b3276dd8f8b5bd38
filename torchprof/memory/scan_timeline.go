package memory

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
)

// A scanner reads JSON that contains only lists and numbers. It is stricter
// than a JSON parser and uses constant memory.
type scanner struct {
	r      *bufio.Reader
	offset int64
	failed error // what ended the input
	text   [64]byte
}

func newScanner(r io.Reader) *scanner { return &scanner{r: bufio.NewReaderSize(r, 64<<10)} }

// A number is a number of a timeline. Thousandths are those of a time in µs,
// read from the digits because a float64 would lose precision.
type number struct {
	whole       int64
	thousandths int64
	null        bool
}

// nanos converts a number of µs to ns.
func (n number) nanos() int64 {
	const most = math.MaxInt64/1000 - 1
	if n.whole > most {
		return math.MaxInt64
	}
	return n.whole*1000 + n.thousandths
}

var errCut = errors.New("the file ends too early")

// peek returns the next byte that is not white space.
func (s *scanner) peek() (byte, error) {
	for {
		b, err := s.r.ReadByte()
		if err != nil {
			s.failed = err
			return 0, errCut
		}
		switch b {
		case ' ', '\n', '\r', '\t':
			s.offset++
		default:
			s.r.UnreadByte()
			return b, nil
		}
	}
}

func (s *scanner) take() { s.r.Discard(1); s.offset++ }

// want consumes one byte, which must be c.
func (s *scanner) want(c byte) error {
	b, err := s.peek()
	if err != nil {
		return err
	}
	if b != c {
		return fmt.Errorf("want %q, got %q", c, b)
	}
	s.take()
	return nil
}

// next consumes the separator between two items, or the end of their list.
func (s *scanner) next() (more bool, err error) {
	b, err := s.peek()
	switch {
	case err != nil:
		return false, err
	case b == ',' || b == ']':
		s.take()
		return b == ',', nil
	}
	return false, fmt.Errorf("want a comma or ']', got %q", b)
}

// item reads the next number of a list; more is false if there is none.
func (s *scanner) item(first bool) (n number, more bool, err error) {
	if first {
		if b, err := s.peek(); err != nil || b == ']' {
			s.take()
			return n, false, err
		}
	} else if more, err := s.next(); err != nil || !more {
		return n, false, err
	}
	n, err = s.number()
	return n, err == nil, err
}

func (s *scanner) number() (number, error) {
	if _, err := s.peek(); err != nil {
		return number{}, err
	}
	text := s.text[:0]
	for {
		b, err := s.r.ReadByte()
		if err != nil {
			s.failed = err
			return number{}, errCut
		}
		if b == ',' || b == ']' || b == ' ' || b == '\n' || b == '\r' || b == '\t' {
			s.r.UnreadByte()
			break
		}
		s.offset++
		if len(text) == cap(text) {
			return number{}, errors.New("a number is too long")
		}
		text = append(text, b)
	}
	return parse(string(text))
}

// parse reads a number; one without an exponent is read digit by digit.
func parse(text string) (number, error) {
	if text == "null" {
		return number{null: true}, nil
	}
	whole, fraction := text, ""
	for i := range text {
		if text[i] == '.' {
			whole, fraction = text[:i], text[i+1:]
			break
		}
	}
	n, err := strconv.ParseInt(whole, 10, 64)
	if err == nil {
		var part int64
		for i := range 3 {
			part *= 10
			if i < len(fraction) {
				if fraction[i] < '0' || fraction[i] > '9' {
					err = strconv.ErrSyntax
					break
				}
				part += int64(fraction[i] - '0')
			}
		}
		if err == nil {
			return number{whole: n, thousandths: part}, nil
		}
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || math.Abs(x) >= 1<<62 || math.IsNaN(x) {
		return number{}, fmt.Errorf("want a number, got %q", text)
	}
	return number{whole: int64(x)}, nil
}

// peekEvent reports whether the next item of the outer list is an event, or is
// missing, rather than the list of rows of the second form.
func (s *scanner) peekEvent() bool {
	b, _ := s.r.Peek(64)
	open := 0
	for _, c := range b {
		switch c {
		case ' ', '\n', '\r', '\t', ',':
		case '[':
			open++
		case ']':
			return open == 0
		default:
			return open < 2
		}
	}
	return open < 2
}

// end requires that only white space follows.
func (s *scanner) end() error {
	b, err := s.peek()
	if err == nil {
		return fmt.Errorf("want the end, got %q", b)
	}
	if s.failed != io.EOF {
		return err
	}
	s.failed = nil
	return nil
}
