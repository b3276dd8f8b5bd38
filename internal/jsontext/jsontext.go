// Package jsontext writes JSON for people and terminals: indented, lists of numbers in
// one line, and every character escaped that a terminal might obey.
package jsontext

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
	var compact bytes.Buffer
	enc := json.NewEncoder(&compact)
	enc.SetEscapeHTML(false) // kernel names are full of angle brackets, and this is no HTML
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(indent(compact.Bytes(), false))
	return err
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
	all := []byte{'{'}
	for _, v := range objects {
		var text bytes.Buffer
		enc := json.NewEncoder(&text)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(v); err != nil {
			return err
		}
		members := bytes.TrimSpace(text.Bytes())
		members = members[1 : len(members)-1]
		if len(members) > 0 && len(all) > 1 {
			all = append(all, ',')
		}
		all = append(all, members...)
	}
	_, err := w.Write(indent(append(all, "}\n"...), rows))
	return err
}

// Line returns v as JSON in one line.
func Line(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	return appendPrintable(nil, text), err
}

// indent lays out compact, valid JSON. Unlike [json.Indent] it leaves lists
// that hold no object and no list in one line: a strip has thousands of
// numbers. With rows it does the same with objects.
func indent(compact []byte, rows bool) []byte {
	out := make([]byte, 0, 2*len(compact))
	newline := func(depth int) {
		out = append(out, '\n')
		for range depth {
			out = append(out, ' ', ' ')
		}
	}
	depth := 0
	for i := 0; i < len(compact); {
		switch c := compact[i]; c {
		case '"':
			n := stringEnd(compact[i:])
			out = appendPrintable(out, compact[i:i+n])
			i += n
			continue
		case '{', '[':
			if n := flatEnd(compact[i:], rows); n > 0 {
				out = appendFlat(out, compact[i:i+n])
				i += n
				continue
			}
			out = append(out, c)
			depth++
			newline(depth)
		case '}', ']':
			depth--
			newline(depth)
			out = append(out, c)
		case ',':
			out = append(out, c)
			newline(depth)
		case ':':
			out = append(out, ':', ' ')
		default:
			out = append(out, c)
		}
		i++
	}
	return out
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

// stringEnd returns the length of the string that b begins with.
func stringEnd(b []byte) int {
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
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
			i += stringEnd(b[i:])
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
		if list[i] == '"' {
			n := stringEnd(list[i:])
			out = appendPrintable(out, list[i:i+n])
			i += n
			continue
		}
		out = append(out, list[i])
		if list[i] == ',' || list[i] == ':' {
			out = append(out, ' ')
		}
		i++
	}
	return out
}
