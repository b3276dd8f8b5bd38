package bench

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Limits of one object. Longer texts are shortened, and further values are dropped. A result
// has at most a few hundred values; the rest of an object is settings of the server and the
// texts of all requests.
const (
	maxDepth  = 64
	flatDepth = 5 // maximum nesting of members that are kept
	maxValues = 8192
	maxText   = 256
)

// A value is a member of an object that is neither an object nor a list.
type value struct {
	path   string // names from the outermost member to this one, joined by dots
	text   string // the content of a string; otherwise the literal
	number float64
	kind   byte // 'n' number, 's' string, 'b' bool, '0' null
}

// A flattener reads JSON as Python writes it, with NaN and Infinity. It passes on the values
// of each object, without lists. Its memory does not grow with the input: it keeps one object
// at a time, within the limits.
type flattener struct {
	r      *bufio.Reader
	at     int64
	values []value
	over   bool
	each   func(values []value, at int64)
}

var errSyntax = errors.New("is no JSON")

// flatten calls each with the values of each top-level object: the document itself, each of
// its lines, or each element if the document is a list. It returns the error that ended the
// input, or nil.
func flatten(r io.Reader, each func(values []value, at int64)) error {
	size := 64 << 10
	if head, ok := r.(*bytes.Reader); ok { // a small buffer: this runs for each file of a directory
		size = min(size, head.Len())
	}
	f := &flattener{r: bufio.NewReaderSize(r, size), each: each}
	for {
		c, err := f.space()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case c == ',' || c == 0x1e:
			continue
		case c == '[':
			err = f.list()
		case c == '{':
			err = f.top()
		default:
			err = f.wrong(c)
		}
		if err != nil {
			return ended(err)
		}
	}
}

// ended returns the error of an input that ends within a value.
func ended(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

func (f *flattener) wrong(c byte) error {
	return fmt.Errorf("at byte %d: %w: unexpected %q", f.at-1, errSyntax, c)
}

func (f *flattener) byte() (byte, error) {
	c, err := f.r.ReadByte()
	if err == nil {
		f.at++
	}
	return c, err
}

func (f *flattener) back() {
	f.r.UnreadByte()
	f.at--
}

// space returns the first byte that is no white space.
func (f *flattener) space() (byte, error) {
	for {
		c, err := f.byte()
		if err != nil || c != ' ' && c != '\t' && c != '\n' && c != '\r' && c != 0xef && c != 0xbb && c != 0xbf {
			return c, err
		}
	}
}

// top reads a top-level object, after its opening brace.
func (f *flattener) top() error {
	at := f.at - 1
	f.values, f.over = f.values[:0], false
	err := f.object("", 1)
	if err == nil || len(f.values) > 0 && err == io.EOF {
		f.each(f.values, at)
	}
	return err
}

// list reads a top-level list, after its opening bracket.
func (f *flattener) list() error {
	for {
		c, err := f.space()
		switch {
		case err != nil:
			return err
		case c == ']':
			return nil
		case c == ',':
			continue
		case c == '{':
			if err := f.top(); err != nil {
				return err
			}
		default:
			f.back()
			if err := f.skip(2); err != nil {
				return err
			}
		}
	}
}

// object reads the members of an object.
func (f *flattener) object(path string, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("at byte %d: objects are nested more than %d deep", f.at, maxDepth)
	}
	for {
		c, err := f.space()
		switch {
		case err != nil:
			return err
		case c == '}':
			return nil
		case c == ',':
			continue
		case c != '"':
			return f.wrong(c)
		}
		name, err := f.text()
		if err != nil {
			return err
		}
		if c, err = f.space(); err != nil {
			return err
		}
		if c != ':' {
			return f.wrong(c)
		}
		if path != "" {
			name = path + "." + name
		}
		if err := f.member(name, depth); err != nil {
			return err
		}
	}
}

