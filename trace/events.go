package trace

import (
	"errors"

	"assay/diag"
	"assay/internal/eventscan"
	"assay/internal/jsonscan"
)

// event reads one element of the event array, or its end. It reports whether
// there is a record.
func (r *Reader) event() bool {
	c, ok := r.s.Peek()
	switch {
	case !ok:
		r.leaveOpenArray()
		return false
	case c == ',':
		// A comma too many is harmless: the elements are clear.
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
		return r.stranger(at)
	}
	n, err := r.s.Parse(func(b []byte) (int, error) { return eventscan.Decode(b, 0, &r.ev.Fields) })
	if err != nil && !isTimeError(err) {
		return r.brokenEvent(err)
	}
	r.n++
	r.ev.Offset, r.ev.Index = at.Offset, index
	// What was read stays in the stream's buffer until the next read.
	r.s.Advance(n)
	return r.record(at, err)
}

// record makes the record for the event just read and reports whether it is
// wanted.
func (r *Reader) record(at diag.Pos, read error) bool {
	if read == nil && r.ev.Empty() {
		return false // {}: how TensorBoard ends its array
	}
	f := r.ev.check(read)
	if !r.sel.wants(&r.ev, f) {
		return false
	}
	if f.code != "" {
		r.skip(at, f)
	} else {
		r.rec = &r.ev
	}
	return true
}

// stranger reads an element that is no object. Null is harmless.
func (r *Reader) stranger(at diag.Pos) bool {
	n, err := r.s.Value()
	if err != nil {
		return r.brokenEvent(err)
	}
	null := string(r.s.Window()[:n]) == "null"
	r.s.Advance(n)
	r.n++
	if !null {
		r.skip(at, fault{code: codeNotObject, msg: "not an object"})
	}
	return !null
}

// wants reports whether s keeps an event with the given fault. Metadata is
// always kept: it names the tracks. An event without a phase is always counted.
func (s Select) wants(e *Event, f fault) bool {
	return e.Phase() == 'M' || s.Kinds.Has(e.Kind) || f.code == codeNoPhase
}

// skip makes an error the current record and counts it.
func (r *Reader) skip(at diag.Pos, f fault) {
	r.count(at, f, 1)
	if f.field != "" {
		at.Path += "." + f.field
	}
	r.rec = &diag.Error{Pos: at, Msg: f.msg, Err: f.err}
}

// count counts n events with the same fault, the first of them at the given
// place.
func (r *Reader) count(at diag.Pos, f fault, n int64) {
	if f.field != "" {
		at.Path += "." + f.field
	}
	r.issues.AddN(diag.Issue{Code: f.code, Severity: diag.DataLoss, First: at, Help: helpOf[f.code]}, n)
}

// brokenEvent skips the element at the window's start, which is not JSON or
// does not end, and goes on at the next place that looks like an event.
func (r *Reader) brokenEvent(err error) bool {
	at := r.pos("")
	if errors.Is(err, jsonscan.ErrShort) {
		// Either the input ends here, or a stray quote made a string of all
		// that follows: then events follow.
		if next := eventStart(r.s.Window(), 1); next < 0 {
			r.leave(false)
			return false
		}
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

// resync moves the window to the next place that looks like an event's start.
func (r *Reader) resync() bool {
	// What tells a start from a nested object lies just before it, and the key
	// just behind it, so this much must be seen at once.
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

// leaveOpenArray ends the reading where the event array was not closed. The
// array form allows that; the object form does not.
func (r *Reader) leaveOpenArray() {
	if r.object || r.s.Err() != nil {
		r.leave(false)
		return
	}
	r.issues.Add(diag.Issue{Code: "events-not-closed", Severity: diag.Info, First: r.pos(""),
		Help: "the event array has no closing bracket, as its format allows; the last events may be missing"})
	r.state = atEnd
}
