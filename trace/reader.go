package trace

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"assay/diag"
	"assay/internal/jsonscan"
)

// A Record is one thing read from a trace: an [*Event], or a [*diag.Error] for
// an element that could not be used. More kinds may be added.
type Record any

// MaxEvent is how long one event's JSON may be. Longer ones are skipped.
const MaxEvent = 64 << 20

// A Reader reads Chrome trace-event JSON one record at a time, so memory use
// does not grow with the file. Its API is modeled on [bufio.Scanner].
//
// It accepts the object form ({"traceEvents": [...]}) and the array form, and
// goes on after an event that it cannot use. Where the input breaks off, Scan
// ends, what came before stands, and [Reader.Issues] says what is missing;
// [Reader.Err] is for inputs that are no trace at all.
type Reader struct {
	s      *jsonscan.Stream
	file   string
	sel    Select
	issues diag.Ledger
	meta   *metadata

	state  readerState
	object bool  // the events are a member of an object
	arrays int   // event arrays seen
	n      int64 // index of the next event

	ev  Event
	rec Record
	err error
}

// A Select says what to keep of a trace. What is not wanted is dropped before
// it is decoded. Fields may be added; the zero Select keeps nothing.
type Select struct {
	Kinds Kinds
}

// SelectAll keeps everything.
func SelectAll() Select { return Select{Kinds: Every} }

type readerState uint8

const (
	atStart   readerState = iota
	inMembers             // among the members of the top-level object
	inEvents              // inside an event array
	atEnd                 // done, or stopped by err
)

// NewReader returns a Reader for r, which is not compressed. The file name is
// used in messages only.
func NewReader(r io.Reader, file string, sel Select) *Reader {
	return &Reader{s: jsonscan.NewStream(r, MaxEvent), file: file, sel: sel, meta: newMetadata()}
}

// Scan advances to the next record and reports whether there is one.
func (r *Reader) Scan() bool {
	for {
		switch r.state {
		case atStart:
			r.start()
		case inMembers:
			r.member()
		case inEvents:
			if r.event() {
				return true
			}
		case atEnd:
			return false
		}
	}
}

// Record returns the record just scanned. Errors among records are not fatal;
// the caller may report them and go on.
func (r *Reader) Record() Record { return r.rec }

// Err returns why the input is no trace, or nil.
func (r *Reader) Err() error { return r.err }

// Issues returns what was wrong with the input without stopping the reader.
func (r *Reader) Issues() []diag.Issue { return r.issues.Issues() }

// Events returns how many elements of event arrays were read, usable or not.
func (r *Reader) Events() int64 { return r.n }

// Meta returns what the trace says about itself outside its events. It is
// complete once Scan has returned false.
func (r *Reader) Meta() Meta { return r.meta.decode() }

// start decides between the object and the array form.
func (r *Reader) start() {
	r.skipBOM()
	c, ok := r.s.Peek()
	switch {
	case !ok && r.s.Err() != nil:
		r.fail(r.pos(""), "cannot read", r.s.Err())
	case !ok:
		r.fail(r.pos(""), "the input is empty", nil)
	case c == '{':
		r.s.Advance(1)
		r.object = true
		r.state = inMembers
	case c == '[':
		r.s.Advance(1)
		r.arrays++
		r.state = inEvents
	default:
		r.fail(r.pos(""), fmt.Sprintf("not a trace: want a JSON object or array, got %q", rune(c)), nil)
	}
}

// skipBOM skips the byte order mark that some Windows programs write.
func (r *Reader) skipBOM() {
	for len(r.s.Window()) < 3 && r.s.More() {
	}
	if w := r.s.Window(); len(w) >= 3 && w[0] == 0xef && w[1] == 0xbb && w[2] == 0xbf {
		r.s.Advance(3)
	}
}

