package profile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/google/pprof/profile"

	"assay/internal/diag"
)

// A salvage reads the complete records of a profile.proto that is cut or damaged.
// References to missing records become unknown frames.
type salvage struct {
	name   string
	memory int64 // maximum bytes of memory of the profile
	issues diag.Ledger
	cut    bool
}

// read returns the profile in the bytes. It returns an error if there is no sample or
// no type of the values. The argument reading is the error that ended the input early,
// or nil.
func (s *salvage) read(data []byte, reading error) (*profile.Profile, error) {
	kept := s.whole(data)
	if reading != nil {
		s.truncated(int64(len(data)), fmt.Sprintf("the input could not be read to its end (%v)", reading))
	}
	w := wire{data: kept, budget: s.memory, most: s.memory}
	if err := w.check(); err != nil {
		return nil, err
	}
	in, err := profile.ParseUncompressed(kept)
	if err != nil {
		lost := clearStrings(kept)
		s.reference(lost)
		if in, err = profile.ParseUncompressed(kept); err != nil {
			return nil, err
		}
		for _, f := range in.Function {
			if f.Name == "" {
				f.Name = unknownName
			}
		}
	}
	s.reference(repair(in))
	types := slices.ContainsFunc(in.SampleType, func(t *profile.ValueType) bool { return t.Type == "" })
	samples := len(in.Sample)
	in.Sample = slices.DeleteFunc(in.Sample, func(x *profile.Sample) bool { return len(x.Value) != len(in.SampleType) })
	s.issues.AddN(diag.Issue{Code: "pprof-record-damaged", Severity: diag.DataLoss, First: diag.Pos{File: s.name}}, int64(samples-len(in.Sample)))
	if len(in.SampleType) == 0 || types || len(in.Sample) == 0 {
		return nil, errors.New("no sample of it is left whose values are known")
	}
	return in, nil
}

func (s *salvage) truncated(at int64, why string) {
	s.cut = true
	s.issues.Add(diag.Issue{Code: "input-truncated", Severity: diag.DataLoss, First: diag.Pos{File: s.name, Offset: at},
		Help: why + "; samples and names after this position are missing; copy the file again"})
}

func (s *salvage) reference(n int64) {
	s.issues.AddN(diag.Issue{Code: "pprof-reference-missing", Severity: diag.DataLoss, First: diag.Pos{File: s.name}}, n)
}

// whole returns the complete fields of a profile. It skips a damaged record, whose
// length tells where the next record begins.
func (s *salvage) whole(data []byte) []byte {
	w, out := wire{data: data}, make([]byte, 0, len(data))
	for w.at < len(data) {
		start := w.at
		field, body, err := w.next(len(data))
		if err != nil {
			s.truncated(int64(start), fmt.Sprintf("the input is cut or damaged here (%v)", err))
			break
		}
		if body != nil && !isWhole(body, messages[field]) {
			s.issues.Add(diag.Issue{Code: "pprof-record-damaged", Severity: diag.DataLoss, First: diag.Pos{File: s.name, Offset: int64(start)}})
			continue
		}
		out = append(out, data[start:w.at]...)
	}
	return out
}

// A message describes a protobuf message: which of its fields are messages, lists of
// numbers and indexes of strings.
type message struct {
	nested  map[uint64]*message
	packed  []uint64
	strings []uint64
}

// messages are the fields of a profile that are messages.
var messages = map[uint64]*message{
	1:  {strings: []uint64{1, 2}},
	2:  {nested: map[uint64]*message{3: {strings: []uint64{1, 2, 4}}}, packed: []uint64{1, 2}},
	3:  {strings: []uint64{5, 6}},
	4:  {nested: map[uint64]*message{4: {}}},
	5:  {strings: []uint64{2, 3, 4}},
	11: {strings: []uint64{1, 2}},
}

// fileStrings are the fields of a profile itself that are indexes of strings.
var fileStrings = []uint64{7, 8, 13, 14, 15}

// isWhole reports whether the fields of a message can be parsed. It returns true for
// fields that are not messages.
func isWhole(body []byte, m *message) bool {
	if m == nil {
		return true
	}
	w := wire{data: body}
	for w.at < len(body) {
		field, inner, err := w.next(len(body))
		if err != nil || inner != nil && !isWhole(inner, m.nested[field]) {
			return false
		}
		if inner != nil && slices.Contains(m.packed, field) {
			for list := (wire{data: inner}); list.at < len(inner); {
				if _, err := list.varint(len(inner)); err != nil {
					return false
				}
			}
		}
	}
	return true
}

// clearStrings sets indexes of missing strings to 0, the empty string, and returns
// their number. It does not change the length of the data. It leaves a profile alone
// whose first string is not empty.
func clearStrings(data []byte) (cleared int64) {
	const table = 6
	known := uint64(0)
	for w := (wire{data: data}); w.at < len(data); {
		if field, body, err := w.next(len(data)); err != nil {
			break
		} else if field == table && body != nil {
			known++
		}
	}
	return clearIn(data, &message{nested: messages, strings: fileStrings}, max(known, 1))
}

func clearIn(data []byte, m *message, known uint64) (cleared int64) {
	for w := (wire{data: data}); w.at < len(data); {
		start := w.at
		field, body, err := w.next(len(data))
		switch {
		case err != nil:
			return cleared
		case body != nil && m.nested[field] != nil:
			cleared += clearIn(body, m.nested[field], known)
		case body == nil && data[start]&7 == wireVarint && slices.Contains(m.strings, field):
			_, tag := binary.Uvarint(data[start:])
			if index, _ := binary.Uvarint(data[start+tag:]); index >= known {
				zero(data[start+tag : w.at])
				cleared++
			}
		}
	}
	return cleared
}

// zero overwrites a varint with 0 in the same number of bytes.
func zero(number []byte) {
	for i := range number {
		number[i] = 0x80
	}
	number[len(number)-1] = 0
}

// repair replaces missing locations and functions to which samples refer by unknown
// frames, and returns their number.
func repair(in *profile.Profile) (missing int64) {
	unknown := &profile.Function{Name: unknownName}
	nowhere := &profile.Location{Line: []profile.Line{{Function: unknown}}}
	for _, s := range in.Sample {
		for i, l := range s.Location {
			if l == nil {
				s.Location[i] = nowhere
				missing++
			}
		}
	}
	for _, l := range in.Location {
		for i := range l.Line {
			if l.Line[i].Function == nil {
				l.Line[i].Function = unknown
				missing++
			}
		}
	}
	return missing
}
