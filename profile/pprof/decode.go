package pprof

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// Wire types of protobuf.
const (
	wireVarint, wireFixed64, wireBytes, wireFixed32 = 0, 1, 2, 5
)

var (
	errType      = errors.New("type mismatch")
	errMalformed = errors.New("malformed profile format")
)

// A field is one field of a message.
type field struct {
	id, wire uint64
	number   uint64
	body     []byte
}

// fields calls use for each field of a message.
func fields(data []byte, use func(f field) error) error {
	for len(data) > 0 {
		var f field
		var err error
		if f, data, err = next(data); err != nil {
			return err
		}
		if err := use(f); err != nil {
			return err
		}
	}
	return nil
}

// next returns the first field of a message, and what follows it.
func next(data []byte) (f field, rest []byte, err error) {
	tag, data, err := varint(data)
	if err != nil {
		return f, nil, err
	}
	f.id, f.wire = tag>>3, tag&7
	size := 0
	switch f.wire {
	case wireVarint:
		f.number, data, err = varint(data)
		return f, data, err
	case wireFixed64:
		size = 8
	case wireFixed32:
		size = 4
	case wireBytes:
		var n uint64
		if n, data, err = varint(data); err != nil {
			return f, nil, err
		}
		if n > uint64(len(data)) {
			return f, nil, errors.New("too much data")
		}
		f.body = data[:n]
		return f, data[n:], nil
	default:
		return f, nil, fmt.Errorf("unknown wire type: %d", f.wire)
	}
	if len(data) < size {
		return f, nil, errors.New("not enough data")
	}
	return f, data[size:], nil // no field of a profile has a fixed size
}

// varint returns the number that data begins with. Bits over 64 are lost.
func varint(data []byte) (n uint64, rest []byte, err error) {
	for i := range min(len(data), binary.MaxVarintLen64) {
		n |= uint64(data[i]&0x7f) << (7 * i)
		if data[i] < 0x80 {
			return n, data[i+1:], nil
		}
	}
	return 0, nil, errors.New("bad varint")
}

// set stores the number of a field.
func (f field) set(to *uint64) error {
	if f.wire != wireVarint {
		return errType
	}
	*to = f.number
	return nil
}

// list appends the numbers of a field, which may be packed.
func list[T int64 | uint64](f field, to *[]T) error {
	if f.wire != wireBytes {
		var n uint64
		err := f.set(&n)
		if err == nil {
			*to = append(*to, T(n))
		}
		return err
	}
	ends := 0 // each number has one
	for _, b := range f.body {
		if b < 0x80 {
			ends++
		}
	}
	*to = slices.Grow(*to, ends)
	for data := f.body; len(data) > 0; {
		var n uint64
		var err error
		if n, data, err = varint(data); err != nil {
			return err
		}
		*to = append(*to, T(n))
	}
	return nil
}

// message calls use for each field of the message in a field.
func (f field) message(use func(f field) error) error {
	if f.wire != wireBytes {
		return errType
	}
	return fields(f.body, use)
}

// numbers stores the fields of the message in a field: those with the ids 1, 2, ... that all
// are numbers.
func (f field) numbers(to []uint64) error {
	return f.message(func(f field) error {
		if f.id == 0 || f.id > uint64(len(to)) {
			return nil
		}
		return f.set(&to[f.id-1])
	})
}

// A decoder has what the records of a profile refer to by number.
type decoder struct {
	p     *Profile
	texts []string

	types     [][2]uint64
	mappings  [][10]uint64
	functions [][5]uint64

	drop, keep, period, kind, url uint64
	periodType                    [2]uint64
	comments                      []uint64
}

// ParseUncompressed reads a profile.proto that is not compressed. References to locations and
// functions that are missing are nil: see [Profile.CheckValid].
func ParseUncompressed(data []byte) (*Profile, error) {
	if len(data) == 0 {
		return nil, errors.New("empty input file")
	}
	d := decoder{p: new(Profile)}
	if err := fields(data, d.field); err != nil {
		return nil, err
	}
	if !d.resolve() {
		return nil, errMalformed
	}
	return d.p, nil
}

// field takes one field of a profile.
func (d *decoder) field(f field) error {
	switch f.id {
	case 1:
		d.types = append(d.types, [2]uint64{})
		return f.numbers(d.types[len(d.types)-1][:])
	case 2:
		d.p.Sample = append(d.p.Sample, new(Sample))
		return f.message(d.p.Sample[len(d.p.Sample)-1].field)
	case 3:
		d.mappings = append(d.mappings, [10]uint64{})
		return f.numbers(d.mappings[len(d.mappings)-1][:])
	case 4:
		d.p.Location = append(d.p.Location, new(Location))
		return f.message(d.p.Location[len(d.p.Location)-1].field)
	case 5:
		d.functions = append(d.functions, [5]uint64{})
		return f.numbers(d.functions[len(d.functions)-1][:])
	case 6:
		if f.wire != wireBytes {
			return errType
		}
		if d.texts = append(d.texts, string(f.body)); d.texts[0] != "" {
			return errors.New("string_table[0] must be ''")
		}
		return nil
	case 9:
		if d.p.TimeNanos != 0 {
			return errors.New("concatenated profiles detected")
		}
	case 11:
		d.periodType = [2]uint64{}
		return f.numbers(d.periodType[:])
	case 13:
		return list(f, &d.comments)
	}
	return d.number(f)
}

// number takes a field of a profile that is a number.
func (d *decoder) number(f field) error {
	var n uint64
	to := map[uint64]*uint64{7: &d.drop, 8: &d.keep, 9: &n, 10: &n, 12: &d.period, 14: &d.kind, 15: &d.url}[f.id]
	if to == nil {
		return nil
	}
	if err := f.set(to); err != nil {
		return err
	}
	switch f.id {
	case 9:
		d.p.TimeNanos = int64(n)
	case 10:
		d.p.DurationNanos = int64(n)
	}
	return nil
}

func (s *Sample) field(f field) error {
	switch f.id {
	case 1:
		return list(f, &s.locations)
	case 2:
		return list(f, &s.Value)
	case 3:
		s.labels = append(s.labels, [4]uint64{})
		return f.numbers(s.labels[len(s.labels)-1][:])
	}
	return nil
}

func (l *Location) field(f field) error {
	folded := uint64(0)
	switch f.id {
	case 1:
		return f.set(&l.ID)
	case 2:
		return f.set(&l.mapping)
	case 3:
		return f.set(&l.Address)
	case 4:
		var line [3]uint64 // the last is a column
		err := f.numbers(line[:])
		l.Line = append(l.Line, Line{Line: int64(line[1]), function: line[0]})
		return err
	case 5:
		return f.set(&folded)
	}
	return nil
}