// member reads one member of the top-level object, or its end.
func (r *Reader) member() {
	c, ok := r.s.Peek()
	switch {
	case !ok:
		r.leave(false)
		return
	case c == '}':
		r.s.Advance(1)
		r.leave(true)
		return
	case c == ',':
		r.s.Advance(1)
		return
	}
	key, ok := r.key()
	if !ok {
		return
	}
	c, ok = r.s.Peek()
	switch {
	case !ok:
		r.leave(false)
	case key == "traceEvents" && c == '[':
		if r.arrays++; r.arrays > 1 {
			r.issues.Add(diag.Issue{Code: "events-repeated", Severity: diag.Suspect, First: r.pos("traceEvents"),
				Help: "the file has several traceEvents arrays, and all were read as one; two traces may have been pasted together"})
		}
		r.s.Advance(1)
		r.state = inEvents
	case r.meta.wants(key):
		n, err := r.s.Value()
		if err != nil {
			r.brokenMember(key, err)
			return
		}
		r.meta.put(key, r.s.Window()[:n])
		r.s.Advance(n)
	default:
		if err := r.s.Discard(); err != nil {
			r.brokenMember(key, err)
		}
	}
}

// key reads `"key" :` and returns the key.
func (r *Reader) key() (string, bool) {
	n, err := r.s.Value()
	if err == nil && r.s.Window()[0] != '"' {
		err = &jsonscan.SyntaxError{Need: "a quoted key", Got: r.s.Window()[0]}
	}
	if err != nil {
		r.brokenMember("", err)
		return "", false
	}
	key := string(jsonscan.Unquote(nil, r.s.Window()[1:n-1]))
	r.s.Advance(n)
	c, ok := r.s.Peek()
	if !ok {
		r.leave(false)
		return "", false
	}
	if c != ':' {
		r.brokenMember(key, &jsonscan.SyntaxError{Need: "a colon", Got: c})
		return "", false
	}
	r.s.Advance(1)
	return key, true
}

// brokenMember ends the reading: what is wrong lies outside the events, so
// there is no next event to go on with. What was read before it stands.
func (r *Reader) brokenMember(key string, err error) {
	if r.arrays == 0 && !errors.Is(err, jsonscan.ErrShort) {
		r.fail(r.pos(key), "malformed JSON before any event", err)
		return
	}
	if errors.Is(err, jsonscan.ErrShort) {
		r.leave(false)
		return
	}
	r.issues.Add(diag.Issue{Code: "metadata-malformed", Severity: diag.Info, First: r.pos(key),
		Help: "the part of the file behind its events is not JSON (" + err.Error() + "); device names or ranks may be missing"})
	r.state = atEnd
}

// leave ends the reading: behind the end of the trace if it is closed, else at
// the end of the input.
func (r *Reader) leave(closed bool) {
	switch {
	case r.arrays == 0 && closed:
		r.fail(r.pos(""), `not a trace: the JSON object has no "traceEvents" array; want what export_chrome_trace of torch.profiler writes`, nil)
		return
	case r.arrays == 0:
		r.fail(r.pos(""), "the input ends before any event", r.s.Err())
		return
	case !closed:
		r.truncated()
	}
	r.state = atEnd
	if !closed {
		return
	}
	if _, more := r.s.Peek(); more {
		r.issues.Add(diag.Issue{Code: "trailing-data", Severity: diag.DataLoss, First: r.pos(""),
			Help: "something follows the end of the trace and was not read; if traces of several ranks were joined, pass them as separate files"})
	} else if err := r.s.Err(); err != nil {
		r.issues.Add(diag.Issue{Code: "trailing-data", Severity: diag.Info, First: r.pos(""),
			Help: "what follows the end of the trace cannot be read (" + err.Error() + "); the trace itself is whole"})
	}
}

// codeTruncated is the issue of an input that ends inside the trace.
const codeTruncated = "input-truncated"

func (r *Reader) truncated() {
	help := "the input ends inside the trace: the profiler was killed or the disk was full; the events after this place are missing"
	if err := r.s.Err(); err != nil {
		help = "the input breaks off (" + err.Error() + "); what follows this place is missing"
	}
	r.issues.Add(diag.Issue{Code: codeTruncated, Severity: diag.DataLoss, First: r.pos(""), Help: help})
}

func (r *Reader) fail(pos diag.Pos, msg string, cause error) {
	r.err = &diag.Error{Pos: pos, Msg: msg, Err: cause}
	r.state = atEnd
}

// pos is where the window starts. Inside the events the path names the next
// event.
func (r *Reader) pos(field string) diag.Pos {
	p := diag.Pos{File: r.file, Offset: r.s.Offset(), Path: field}
	if r.state == inEvents {
		p.Path = strings.TrimSuffix(fmt.Sprintf("traceEvents[%d].%s", r.n, field), ".")
	}
	return p
}
