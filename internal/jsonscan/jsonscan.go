package jsonscan

import (
	"errors"
	"fmt"
	"math/bits"
	"strings"
)

// ErrShort reports that the slice ends inside a value. With more bytes the
// value may turn out to be valid or invalid.
var ErrShort = errors.New("input ends inside a value")

// A SyntaxError reports what was needed and what was found instead.
type SyntaxError struct {
	At   int // index of the offending byte
	Need string
	Got  byte
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("want %s, got %q", e.Need, rune(e.Got))
}

// checkedLevels is the number of levels of arrays and objects whose structure
// is checked.
const checkedLevels = 2

// Space returns the index of the first byte at or after i that is not white
// space, or len(b).
func Space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}

// String returns the index just past the string whose opening quote is b[i].
func String(b []byte, i int) (int, error) {
	i++
	for {
		i = quoteOrBackslash(b, i)
		switch {
		case i >= len(b):
			return i, ErrShort
		case b[i] == '"':
			return i + 1, nil
		}
		i += 2 // a backslash and the escaped byte
	}
}

// balanced returns the index just past the array or object at b[i], looking at
// strings and brackets only.
func balanced(b []byte, i int) (int, error) {
	depth, quoted := 0, false
	for i < len(b) {
		next := i + 8
		for hits := special(b, i); hits != 0; hits &= hits - 1 {
			at := i + bits.TrailingZeros64(hits)>>3
			switch c := b[at]; {
			case c == '"':
				quoted = !quoted
			case c == '\\' && quoted:
				next, hits = at+2, 0 // past the escaped byte
			case quoted:
			case c == '{' || c == '[':
				depth++
			case c == '}' || c == ']':
				if depth--; depth == 0 {
					return at + 1, nil
				}
			}
		}
		i = next
	}
	return len(b), ErrShort
}

// Literal returns the index just past the number or bare word at b[i]. A
// literal that touches b's end gives ErrShort, because more of it may follow.
func Literal(b []byte, i int) (int, error) {
	start := i
	for i < len(b) && isLiteral(b[i]) {
		i++
	}
	if i == len(b) {
		return i, ErrShort
	}
	if i == start {
		return i, &SyntaxError{i, "a value", b[i]}
	}
	if c := b[start]; c >= '0' && c <= '9' || c == '-' && i > start+1 && b[start+1] <= '9' ||
		knownWord(string(b[start:i])) {
		return i, nil
	}
	return start, &SyntaxError{start, "a value", b[start]}
}

// knownWord reports whether w is accepted as a value: JSON's own words, and the
// words that C and Python print for numbers that JSON cannot represent.
func knownWord(w string) bool {
	switch w {
	case "true", "false", "null":
		return true
	}
	switch strings.ToLower(strings.TrimLeft(w, "+-")) {
	case "nan", "inf", "infinity":
		return true
	}
	return false
}

func isLiteral(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-' || c == '+' || c == '.'
}

// Skip returns the index just past the value at b[i], which must not be white
// space.
func Skip(b []byte, i int) (int, error) { return skip(b, i, 0) }

// SkipInner is Skip for a value nested in the given number of levels.
func SkipInner(b []byte, i, level int) (int, error) { return skip(b, i, level) }

func skip(b []byte, i, level int) (int, error) {
	if i >= len(b) {
		return i, ErrShort
	}
	switch b[i] {
	case '"':
		return String(b, i)
	case '{', '[':
		if level >= checkedLevels {
			return balanced(b, i)
		}
		m := WalkInner(b, i, level)
		for m.Next() {
		}
		return m.next, m.err
	}
	return Literal(b, i)
}

// Members walks the members of one object or the elements of one array.
type Members struct {
	b      []byte
	next   int // where to continue; past the closing bracket at the end
	object bool
	level  int // how many arrays and objects the members are in
	err    error

	key, val Range
}

// A Range is the stretch [Start, End) of a slice.
type Range struct{ Start, End int }

// Of returns the bytes of r in b.
func (r Range) Of(b []byte) []byte { return b[r.Start:r.End] }

// Walk returns a walker for the object or array whose opening bracket is b[i].
func Walk(b []byte, i int) Members { return WalkInner(b, i, 0) }

// WalkInner is Walk for an object or array nested in the given number of
// levels.
func WalkInner(b []byte, i, level int) Members {
	return Members{b: b, next: i + 1, object: b[i] == '{', level: level + 1}
}

// Next advances to the next member and reports whether there is one. When it
// returns false, Err distinguishes the end from an error, and End is the
// position.
func (m *Members) Next() bool {
	if m.err != nil {
		return false
	}
	i := Space(m.b, m.next)
	if i < len(m.b) && m.b[i] == closing(m.object) {
		m.next = i + 1
		return false
	}
	if m.object {
		if i, m.err = m.readKey(i); m.err != nil {
			m.next = i
			return false
		}
	}
	end, err := skip(m.b, i, m.level)
	if err != nil {
		m.next, m.err = end, err
		return false
	}
	m.val = Range{i, end}
	m.next, m.err = m.separator(Space(m.b, end))
	return m.err == nil
}

// readKey reads `"key" :` at i and returns the index of the value.
func (m *Members) readKey(i int) (int, error) {
	if err := m.need(i, '"', "a quoted key"); err != nil {
		return i, err
	}
	end, err := String(m.b, i)
	if err != nil {
		return end, err
	}
	m.key = Range{i + 1, end - 1}
	i = Space(m.b, end)
	if err := m.need(i, ':', "a colon"); err != nil {
		return i, err
	}
	return Space(m.b, i+1), nil
}

// separator checks that a comma or the closing bracket is at i. It consumes
// only a comma; Next handles the bracket.
func (m *Members) separator(i int) (int, error) {
	if i >= len(m.b) {
		return i, ErrShort
	}
	switch m.b[i] {
	case ',':
		return i + 1, nil
	case closing(m.object):
		return i, nil
	}
	return i, &SyntaxError{i, "a comma or " + string(closing(m.object)), m.b[i]}
}

func (m *Members) need(i int, c byte, what string) error {
	if i >= len(m.b) {
		return ErrShort
	}
	if m.b[i] != c {
		return &SyntaxError{i, what, m.b[i]}
	}
	return nil
}

func closing(object bool) byte {
	if object {
		return '}'
	}
	return ']'
}

// Key returns the range of the current member's key, without its quotes.
func (m *Members) Key() Range { return m.key }

// Value returns the range of the current member's or element's value.
func (m *Members) Value() Range { return m.val }

// End returns the index just past the closing bracket, or the position of Err.
func (m *Members) End() int { return m.next }

// Err returns what stopped Next, or nil if it was the closing bracket.
func (m *Members) Err() error { return m.err }
