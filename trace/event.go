package trace

import (
	"errors"

	"assay/internal/eventscan"
	"assay/internal/jsonscan"
)

// An Event is one element of the event array as written, before names are
// interned and tracks are made. The Reader owns its texts; they are valid until
// the next call of [Reader.Scan].
type Event struct {
	eventscan.Fields
	Offset int64 // of its opening brace in the uncompressed input
	Index  int64 // index in the event array
	Kind   Kind

	raw   []byte // as [Reader.Scan] read it
	kinds []Kind // indexed by the Class of an event: its kind plus 1; 0 means not known yet
}

// Raw returns the JSON object that [Reader.Scan] read. Quotes that were not escaped are
// repaired in it. It is valid until the next call of Scan.
func (e *Event) Raw() []byte { return e.raw }

// Name returns the event's name.
func (e *Event) Name() []byte { return e.Text(eventscan.Name) }

// Category returns the event's category as written.
func (e *Event) Category() []byte { return e.Text(eventscan.Category) }

// PID returns the event's process as text; most profilers write a number.
func (e *Event) PID() []byte { return e.Text(eventscan.PID) }

// TID returns the event's thread as text; most profilers write a number.
func (e *Event) TID() []byte { return e.Text(eventscan.TID) }

// HasStart reports whether the event has a time.
func (e *Event) HasStart() bool { return e.Has(eventscan.Start) }

// HasDur reports whether the event has a duration.
func (e *Event) HasDur() bool { return e.Has(eventscan.Dur) }

// Codes of the issues for unusable events.
const (
	codeMalformed = "event-malformed"
	codeTooLong   = "event-too-long"
	codeNotObject = "event-not-object"
	codeBadTime   = "event-bad-time"
	codeNegative  = "event-negative-duration"
	codeNoPhase   = "event-without-phase"
)

// helpOf has the help text for each code: what the skipped events change in the
// numbers.
var helpOf = map[string]string{
	codeMalformed: "Events that are not JSON were skipped. Their time is missing from every total.",
	codeNotObject: "Elements of the event array that are not events were skipped.",
	codeBadTime:   "Events without a usable time were skipped. Their time is missing from every total.",
	codeNegative:  "Events with a negative duration were skipped. The profiler set its clock back.",
	codeNoPhase:   `Events without a phase ("ph") were skipped. Another program may have rewritten the file.`,
}

// A fault is an unusable member of an event and the reason.
type fault struct {
	code  string // issue code that it counts as
	field string
	msg   string
	err   error
}

// check completes e after its fields were read with result read. It returns nil
// if e is usable, that is, if all fields that its phase requires are present.
func (e *Event) check(read error) *fault {
	e.Kind = e.kind()
	if read == nil && e.Phase() == 'X' && e.usable() {
		return nil // the usual case
	}
	if read != nil && (e.Phase() != 'M' || !isTimeError(read)) { // metadata does not need a time
		return faultOf(read)
	}
	phase := e.Phase()
	switch {
	case phase == 0:
		return &fault{codeNoPhase, "ph", "missing", nil}
	case phase == 'X' && !e.HasStart():
		return &fault{codeBadTime, "ts", "missing", nil}
	case e.HasDur() && e.Dur() < 0:
		return &fault{codeNegative, "dur", "negative duration", nil}
	case e.HasDur() && e.Start()+e.Dur() < e.Start():
		return &fault{codeBadTime, "dur", "end is out of range", nil}
	case phase == 'X' && e.HasDur() && e.Dur() > MaxDuration:
		return &fault{codeBadTime, "dur", "over 100 hours", nil}
	case phase == 'X' && !e.HasDur():
		return &fault{codeBadTime, "dur", "missing", nil}
	}
	return nil
}

// usable reports whether the event has a time and a duration that are in range.
func (e *Event) usable() bool {
	return e.HasStart() && e.HasDur() && e.Dur() >= 0 && e.Dur() <= MaxDuration && e.Start()+e.Dur() >= e.Start()
}

// kind returns the kind of the event's category.
func (e *Event) kind() Kind {
	c := e.Class()
	if c == 0 {
		return KindOf(e.Category())
	}
	for c >= len(e.kinds) {
		e.kinds = append(e.kinds, 0)
	}
	if e.kinds[c] == 0 {
		e.kinds[c] = KindOf(e.Category()) + 1
	}
	return e.kinds[c] - 1
}

// faultOf explains why an event could not be read.
func faultOf(err error) *fault {
	var bad *eventscan.TimeError
	switch {
	case errors.As(err, &bad) && bad.Field == eventscan.Start:
		return &fault{codeBadTime, "ts", "bad timestamp", bad}
	case errors.As(err, &bad):
		return &fault{codeBadTime, "dur", "bad duration", bad}
	case errors.Is(err, jsonscan.ErrTooLong):
		return &fault{codeTooLong, "", "too long", err}
	}
	return &fault{codeMalformed, "", "malformed JSON", err}
}
