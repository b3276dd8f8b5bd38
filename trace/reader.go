package trace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"assay/internal/diag"
	"assay/internal/jsonscan"
)

// A Record is one thing read from a trace: an [*Event], or a [*diag.Error] for
// an element that could not be used. More kinds may be added.
type Record any

// A Reader reads Chrome trace-event JSON one record at a time, so memory use
// does not grow with the file. Its API is modeled on [bufio.Scanner].
//
// It accepts the object form ({"traceEvents": [...]}) and the array form. After
// an unusable event it continues with the next one. If the input breaks off,
// Scan returns false, the records before that remain valid, and [Reader.Issues]
// describes what is missing. [Reader.Err] is set only for inputs that do not
// contain a trace.
type Reader struct {
	s      *jsonscan.Stream
	file   string
	sel    Select
	issues diag.Ledger
	meta   *metadata
	index  *Index // nil without Select.Index

	state    readerState
	object   bool  // the events are a member of an object
	unclosed int   // consecutive events without an end
	lines    bool  // the events are not in an array
	arrays   int   // event arrays seen
	n        int64 // index of the next event

	ev  Event
	rec Record
	err error
}

// A Select defines which parts of a trace are kept. Unwanted parts are dropped
// before they are decoded. Fields may be added; the zero Select keeps nothing.
type Select struct {
	Kinds     Kinds
	Shapes    bool // sizes and types of operator arguments
	Arguments bool // strides, values and the hash of a kernel; needs Shapes
	Limits    Limits

	// GraphNodes keeps where the nodes of CUDA graphs were created, in formats that record it.
	// It needs all Kinds.
	GraphNodes bool

	// NodeNames returns names of nodes of CUDA graphs, by their ids, for nodes that the trace does not name; nil for none. It is called
	// only if there are such nodes, by several goroutines.
	NodeNames func() map[int64]NodeName

	// Executed returns what an execution trace says of operators, for those without arguments in the trace; nil for nothing. It is
	// called like NodeNames.
	Executed func() *Executed

	// FlowsIfNeeded drops the ends of arrows once an event with an equivalent
	// number was seen: the correlation of device work or, for arrows from
	// forward to backward operators, the sequence number of an operator. The
	// remaining arrows are complete only in a trace without such numbers.
	FlowsIfNeeded bool

	// Index records where in the input the events are, so that [NewCut] can be used. It needs
	// all Kinds and all arrows.
	Index bool
}

// SelectAll keeps everything.
func SelectAll() Select { return Select{Kinds: Every, Shapes: true, Arguments: true} }

type readerState uint8

const (
	atStart   readerState = iota
	inMembers             // among the members of the top-level object
	inEvents              // inside an event array
	atEnd                 // done, or stopped by err
)

