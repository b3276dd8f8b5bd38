package profile

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// This file reads and writes the messages of a profile.proto of github.com/google/pprof, those fields of them that a
// [Profile] has. The package of that project reads them too, but compiles 20 regular expressions when a program starts;
// tests compare this file with it.

type protoProfile struct {
	types       []protoType
	samples     []*protoSample
	mappings    []*protoMapping
	locations   []*protoLocation
	functions   []*protoFunction
	time        int64
	duration    int64
	comments    []string
	defaultType string
}

type protoType struct{ name, unit string }

type protoSample struct {
	stack  []*protoLocation // innermost first; nil for one that is missing
	values []int64
	labels []Label

	ids    []uint64 // of stack, while reading
	labelX [][4]uint64
}

type protoMapping struct {
	id   uint64
	file string
}

type protoLocation struct {
	id, address uint64
	mapping     *protoMapping // or nil
	lines       []protoLine   // innermost first
	mappingID   uint64
}

type protoLine struct {
	function   *protoFunction // nil if it is missing
	line       int64
	functionID uint64
}

type protoFunction struct {
	id         uint64
	name, file string
}

var (
	errWireType = errors.New("a field has the wrong type")
	errStrings  = errors.New("an index of a string is out of range")
)

// A protoField is one field of a message.
type protoField struct {
	number uint64
	typ    byte
	value  uint64 // of a varint
	body   []byte // of a field with a length
}

// eachField calls use for the fields of a message.
func eachField(data []byte, use func(f protoField) error) error {
	for w := (wire{data: data}); w.at < len(data); {
		start := w.at
		number, body, err := w.next(len(data))
		if err != nil {
			return err
		}
		f := protoField{number: number, typ: data[start] & 7, body: body}
		if f.typ == wireVarint {
			_, tag := binary.Uvarint(data[start:])
			f.value, _ = binary.Uvarint(data[start+tag:])
		}
		if err := use(f); err != nil {
			return err
		}
	}
	return nil
}

// numbers reads a field that is a number into one of to, by the number of the field. Others are left out.
func numbers(data []byte, to []*uint64) error {
	return eachField(data, func(f protoField) error { return f.into(to) })
}

func (f protoField) into(to []*uint64) error {
	if f.number >= uint64(len(to)) || to[f.number] == nil {
		return nil
	}
	if f.typ != wireVarint {
		return errWireType
	}
	*to[f.number] = f.value
	return nil
}

// list adds a number, or the numbers of a packed list.
func (f protoField) list(add func(n uint64)) error {
	switch f.typ {
	case wireVarint:
		add(f.value)
	case wireBytes:
		for w := (wire{data: f.body}); w.at < len(f.body); {
			n, err := w.varint(len(f.body))
			if err != nil {
				return err
			}
			add(n)
		}
	default:
		return errWireType
	}
	return nil
}

// A protoReader reads a profile. Texts are indexes until all of it is read.
type protoReader struct {
	protoProfile
	strings []string
	typeX   [][2]uint64
	fileX   []uint64 // of mappings
	nameX   [][2]uint64
	others  []uint64 // indexes of texts that a Profile does not have, which must be in range too
	comment []uint64
	usualX  uint64
}

// readProto reads an uncompressed profile.
func readProto(data []byte) (*protoProfile, error) {
	var r protoReader
	if err := eachField(data, r.field); err != nil {
		return nil, err
	}
	if err := r.resolve(); err != nil {
		return nil, err
	}
	return &r.protoProfile, nil
}

// field reads one field of the profile itself.
func (r *protoReader) field(f protoField) error {
	switch f.number {
	case 1, 2, 3, 4, 5, 6, 11:
		if f.typ != wireBytes {
			return errWireType
		}
	case 7, 8, 9, 10, 14, 15:
		if f.typ != wireVarint {
			return errWireType
		}
	}
	switch f.number {
	case 1, 11:
		var x [2]uint64
		if err := numbers(f.body, []*uint64{1: &x[0], 2: &x[1]}); err != nil {
			return err
		}
		if f.number == 1 {
			r.typeX = append(r.typeX, x)
		} else {
			r.others = append(r.others, x[:]...)
		}
	case 2:
		return r.sample(f.body)
	case 3:
		return r.mapping(f.body)
	case 4:
		return r.location(f.body)
	case 5:
		fn := &protoFunction{}
		var x [3]uint64 // name, system name, file
		var start uint64
		r.functions = append(r.functions, fn)
		err := numbers(f.body, []*uint64{1: &fn.id, 2: &x[0], 3: &x[1], 4: &x[2], 5: &start})
		r.nameX, r.others = append(r.nameX, [2]uint64{x[0], x[2]}), append(r.others, x[1])
		return err
	case 6:
		if r.strings = append(r.strings, string(f.body)); r.strings[0] != "" {
			return errors.New("the first string is not empty")
		}
	case 7, 8, 15:
		r.others = append(r.others, f.value)
	case 9:
		if r.time != 0 {
			return errors.New("it is several profiles, one behind the other; read each by itself")
		}
		r.time = int64(f.value)
	case 10:
		r.duration = int64(f.value)
	case 12:
		if f.typ != wireVarint {
			return errWireType
		}
	case 13:
		return f.list(func(n uint64) { r.comment = append(r.comment, n) })
	case 14:
		r.usualX = f.value
	}
	return nil
}

