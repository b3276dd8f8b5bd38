package pprof

import (
	"compress/gzip"
	"encoding/binary"
	"io"
	"maps"
	"slices"
)

// Write writes the profile, compressed with gzip.
func (p *Profile) Write(w io.Writer) error {
	z := gzip.NewWriter(w)
	if _, err := z.Write(p.encode()); err != nil {
		z.Close()
		return err
	}
	return z.Close()
}

// An encoder collects the texts of a profile, to which fields refer by number. The text 0 is
// empty.
type encoder struct {
	texts   []string
	numbers map[string]uint64
}

func (e *encoder) text(s string) uint64 {
	n, ok := e.numbers[s]
	if !ok {
		n = uint64(len(e.texts))
		e.texts = append(e.texts, s)
		e.numbers[s] = n
	}
	return n
}

// A record is an encoded message.
type record []byte

// number appends a field, even if it is 0.
func (r *record) number(field int, n uint64) {
	*r = binary.AppendUvarint(*r, uint64(field)<<3|wireVarint)
	*r = binary.AppendUvarint(*r, n)
}

// set appends a field unless it is 0.
func (r *record) set(field int, n uint64) {
	if n != 0 {
		r.number(field, n)
	}
}

func (r *record) flag(field int, on bool) {
	if on {
		r.number(field, 1)
	}
}

// bytes appends a message or a text.
func (r *record) bytes(field int, body []byte) {
	*r = binary.AppendUvarint(*r, uint64(field)<<3|wireBytes)
	*r = binary.AppendUvarint(*r, uint64(len(body)))
	*r = append(*r, body...)
}

// list appends numbers, packed if that is shorter.
func (r *record) list(field int, numbers []uint64) {
	if len(numbers) <= 2 {
		for _, n := range numbers {
			r.number(field, n)
		}
		return
	}
	var body []byte
	for _, n := range numbers {
		body = binary.AppendUvarint(body, n)
	}
	r.bytes(field, body)
}

// encode returns the profile as a message. The order in which texts are numbered is that of
// pprof: those of types, samples, mappings and functions.
func (p *Profile) encode() []byte {
	e := encoder{numbers: map[string]uint64{}}
	e.text("")
	var out, r record
	add := func(field int) {
		out.bytes(field, r)
		r = r[:0]
	}
	for _, t := range p.SampleType {
		r.set(1, e.text(t.Type))
		r.set(2, e.text(t.Unit))
		add(1)
	}
	for _, s := range p.Sample {
		s.encode(&r, &e)
		add(2)
	}
	for _, m := range p.Mapping {
		r.set(1, m.ID)
		r.set(5, e.text(m.File))
		r.flag(7, m.HasFunctions)
		r.flag(8, m.HasFilenames)
		r.flag(9, m.HasLineNumbers)
		add(3)
	}
	for _, l := range p.Location {
		l.encode(&r)
		add(4)
	}
	for _, f := range p.Function {
		r.set(1, f.ID)
		r.set(2, e.text(f.Name))
		r.set(4, e.text(f.Filename))
		add(5)
	}
	var comments []uint64
	for _, c := range p.Comments {
		comments = append(comments, e.text(c))
	}
	kind := e.text(p.DefaultSampleType)
	for _, s := range e.texts {
		out.bytes(6, []byte(s))
	}
	out.set(9, uint64(p.TimeNanos))
	out.set(10, uint64(p.DurationNanos))
	out.list(13, comments)
	out.number(14, kind)
	return out
}

func (s *Sample) encode(r *record, e *encoder) {
	locations, values := make([]uint64, len(s.Location)), make([]uint64, len(s.Value))
	for i, l := range s.Location {
		locations[i] = l.ID
	}
	for i, v := range s.Value {
		values[i] = uint64(v)
	}
	r.list(1, locations)
	r.list(2, values)
	var label record
	add := func() {
		r.bytes(3, label)
		label = label[:0]
	}
	for _, key := range slices.Sorted(maps.Keys(s.Label)) {
		for _, v := range s.Label[key] {
			label.set(1, e.text(key))
			label.set(2, e.text(v))
			add()
		}
	}
	for _, key := range slices.Sorted(maps.Keys(s.NumLabel)) {
		name, units := e.text(key), s.NumUnit[key]
		for i, v := range s.NumLabel[key] {
			label.set(1, name)
			label.set(3, uint64(v))
			if len(units) > 0 {
				label.set(4, e.text(units[i]))
			}
			add()
		}
	}
}

func (l *Location) encode(r *record) {
	r.set(1, l.ID)
	if l.Mapping != nil {
		r.set(2, l.Mapping.ID)
	}
	r.set(3, l.Address)
	var line record
	for _, at := range l.Line {
		if at.Function != nil {
			line.set(1, at.Function.ID)
		}
		line.set(2, uint64(at.Line))
		r.bytes(4, line)
		line = line[:0]
	}
}