// NewReader returns a Reader for r, which must not be compressed. The file name
// is used in messages only.
func NewReader(r io.Reader, file string, sel Select) *Reader {
	sel.Limits = sel.Limits.orDefault()
	return &Reader{s: jsonscan.NewStream(r, sel.Limits.Event), file: file, sel: sel, meta: newMetadata()}
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

// Err returns the reason if the input does not contain a trace, or nil.
func (r *Reader) Err() error { return r.err }

// Issues returns the problems of the input that did not stop the reader.
func (r *Reader) Issues() []diag.Issue { return r.issues.Issues() }

// Events returns the number of elements of event arrays that were read, usable
// or not.
func (r *Reader) Events() int64 { return r.n }

// Meta returns the information about the trace outside its events. It is
// complete once Scan has returned false.
func (r *Reader) Meta() Meta { return r.meta.decode() }

// start chooses between the object and the array form.
func (r *Reader) start() {
	r.skipBOM()
	c, ok := r.s.Peek()
	switch {
	case !ok && r.s.Err() != nil:
		r.fail(r.pos(""), "cannot read", r.s.Err())
	case !ok:
		r.fail(r.pos(""), "the input is empty", nil)
	case c == '{' && r.eventFirst():
		r.arrays++
		r.state, r.lines = inEvents, true
	case c == '{':
		r.s.Advance(1)
		r.object = true
		r.state = inMembers
	case c == '[':
		r.s.Advance(1)
		r.arrays++
		r.state = inEvents
	case r.skipText():
	default:
		r.fail(r.pos(""), fmt.Sprintf("not a trace: want a JSON object or array, got %q", rune(c)), nil)
	}
}

// eventFirst reports whether the object at the window's start is itself an
// event. Some programs write one event per line without an array.
func (r *Reader) eventFirst() bool {
	return looksLikeEvent(r.ahead(textBefore), 0)
}

// ahead returns the next n bytes, or fewer at the end of the input. Decisions
// based on them do not depend on how the input arrives.
func (r *Reader) ahead(n int) []byte {
	for len(r.s.Window()) < n && r.s.More() {
	}
	w := r.s.Window()
	return w[:min(n, len(w))]
}

// textBefore is the maximum number of bytes before the JSON of an input.
const textBefore = 4 << 10

// skipText skips lines before the JSON, which a program's log wrote into a
// redirected trace, and reports whether JSON follows them.
func (r *Reader) skipText() bool {
	n := jsonAfterText(r.ahead(textBefore))
	if n <= 0 {
		return false
	}
	r.issues.Add(diag.Issue{Code: "text-before-trace", Severity: diag.Info, First: r.pos(""),
		Help: "Lines of text before the trace were skipped. A log and a trace may have been written to one file."})
	r.s.Advance(n)
	return true
}

// jsonAfterText returns the index of the first line that starts like a trace,
// or -1.
func jsonAfterText(b []byte) int {
	for i := 0; i < len(b); {
		line := b[i:]
		if line[0] == '{' || line[0] == '[' {
			if next := jsonscan.Space(line, 1); next < len(line) && bytes.IndexByte([]byte(`"{[/`), line[next]) >= 0 {
				return i
			}
		}
		end := bytes.IndexByte(line, '\n')
		if end < 0 {
			break
		}
		i += end + 1
	}
	return -1
}

// skipBOM skips the byte order mark that some Windows programs write.
func (r *Reader) skipBOM() {
	if string(r.ahead(3)) == "\xef\xbb\xbf" {
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
	case c == '/' && r.comment():
		return
	}
	from := r.s.Offset()
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
				Help: "The file has several traceEvents arrays, and all were read as one. Two traces may have been joined."})
		}
		r.s.Advance(1)
		r.state = inEvents
	default:
		read := r.discard
		if r.meta.wants(key) {
			read = r.keep
		}
		if read(key) {
			r.index.member(key, from, r.s.Offset())
		}
	}
}

// discard skips a member, and reports whether it is complete.
func (r *Reader) discard(key string) bool {
	err := r.s.Discard()
	if err != nil {
		r.brokenMember(key, err)
	}
	return err == nil
}

// maxMember is the maximum length of a top-level member that is kept.
const maxMember = 1 << 20

var errLongMember = errors.New("too long")

// keep reads a member with information about the trace, and reports whether it is complete.
func (r *Reader) keep(key string) bool {
	n, err := r.s.Parse(func(b []byte) (int, error) {
		n, err := jsonscan.Skip(b[:min(len(b), maxMember)], 0)
		if err == jsonscan.ErrShort && len(b) > maxMember {
			err = errLongMember
		}
		return n, err
	})
	switch err {
	case nil:
		r.meta.put(key, r.s.Window()[:n])
		r.s.Advance(n)
		return true
	case errLongMember:
		r.issues.Add(diag.Issue{Code: "metadata-too-long", Severity: diag.Info, First: r.pos(key),
			Help: fmt.Sprintf("Top-level members of more than %d MiB were skipped. Device names or ranks may be missing.",
				maxMember>>20)})
		return r.discard(key)
	}
	r.brokenMember(key, err)
	return false
}

// comment skips a comment. Comments are not JSON, but some programs write them.
func (r *Reader) comment() bool {
	n, err := r.s.Parse(func(b []byte) (int, error) {
		var end int
		switch {
		case len(b) < 2:
			return 0, jsonscan.ErrShort
		case b[1] == '*':
			end = bytes.Index(b, []byte("*/")) + 2
		case b[1] == '/':
			end = bytes.IndexByte(b, '\n') + 1
		default:
			return 0, errNoComment
		}
		if end < 2 {
			return 0, jsonscan.ErrShort
		}
		return end, nil
	})
	r.s.Advance(n)
	return err == nil
}

var errNoComment = errors.New("no comment")

// maxKey is the number of bytes of a key that are compared.
const maxKey = 128

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
	key := string(jsonscan.Unquote(nil, r.s.Window()[1:min(n-1, maxKey)]))
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

