package trace

import (
	"bytes"
	"errors"
	"fmt"

	"assay/internal/diag"
	"assay/internal/eventscan"
	"assay/internal/jsonscan"
)

// event reads one element of the event array, or the end of the array. It
// reports whether there is a record.
func (r *Reader) event() bool {
	c, ok := r.s.Peek()
	switch {
	case !ok:
		r.leaveOpenArray()
		return false
	case c == ',':
		// An extra comma is harmless, because the elements are unambiguous.
		r.s.Advance(1)
		return false
	case c == ']':
		r.s.Advance(1)
		if r.object {
			r.state = inMembers
		} else {
			r.leave(true)
		}
		return false
	}
	at, index := r.pos(""), r.n
	if c != '{' {
		return r.nonObject(at)
	}
	n, err := r.decode()
	if err != nil && !isTimeError(err) {
		return r.brokenEvent(err)
	}
	r.n++
	r.ev.Offset, r.ev.Index, r.ev.raw = at.Offset, index, r.s.Window()[:n]
	// The event's texts stay in the stream's buffer until the next read.
	r.s.Advance(n)
	return r.record(at, err)
}

// decode reads the event at the window's start and returns its length. The
// window grows until the event is complete or until it is clear that it has no
// end: its brackets do not balance, and other events follow.
func (r *Reader) decode() (int, error) {
	for look := firstLook; ; look *= 2 {
		w := r.ahead(look)
		n, err := eventscan.Decode(w, 0, &r.ev.Fields)
		switch {
		case err != jsonscan.ErrShort:
			r.unclosed = 0
			return n, err
		case len(w) > r.sel.Limits.Event:
			return n, fmt.Errorf("%w: over %d bytes", jsonscan.ErrTooLong, r.sel.Limits.Event)
		case len(w) < look:
			return n, err // the input ends here
		case r.eventsFollow(w):
			r.unclosed++
			return n, errUnclosed
		}
	}
}

// firstLook is the number of bytes in which decode searches for the end of an
// event before it considers that the event may have none.
const firstLook = 4 << 10

var errUnclosed = errors.New("brackets or quotes are not closed")

// eventsFollow reports whether other events follow the event at b's start,
// which has no end in b. Objects inside an event can look like events. Therefore
// a short b must contain a complete event after the first; in a long b, several
// event starts suffice. After several events in a row without an end, one event
// start suffices: otherwise a file with many such events would be read to its
// end for each of them.
func (r *Reader) eventsFollow(b []byte) bool {
	const many, several, some = 64 << 10, 3, 8
	if r.unclosed >= some {
		return eventStart(b, 1) >= 0
	}
	var f eventscan.Fields
	seen := 0
	for at := eventStart(b, 1); at >= 0 && seen < several; at = eventStart(b, at+1) {
		if _, err := eventscan.Decode(b, at, &f); err == nil && f.Phase() != 0 {
			return true
		}
		seen++
	}
	return seen == several && len(b) >= many
}

// record makes the record of the event just read and reports whether it is
// wanted.
func (r *Reader) record(at diag.Pos, read error) bool {
	if read == nil && r.ev.Empty() {
		return false // {}: the end of TensorBoard's arrays
	}
	f := r.ev.check(read)
	if !r.sel.wants(&r.ev, f) {
		return false
	}
	if f != nil {
		r.skip(at, f)
	} else {
		r.rec = &r.ev
	}
	return true
}

// nonObject skips an element of the event array that is not an object, and counts it as
// unusable. A null is skipped without an issue.
func (r *Reader) nonObject(at diag.Pos) bool {
	n, err := r.s.Value()
	if err != nil {
		return r.brokenEvent(err)
	}
	null := string(r.s.Window()[:n]) == "null"
	r.s.Advance(n)
	r.n++
	if !null {
		r.skip(at, &fault{code: codeNotObject, msg: "not an object"})
	}
	return !null
}

// wants reports whether s keeps an event with the given fault. Metadata is
// always kept, because it names the tracks. An event without a phase is always
// counted.
func (s *Select) wants(e *Event, f *fault) bool {
	return e.Phase() == 'M' || s.Kinds.Has(e.Kind) || f != nil && f.code == codeNoPhase
}

// argumentFields are the args used only with Select.Arguments.
//
// The dimensions, types and values of inputs are read even without Select.Shapes, because
// the size of a collective (until 2024 also its number) is only in the arguments of its
// operator.
var argumentFields = eventscan.SetOf(eventscan.InputStrides, eventscan.KernelHash, eventscan.LaunchedKernel)