// member reads the value of a member.
func (f *flattener) member(path string, depth int) error {
	c, err := f.space()
	if err != nil {
		return err
	}
	switch {
	case c == '{' && depth < flatDepth:
		return f.object(path, depth+1)
	case c == '{' || c == '[':
		f.back()
		return f.skip(depth)
	case c == '"':
		text, err := f.text()
		f.keep(value{path: path, text: text, kind: 's'})
		return err
	}
	f.back()
	word, err := f.word()
	if err != nil && err != io.EOF {
		return err
	}
	v := value{path: path, text: word, kind: 'b'}
	switch word {
	case "":
		return f.wrong(c)
	case "null":
		v.kind = '0'
	case "true", "false":
	default:
		v.kind = 'n'
		if v.number, err = strconv.ParseFloat(word, 64); err != nil && !errors.Is(err, strconv.ErrRange) {
			return fmt.Errorf("at byte %d: %w: unexpected %q", f.at, errSyntax, word)
		}
	}
	f.keep(v)
	return nil
}

func (f *flattener) keep(v value) {
	if len(f.values) >= maxValues {
		f.over = true
		return
	}
	f.values = append(f.values, v)
}

// word reads a number or a name, such as NaN.
func (f *flattener) word() (string, error) {
	var b []byte
	for {
		c, err := f.byte()
		if err != nil {
			return string(b), err
		}
		if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '.' || c == '-' || c == '+') || len(b) > 64 {
			f.back()
			return string(b), nil
		}
		b = append(b, c)
	}
}

// text reads a string after its opening quote, and returns its beginning.
func (f *flattener) text() (string, error) {
	var b []byte
	for {
		c, err := f.byte()
		if err != nil {
			return string(b), err
		}
		switch c {
		case '"':
			return string(b), nil
		case '\\':
			if c, err = f.byte(); err != nil {
				return string(b), err
			}
			switch c {
			case 'n', 'r', 't', 'b', 'f': // kept as they are, because a secret may be broken there
				c = "\n\r\t\b\f"[strings.IndexByte("nrtbf", c)]
			case 'u':
				c, err := f.escaped()
				if err != nil {
					return string(b), err
				}
				if len(b) < maxText {
					b = utf8.AppendRune(b, c)
				}
				continue
			}
		}
		if len(b) < maxText {
			b = append(b, c)
		}
	}
}

// escaped reads a \u escape, or two of them for a surrogate pair. It is decoded so that
// secrets are found in escaped text, too.
func (f *flattener) escaped() (rune, error) {
	c, err := f.unit()
	if err != nil || !utf16.IsSurrogate(c) {
		return c, err
	}
	if next, err := f.r.Peek(2); err != nil || string(next) != `\u` {
		return utf8.RuneError, nil
	}
	if _, err := f.r.Discard(2); err != nil {
		return utf8.RuneError, err
	}
	f.at += 2
	low, err := f.unit()
	return utf16.DecodeRune(c, low), err
}

// unit reads the four hexadecimal digits of an escape. It returns U+FFFD for others.
func (f *flattener) unit() (rune, error) {
	var digits [4]byte
	if _, err := io.ReadFull(f.r, digits[:]); err != nil {
		return utf8.RuneError, err
	}
	f.at += 4
	n, err := strconv.ParseUint(string(digits[:]), 16, 16)
	if err != nil {
		return utf8.RuneError, nil
	}
	return rune(n), nil
}

// skip reads a value of any kind.
func (f *flattener) skip(depth int) error {
	open := 0
	for {
		c, err := f.space()
		if err != nil {
			return err
		}
		switch c {
		case '{', '[':
			if open++; open+depth > 10_000 {
				return fmt.Errorf("at byte %d: lists are nested too deep", f.at)
			}
		case '}', ']':
			open--
		case '"':
			if err := f.skipText(); err != nil {
				return err
			}
		case ',', ':':
		default:
			f.back()
			word, err := f.word()
			if err != nil {
				return err
			}
			if word == "" {
				c, _ := f.byte()
				return f.wrong(c)
			}
		}
		if open <= 0 {
			return nil
		}
	}
}

// skipText skips a string of any length, after its opening quote.
func (f *flattener) skipText() error {
	for {
		b, err := f.r.ReadSlice('"')
		f.at += int64(len(b))
		if err == bufio.ErrBufferFull {
			continue
		}
		if err != nil {
			return err
		}
		n := 0
		for n+1 < len(b) && b[len(b)-2-n] == '\\' {
			n++
		}
		if n%2 == 0 {
			return nil
		}
	}
}