// brokenMember ends the reading. The malformed part is outside the events, so
// there is no next event to continue with. The records before it remain valid.
func (r *Reader) brokenMember(key string, err error) {
	if r.arrays == 0 && !errors.Is(err, jsonscan.ErrShort) {
		r.fail(r.pos(key), "malformed JSON before any event", err)
		return
	}
	if errors.Is(err, jsonscan.ErrShort) {
		r.leave(false)
		return
	}
	if next := eventStart(r.ahead(64<<10), 0); next >= 0 {
		r.issues.Add(diag.Issue{Code: "events-closed-early", Severity: diag.Suspect, First: r.pos(""),
			Help: "Events follow the end of the event array. They were read, but events between the two parts may be missing."})
		r.s.Advance(next)
		r.state = inEvents
		return
	}
	r.issues.Add(diag.Issue{Code: "metadata-malformed", Severity: diag.Info, First: r.pos(key),
		Help: "the part of the file after its events is not JSON (" + err.Error() + "); device names or ranks may be missing"})
	r.state = atEnd
}

// leave ends the reading: after the end of the trace if it is closed, otherwise
// at the end of the input.
func (r *Reader) leave(closed bool) {
	switch {
	case r.arrays == 0 && closed:
		r.fail(r.pos(""), `not a trace: the JSON object has no "traceEvents" array; use torch.profiler's export_chrome_trace`, nil)
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
		r.trailing()
	} else if err := r.s.Err(); err != nil {
		r.broken(err)
	}
}

// codeTruncated is the issue code of an input that ends inside the trace.
const codeTruncated = "input-truncated"

// codeTrailing is the issue code of data after the end of the trace.
const codeTrailing = "trailing-data"

// trailing adds an issue for data after the end of the trace: further JSON is
// data loss, a log line or padding is not.
func (r *Reader) trailing() {
	if bytes.ContainsAny(r.ahead(textBefore), "{[") {
		r.issues.Add(diag.Issue{Code: codeTrailing, Severity: diag.DataLoss, First: r.pos(""),
			Help: "The data after the end of the trace was not read. If traces of several ranks were joined, pass them as separate files."})
		return
	}
	r.issues.Add(diag.Issue{Code: codeTrailing, Severity: diag.Info, First: r.pos(""),
		Help: "Text or padding follows the end of the trace. The trace itself is complete."})
}

// broken adds an issue for an input that fails after the end of the trace.
func (r *Reader) broken(err error) {
	var end interface{ Harmless() bool }
	if errors.As(err, &end) && end.Harmless() {
		r.issues.Add(diag.Issue{Code: codeTrailing, Severity: diag.Info, First: r.pos(""),
			Help: "the data after the end of the trace cannot be read (" + err.Error() + "); the trace itself is complete"})
		return
	}
	r.issues.Add(diag.Issue{Code: "input-damaged", Severity: diag.Suspect, First: r.pos(""),
		Help: "the stored file is damaged (" + err.Error() + "), so any of its numbers may be wrong; copy it again"})
}

func (r *Reader) truncated() {
	var limit *LimitError
	switch err := r.s.Err(); {
	case errors.As(err, &limit) && r.n == 0:
		r.fail(r.pos(""), "no event within the limit", limit)
		return
	case errors.As(err, &limit):
		r.issues.Add(diag.Issue{Code: limit.code, Severity: diag.DataLoss, First: r.pos(""),
			Help: limit.msg + "; the events after this position are missing"})
		return
	}
	help := "The input ends inside the trace: the profiler was probably killed, or the disk was full. The events after this position are missing."
	if err := r.s.Err(); err != nil {
		help = "The input is cut here (" + err.Error() + "). The data after this position is missing."
	}
	r.issues.Add(diag.Issue{Code: codeTruncated, Severity: diag.DataLoss, First: r.pos(""), Help: help})
}

func (r *Reader) fail(pos diag.Pos, msg string, cause error) {
	r.err = &diag.Error{Pos: pos, Msg: msg, Err: cause}
	r.state = atEnd
}

// pos returns the position of the window's start. Inside the events the path
// names the next event.
func (r *Reader) pos(field string) diag.Pos {
	p := diag.Pos{File: r.file, Offset: r.s.Offset(), Path: field}
	if r.state == inEvents {
		p.Path = strings.TrimSuffix(fmt.Sprintf("traceEvents[%d].%s", r.n, field), ".")
	}
	return p
}