// fields returns the fields that s needs from events of a phase and category.
// It returns none for events that wants rejects.
func (s Select) fields(phase byte, category []byte) eventscan.FieldSet {
	switch {
	case phase != 'M' && !s.Kinds.Has(KindOf(category)):
		return 0
	case !s.Arguments:
		return ^argumentFields
	}
	return ^eventscan.FieldSet(0)
}

// skip makes an error the current record and counts it.
func (r *Reader) skip(at diag.Pos, f *fault) {
	r.count(at, f, 1)
	if f.field != "" {
		at.Path += "." + f.field
	}
	r.rec = &diag.Error{Pos: at, Msg: f.msg, Err: f.err}
}

// count adds n events with the same fault; the first of them is at the given
// position.
func (r *Reader) count(at diag.Pos, f *fault, n int64) {
	if f.field != "" {
		at.Path += "." + f.field
	}
	help := helpOf[f.code]
	if f.code == codeTooLong {
		help = fmt.Sprintf("Events of more than %d MiB were skipped. Their time is missing from every total.",
			r.sel.Limits.Event>>20)
	}
	r.issues.AddN(diag.Issue{Code: f.code, Severity: diag.DataLoss, First: at, Help: help}, n)
}

// brokenEvent skips the element at the window's start, which is not JSON or has
// no end. Reading continues at the next position that looks like an event.
func (r *Reader) brokenEvent(err error) bool {
	at := r.pos("")
	if errors.Is(err, jsonscan.ErrShort) {
		// Either the input ends here, or a stray quote turned the rest into one
		// string. In the second case events follow.
		if next := eventStart(r.s.Window(), 1); next < 0 {
			r.leave(false)
			return false
		}
		err = errUnclosed
	}
	if r.repair(at) {
		return r.record(at, nil)
	}
	var syntax *jsonscan.SyntaxError
	if errors.As(err, &syntax) {
		at.Offset += int64(syntax.At)
	}
	r.skip(at, faultOf(err))
	r.n++
	if !r.resync() {
		r.leaveOpenArray()
	}
	return true
}

// repair reads the event at the window's start, whose quotes are not escaped,
// and reports whether it succeeded. It does not look beyond the next position
// that looks like an event.
func (r *Reader) repair(at diag.Pos) bool {
	const longest = 64 << 10
	w := r.ahead(longest)
	end := eventStart(w, 1)
	if end < 0 {
		end = len(w) // the last event
	}
	end = bytes.LastIndexByte(w[:end], '}') + 1
	fixed, ok := eventscan.Repair(w[:end])
	if !ok {
		return false
	}
	n, err := eventscan.Decode(append(fixed, ' '), 0, &r.ev.Fields)
	if err != nil || n != len(fixed) || r.ev.Empty() {
		return false
	}
	r.ev.Offset, r.ev.Index, r.ev.raw = at.Offset, r.n, fixed
	r.n++
	r.s.Advance(end)
	r.issues.Add(diag.Issue{Code: "quotes-repaired", Severity: diag.Info, First: at,
		Help: "Quotes in names were not escaped, as PyTorch's profiler wrote them until 2026. The events were read with the quotes at the most likely positions."})
	return true
}

// resync moves the window to the next position that looks like the start of an
// event.
func (r *Reader) resync() bool {
	// The bytes just before and just after a brace distinguish an event from a
	// nested object, so this many bytes must be visible at once.
	const context = 256
	r.s.Advance(min(1, len(r.s.Window())))
	for {
		w := r.s.Window()
		if next := eventStart(w, 0); next >= 0 {
			r.s.Advance(next)
			return true
		}
		r.s.Advance(max(0, len(w)-context))
		if !r.s.More() {
			r.s.Advance(len(r.s.Window()))
			return false
		}
	}
}

// leaveOpenArray ends the reading at an event array without a closing bracket.
// The array form of the format permits that, the object form does not.
func (r *Reader) leaveOpenArray() {
	if r.object || r.s.Err() != nil {
		r.leave(false)
		return
	}
	at := r.pos("")
	if r.state = atEnd; r.lines {
		return
	}
	r.issues.Add(diag.Issue{Code: "events-not-closed", Severity: diag.Info, First: at,
		Help: "The event array has no closing bracket, as its format allows. The last events may be missing."})
}
