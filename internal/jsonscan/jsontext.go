// This file writes JSON for people and terminals: indented, with lists of numbers on one
// line, and with every character escaped that could control a terminal.

package jsonscan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Write writes v as indented JSON.
func Write(w io.Writer, v any) error {
	p := newPrinter(w, false)
	if err := encode(v, p.print); err != nil {
		return err
	}
	return p.flush()
}

// WriteMembers writes the members of several objects as one indented object. Each value
// is a struct, or a pointer to one.
func WriteMembers(w io.Writer, objects ...any) error {
	return writeMembers(w, false, objects)
}

// WriteRows is WriteMembers with each object without nested objects and lists on one line.
// With thousands of rows, the text is half as long.
func WriteRows(w io.Writer, objects ...any) error {
	return writeMembers(w, true, objects)
}

func writeMembers(w io.Writer, rows bool, objects []any) error {
	p := newPrinter(w, rows)
	empty := true
	for _, v := range objects {
		err := encode(v, func(text []byte) {
			text = bytes.TrimSpace(text)
			if text = text[1 : len(text)-1]; len(text) == 0 {
				return
			}
			if empty {
				p.open('{')
			} else {
				p.comma()
			}
			empty = false
			p.print(text)
		})
		if err != nil {
			return err
		}
	}
	if empty {
		p.out = append(p.out, '{')
	} else {
		p.depth--
		p.newline()
	}
	p.out = append(p.out, "}\n"...)
	return p.flush()
}

// encode passes the compact JSON of v to use, which must not retain it. The text can be as
// long as all rows of a summary, so the only copy of it is that of the encoder.
func encode(v any, use func(text []byte)) error {
	enc := json.NewEncoder(whole(use))
	enc.SetEscapeHTML(false) // the output is not HTML, and names of kernels are full of angle brackets
	return enc.Encode(v)
}

// A whole is a writer that passes the text of a value to a function. It relies on the encoder
// to write a value with one call.
type whole func(text []byte)

func (use whole) Write(text []byte) (int, error) {
	use(text)
	return len(text), nil
}

// Line returns v as JSON in one line.
func Line(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	return appendPrintable(nil, text), err
}

// AppendPrintable appends JSON in which characters that could control a terminal are escaped.
func AppendPrintable(out, text []byte) []byte {
	if slices.IndexFunc(text, func(c byte) bool { return c >= 0x7f }) < 0 {
		return append(out, text...)
	}
	return appendPrintable(out, text)
}

// A printer indents compact, valid JSON. Unlike [json.Indent], it prints a list without nested
// objects and lists on one line, because some have thousands of numbers. With rows, it does
// the same for objects.
type printer struct {
	to    io.Writer
	err   error // the first error of to
	out   []byte
	rows  bool
	depth int
}

// full is the number of buffered bytes at which the text is written.
const full = 64 << 10

func newPrinter(to io.Writer, rows bool) *printer {
	return &printer{to: to, rows: rows, out: make([]byte, 0, full+4<<10)}
}

// flush writes the buffered text.
func (p *printer) flush() error {
	if p.err == nil {
		_, p.err = p.to.Write(p.out)
	}
	p.out = p.out[:0]
	return p.err
}

func (p *printer) newline() {
	p.out = append(p.out, '\n')
	for range p.depth {
		p.out = append(p.out, "  "...)
	}
}

// open begins an object or a list.
func (p *printer) open(c byte) {
	p.out = append(p.out, c)
	p.depth++
	p.newline()
}

func (p *printer) comma() {
	p.out = append(p.out, ',')
	p.newline()
}

// print indents a value, or the members of an object.
func (p *printer) print(compact []byte) {
	for i := 0; i < len(compact); {
		if len(p.out) >= full {
			p.flush()
		}
		n := 1
		switch c := compact[i]; c {
		case '"':
			var plain bool
			if n, plain = stringEnd(compact[i:]); plain {
				p.out = append(p.out, compact[i:i+n]...)
			} else {
				p.out = appendPrintable(p.out, compact[i:i+n])
			}
		case '{', '[':
			if flat := flatEnd(compact[i:], p.rows); flat > 0 {
				n = flat
				p.out = appendFlat(p.out, compact[i:i+n])
			} else {
				p.open(c)
			}
		case '}', ']':
			p.depth--
			p.newline()
			p.out = append(p.out, c)
		case ',':
			p.comma()
		case ':':
			p.out = append(p.out, ": "...)
		default:
			n = scalarEnd(compact[i:])
			p.out = append(p.out, compact[i:i+n]...)
		}
		i += n
	}
}

// appendPrintable appends the text of a JSON string, and escapes characters that could
// control a terminal: encoding/json does not escape DEL, the C1 controls and marks that
// change the direction of text.
func appendPrintable(out, s []byte) []byte {
	for _, r := range string(s) {
		if r == 0x7f || r > 0x7f && !unicode.IsPrint(r) {
			for _, unit := range utf16.Encode([]rune{r}) {
				out = fmt.Appendf(out, `\u%04x`, unit)
			}
			continue
		}
		out = utf8.AppendRune(out, r)
	}
	return out
}

// stringEnd returns the length of the string at the start of b, and whether
// [appendPrintable] would leave it unchanged.
func stringEnd(b []byte) (n int, plain bool) {
	plain = true
	for i := 1; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			return i + 1, plain
		case c == '\\':
			i++
		case c >= 0x7f:
			plain = false
		}
	}
	return len(b), plain
}

// scalarEnd returns the length of the number, true, false or null that b begins with.
func scalarEnd(b []byte) int {
	for i, c := range b {
		if c == ',' || c == '}' || c == ']' {
			return max(i, 1)
		}
	}
	return len(b)
}

// flatEnd returns the length of the value at the start of b if it is printed on one line: a
// list of scalars, an empty object or, with rows, an object of scalars. Otherwise it returns 0.
func flatEnd(b []byte, rows bool) int {
	if b[0] == '{' && !rows {
		if b[1] == '}' {
			return 2
		}
		return 0
	}
	for i := 1; i < len(b); {
		switch b[i] {
		case '"':
			n, _ := stringEnd(b[i:])
			i += n
			continue
		case '[', '{':
			return 0
		case ']', '}':
			return i + 1
		}
		i++
	}
	return 0
}

// appendFlat appends such a value with a space after each comma and colon.
func appendFlat(out, list []byte) []byte {
	for i := 0; i < len(list); {
		c := list[i]
		if c == '"' {
			n, plain := stringEnd(list[i:])
			if plain {
				out = append(out, list[i:i+n]...)
			} else {
				out = appendPrintable(out, list[i:i+n])
			}
			i += n
			continue
		}
		out = append(out, c)
		if c == ',' || c == ':' {
			out = append(out, ' ')
		}
		i++
	}
	return out
}
