package eventscan

import (
	"bytes"
	"strconv"

	"assay/internal/jsonscan"
)

// store keeps the value of field x, given as JSON text whose structure is
// sound. A value that its field cannot use leaves the field unset; a later
// member of the same name counts, as in most JSON readers. The error says that
// a time is unusable, which no analysis can do without.
func (f *Fields) store(x Field, val []byte) error {
	switch {
	case x == Phase:
		if t := textOf(val); len(t) > 0 {
			f.phase = t[0]
			f.set |= 1 << Phase
		}
	case x == Start || x == Dur:
		return f.setTime(x, val)
	case x == Args:
		// Of several args the last counts, whole.
		if f.set &^= argSet; val[0] == '{' {
			f.set |= 1 << Args
		}
	case x >= firstInt:
		if n, ok := intOf(textOf(val)); ok {
			f.ints[x-firstInt] = n
			f.set |= 1 << x
		} else if x == Device && string(val) != "null" {
			f.ints[x-firstInt] = Unreadable
			f.set |= 1 << x
		}
	case x == Grid, x == Block:
		if t, ok := tripleOf(val); ok {
			f.triples[x-Grid] = t
			f.set |= 1 << x
		}
	case x >= firstText:
		if t := textOf(val); t != nil {
			f.texts[x-firstText] = t
			f.set |= 1 << x
		}
	}
	return nil
}

func (f *Fields) setTime(x Field, val []byte) error {
	text := textOf(val)
	if text == nil {
		return nil // null: as if it were not there
	}
	ns, err := ParseMicros(bytes.TrimSpace(text))
	if err != nil {
		return &TimeError{x, string(text[:min(len(text), 40)]), err}
	}
	f.times[x-Start] = ns
	f.set |= 1 << x
	return nil
}

// A TimeError reports a time that is no number or out of range.
type TimeError struct {
	Field Field // Start or Dur
	Text  string
	Err   error
}

func (e *TimeError) Error() string { return strconv.Quote(e.Text) + " is " + e.Err.Error() }

// textOf returns the text of a value: the inside of a string, nothing for
// null, and the JSON of everything else.
func textOf(val []byte) []byte {
	switch {
	case val[0] == '"':
		return jsonscan.Unquote(nil, val[1:len(val)-1])
	case string(val) == "null":
		return nil
	}
	return val
}

// intOf reads an integer as profilers and what rewrites their files write it:
// AMD's put some in quotes, some programs turn 7 into 7.0. An unsigned number
// beyond int64 keeps its bits, so that different ones stay different.
func intOf(text []byte) (int64, bool) {
	if whole, zeros, ok := bytes.Cut(text, []byte(".")); ok && len(bytes.Trim(zeros, "0")) == 0 {
		text = whole
	}
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err == nil {
		return n, true
	}
	u, err := strconv.ParseUint(string(text), 10, 64)
	return int64(u), err == nil
}

// tripleOf reads an array of three integers.
func tripleOf(val []byte) (t [3]int64, ok bool) {
	if val[0] != '[' {
		return t, false
	}
	n := 0
	m := jsonscan.Walk(val, 0)
	for ; m.Next(); n++ {
		if n == len(t) {
			return t, false
		}
		if t[n], ok = intOf(m.Value().Of(val)); !ok {
			return t, false
		}
	}
	return t, m.Err() == nil && n == len(t)
}
