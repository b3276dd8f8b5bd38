// The writer of JSON for people and terminals: indented, lists of numbers in
// one line, and every character escaped that a terminal might obey.

package jsonscan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
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

// WriteRows writes what [WriteMembers] writes, with each object in one line that holds no
// other object and no list: that is half as long where there are thousands of rows.
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

// encode passes the compact JSON of v to use, which must not keep it. The text is as long
// as all rows of a summary, so there is one copy of it only: that of the encoder.
func encode(v any, use func(text []byte)) error {
	enc := json.NewEncoder(whole(use))
	enc.SetEscapeHTML(false) // kernel names are full of angle brackets, and this is no HTML
	return enc.Encode(v)
}

// A whole is called with the text of a value, which an encoder writes in one piece.
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

// A printer lays out compact, valid JSON. Unlike [json.Indent] it leaves lists that hold no
// object and no list in one line: a strip has thousands of numbers. With rows it does the
// same with objects.
type printer struct {
	to    io.Writer
	err   error // the first of to
	out   []byte
	rows  bool
	depth int
}

// full is from how many bytes the text is written.
const full = 64 << 10

func newPrinter(to io.Writer, rows bool) *printer {
	return &printer{to: to, rows: rows, out: make([]byte, 0, full+4<<10)}
}

// flush writes what is not yet written.
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

// print lays out a value, or members.
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

// appendPrintable appends the text of a JSON string with what a terminal might
// obey escaped: encoding/json leaves DEL, the C1 controls and marks that change
// the direction of text as they are.
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

// stringEnd returns the length of the string that b begins with, and whether
// [appendPrintable] leaves it as it is.
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

// flatEnd returns the length of the list that b begins with if it holds only
// scalars, of the empty object or, with rows, of an object that holds only scalars; else 0.
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

// appendFlat puts a space after each comma and colon between scalars.
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
