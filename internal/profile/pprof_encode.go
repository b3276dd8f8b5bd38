package profile

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// An encoder makes the bytes of a profile.proto.
type encoder struct {
	strings []string
	at      map[string]uint64 // of strings
}

// index returns the index of a text, which it adds at first use.
func (e *encoder) index(text string) uint64 {
	i, ok := e.at[text]
	if !ok {
		i = uint64(len(e.strings))
		e.at[text], e.strings = i, append(e.strings, text)
	}
	return i
}

// appendNumber appends a field that is a number, unless it is 0, which is what is read if it is missing.
func appendNumber(b []byte, field, n uint64) []byte {
	if n == 0 {
		return b
	}
	return binary.AppendUvarint(binary.AppendUvarint(b, field<<3|wireVarint), n)
}

func appendBody[T []byte | string](b []byte, field uint64, body T) []byte {
	b = binary.AppendUvarint(binary.AppendUvarint(b, field<<3|wireBytes), uint64(len(body)))
	return append(b, body...)
}

// appendList appends numbers, packed if there are more than two.
func appendList(b []byte, field uint64, list []uint64) []byte {
	if len(list) <= 2 {
		for _, n := range list {
			b = binary.AppendUvarint(binary.AppendUvarint(b, field<<3|wireVarint), n)
		}
		return b
	}
	var packed []byte
	for _, n := range list {
		packed = binary.AppendUvarint(packed, n)
	}
	return appendBody(b, field, packed)
}

// encode returns the uncompressed bytes of the profile.
func (p *protoProfile) encode() (out []byte) {
	e := encoder{at: map[string]uint64{}}
	e.index("")
	for _, t := range p.types {
		out = appendBody(out, 1, appendNumber(appendNumber(nil, 1, e.index(t.name)), 2, e.index(t.unit)))
	}
	for _, s := range p.samples {
		out = appendBody(out, 2, e.sample(s))
	}
	for _, m := range p.mappings {
		b := appendNumber(appendNumber(nil, 1, m.id), 5, e.index(m.file))
		for _, has := range []uint64{7, 8, 9} { // functions, files, lines
			b = appendNumber(b, has, 1)
		}
		out = appendBody(out, 3, b)
	}
	for _, l := range p.locations {
		b := appendNumber(nil, 1, l.id)
		if l.mapping != nil {
			b = appendNumber(b, 2, l.mapping.id)
		}
		b = appendNumber(b, 3, l.address)
		for _, line := range l.lines {
			b = appendBody(b, 4, appendNumber(appendNumber(nil, 1, line.function.id), 2, uint64(line.line)))
		}
		out = appendBody(out, 4, b)
	}
	for _, f := range p.functions {
		out = appendBody(out, 5, appendNumber(appendNumber(appendNumber(nil, 1, f.id), 2, e.index(f.name)), 4, e.index(f.file)))
	}
	var comments []uint64
	for _, c := range p.comments {
		comments = append(comments, e.index(c))
	}
	usual := e.index(p.defaultType)
	for _, text := range e.strings {
		out = appendBody(out, 6, text)
	}
	out = appendNumber(appendNumber(out, 9, uint64(p.time)), 10, uint64(p.duration))
	out = appendList(out, 13, comments)
	return appendList(out, 14, []uint64{usual})
}

// sample returns the bytes of a sample: its texts by key, then its numbers by key.
func (e *encoder) sample(s *protoSample) []byte {
	var ids, values []uint64
	for _, l := range s.stack {
		ids = append(ids, l.id)
	}
	for _, v := range s.values {
		values = append(values, uint64(v))
	}
	b := appendList(appendList(nil, 1, ids), 2, values)
	labels := slices.Clone(s.labels)
	slices.SortStableFunc(labels, func(a, b Label) int {
		if isText := a.Text != ""; isText != (b.Text != "") {
			if isText {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.Key, b.Key)
	})
	for _, l := range labels {
		x := appendNumber(nil, 1, e.index(l.Key))
		if l.Text != "" {
			x = appendNumber(x, 2, e.index(l.Text))
		} else {
			x = appendNumber(appendNumber(x, 3, uint64(l.Number)), 4, e.index(l.Unit))
		}
		b = appendBody(b, 3, x)
	}
	return b
}
