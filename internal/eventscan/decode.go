package eventscan

import (
	"slices"

	"assay/internal/jsonscan"
)

// Decode fills f from the event whose opening brace is b[i] and returns the
// index just past it. It is the reference implementation with which Scan must
// agree.
//
// An error of package jsonscan reports that the event's JSON is broken; the
// returned index is the position. A *TimeError reports that the JSON is valid
// and one of its times is not; all other fields of the event are then filled.
func Decode(b []byte, i int, f *Fields) (end int, err error) {
	f.set, f.head = 0, nil
	var bad []*TimeError
	m := jsonscan.Walk(b, i)
	for m.Next() {
		x := memberFields[string(m.Key().Of(b))]
		if x == FieldNone {
			continue
		}
		val := m.Value()
		switch err := f.store(x, val.Of(b)).(type) {
		case *TimeError:
			f.set &^= 1 << x
			bad = append(bad, err)
		default:
			bad = slices.DeleteFunc(bad, func(e *TimeError) bool { return e.Field == x }) // written again with a valid value
		}
		if x == Args && b[val.Start] == '{' {
			f.decodeArgs(b, val.Start)
		}
	}
	if m.Err() != nil {
		return m.End(), m.Err()
	}
	if len(bad) > 0 {
		return m.End(), bad[0]
	}
	return m.End(), nil
}

// decodeArgs reads the members of args. Their structure was checked when the
// event's members were walked.
func (f *Fields) decodeArgs(b []byte, i int) {
	m := jsonscan.WalkInner(b, i, 1)
	for m.Next() {
		if x := argFields[string(m.Key().Of(b))]; x != FieldNone {
			f.store(x, m.Value().Of(b)) // no arg is a time, so there is no error
		}
	}
}