func (r *protoReader) sample(data []byte) error {
	s := &protoSample{}
	r.samples = append(r.samples, s)
	return eachField(data, func(f protoField) error {
		switch f.number {
		case 1:
			return f.list(func(n uint64) { s.ids = append(s.ids, n) })
		case 2:
			return f.list(func(n uint64) { s.values = append(s.values, int64(n)) })
		case 3:
			if f.typ != wireBytes {
				return errWireType
			}
			var x [4]uint64 // key, text, number, unit
			err := numbers(f.body, []*uint64{1: &x[0], 2: &x[1], 3: &x[2], 4: &x[3]})
			s.labelX = append(s.labelX, x)
			return err
		}
		return nil
	})
}

func (r *protoReader) mapping(data []byte) error {
	m := &protoMapping{}
	var file, build, unused uint64
	r.mappings = append(r.mappings, m)
	err := numbers(data, []*uint64{1: &m.id, 2: &unused, 3: &unused, 4: &unused, 5: &file, 6: &build, 7: &unused, 8: &unused, 9: &unused, 10: &unused})
	r.fileX, r.others = append(r.fileX, file), append(r.others, build)
	return err
}

func (r *protoReader) location(data []byte) error {
	l := &protoLocation{}
	var folded uint64
	to := []*uint64{1: &l.id, 2: &l.mappingID, 3: &l.address, 5: &folded}
	r.locations = append(r.locations, l)
	return eachField(data, func(f protoField) error {
		if f.number != 4 {
			return f.into(to)
		}
		if f.typ != wireBytes {
			return errWireType
		}
		var line protoLine
		var at, column uint64
		err := numbers(f.body, []*uint64{1: &line.functionID, 2: &at, 3: &column})
		line.line = int64(at)
		l.lines = append(l.lines, line)
		return err
	})
}

// resolve replaces indexes and ids by what they mean.
func (r *protoReader) resolve() (err error) {
	text := func(i uint64) string {
		if i >= uint64(len(r.strings)) {
			err = errStrings
			return ""
		}
		return r.strings[i]
	}
	text(0)
	for _, i := range r.others {
		text(i)
	}
	mappings, functions, locations := map[uint64]*protoMapping{}, map[uint64]*protoFunction{}, map[uint64]*protoLocation{}
	for i, m := range r.mappings {
		m.file, mappings[m.id] = text(r.fileX[i]), m
	}
	for i, f := range r.functions {
		f.name, f.file, functions[f.id] = text(r.nameX[i][0]), text(r.nameX[i][1]), f
	}
	for _, l := range r.locations {
		l.mapping, locations[l.id] = mappings[l.mappingID], l
		for i := range l.lines {
			if id := l.lines[i].functionID; id != 0 {
				l.lines[i].function = functions[id]
			}
		}
	}
	for _, x := range r.typeX {
		r.types = append(r.types, protoType{text(x[0]), text(x[1])})
	}
	for _, s := range r.samples {
		for _, x := range s.labelX {
			l := Label{Key: text(x[0])}
			switch {
			case x[1] != 0:
				if l.Text = text(x[1]); l.Text == "" {
					continue // a Label with an empty text would be a number
				}
			case x[2] != 0 || x[3] != 0:
				l.Number, l.Unit = int64(x[2]), text(x[3])
			default:
				continue
			}
			s.labels = append(s.labels, l)
		}
		s.stack = make([]*protoLocation, len(s.ids))
		for i, id := range s.ids {
			s.stack[i] = locations[id]
		}
		s.ids, s.labelX = nil, nil
	}
	for _, i := range r.comment {
		r.comments = append(r.comments, text(i))
	}
	r.defaultType = text(r.usualX)
	return err
}

// check returns the first inconsistency of a profile.
func (p *protoProfile) check() error {
	if len(p.types) == 0 && len(p.samples) > 0 {
		return errors.New("the samples have no types of values")
	}
	for _, s := range p.samples {
		if len(s.values) != len(p.types) {
			return fmt.Errorf("a sample has %d values, and there are %d types of values", len(s.values), len(p.types))
		}
		if slices.Contains(s.stack, nil) {
			return errors.New("a sample has a location that is missing")
		}
	}
	for _, l := range p.locations {
		for _, line := range l.lines {
			if line.function == nil {
				return fmt.Errorf("location %d has a function that is missing", l.id)
			}
		}
	}
	return cmp.Or(
		uniqueIDs("mapping", p.mappings, func(m *protoMapping) uint64 { return m.id }),
		uniqueIDs("function", p.functions, func(f *protoFunction) uint64 { return f.id }),
		uniqueIDs("location", p.locations, func(l *protoLocation) uint64 { return l.id }))
}

func uniqueIDs[T any](what string, list []T, id func(T) uint64) error {
	seen := make(map[uint64]bool, len(list))
	for _, v := range list {
		switch n := id(v); {
		case n == 0:
			return fmt.Errorf("a %s has the id 0", what)
		case seen[n]:
			return fmt.Errorf("several have the id %d of a %s", n, what)
		default:
			seen[n] = true
		}
	}
	return nil
}
