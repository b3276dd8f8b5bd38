package trace

import (
	"cmp"
	"fmt"
	"unsafe"

	"assay/diag"
)

// Limits bound what reading one input may take, whatever the input is. Where
// one is reached the reader does not fail: it keeps less of that thing, or ends
// the input there, and says so with an [diag.Issue] of its own code. A field
// that is 0 has the value of [DefaultLimits]. Fields may be added.
type Limits struct {
	// Memory is how many bytes a trace may take, with what measuring it takes
	// on top. Where more is needed the input ends: "memory-limit".
	Memory int64

	// Names is how many distinct texts are kept. Beyond them, and beyond a
	// quarter of Memory, further names of host events become one, [OtherNames]:
	// their times stay in every sum. "names-pooled". Names of device work are
	// always kept, for they decide about its class.
	Names int

	// Text is how many bytes of one text are kept: "text-cut".
	Text int

	// Event is how many bytes of JSON one event may have; longer ones are
	// skipped: "event-too-long".
	Event int

	// Input is how many bytes are read of an input, uncompressed, before it
	// ends: "input-limit". 0 is no limit, for real traces have tens of GB.
	Input int64

	// Grown, if not nil, is called now and then with how many bytes the trace
	// takes by now. It may wait until other readers have given memory back.
	Grown func(bytes int64)
}

// The defaults, and why.
const (
	// defaultMemory holds some 20 GB of JSON from GPU programs, and 8 GB from
	// others, whose host events are measured too.
	defaultMemory = 4 << 30

	// bytesOfName is how much of Memory there must be for each name that is
	// kept: the default keeps a million. Traces of PyTorch have some
	// ten thousand names, those of Chromium and Bazel some hundred thousand.
	bytesOfName = 4 << 10

	// defaultText is some times the longest kernel names and lists of ranks.
	defaultText = 64 << 10

	// eventOfMemory is the share of Memory that one event may have, within
	// MinEvent and MaxEvent: reading takes several times its length.
	eventOfMemory = 64
	minEvent      = 1 << 20
)

// MaxEvent is how long one event's JSON may be by default: real ones have been
// seen of 20 MB, with a stack or a tensor's contents in their args.
const MaxEvent = 64 << 20

// OtherNames is the name of host events whose own was one too many.
const OtherNames = "(other names)"

// DefaultLimits returns the limits of the zero Limits.
func DefaultLimits() Limits { return LimitsOf(defaultMemory) }

// LimitsOf returns the limits of a reader that may take so many bytes.
func LimitsOf(memory int64) Limits {
	return Limits{
		Memory: memory,
		Names:  int(memory / bytesOfName),
		Text:   defaultText,
		Event:  int(min(max(memory/eventOfMemory, minEvent), MaxEvent)),
	}
}

func (l Limits) orDefault() Limits {
	d := LimitsOf(cmp.Or(l.Memory, defaultMemory))
	l.Memory, l.Names, l.Text, l.Event = d.Memory, cmp.Or(l.Names, d.Names), cmp.Or(l.Text, d.Text), cmp.Or(l.Event, d.Event)
	return l
}

// Codes of the issues of limits.
const (
	codeMemory    = "memory-limit"
	codeInput     = "input-limit"
	codeInflation = "inflation-limit"
	codePooled    = "names-pooled"
	codeTextCut   = "text-cut"
)

// A LimitError ends an input of which enough was read.
type LimitError struct{ code, msg string }

func (e *LimitError) Error() string { return e.msg }

// Code returns the code of the issue that the limit is, for readers of any format.
func (e *LimitError) Code() string { return e.code }

// Harmless reports that all data before the error is good.
func (e *LimitError) Harmless() bool { return true }

// InputLimit returns the error that ends an input of over max bytes.
func InputLimit(max int64) error {
	return &LimitError{codeInput, fmt.Sprintf("the input is longer than the %d bytes, uncompressed, that --max-input allows", max)}
}

// InflationLimit returns the error that ends an input whose packing is that of
// a bomb: size bytes of a trace would be packed in far more than stored.
func InflationLimit(stored, size int64) error {
	return &LimitError{codeInflation, fmt.Sprintf("%d stored bytes have become %d MiB, which no trace does, so this may be a bomb; to read it even so, say how far: --max-input SIZE", stored, size>>20)}
}

// Limited reports whether the reading of the trace was ended by a limit.
func (t *Trace) Limited() bool {
	for _, is := range t.Issues {
		if endsInput(is.Code) {
			return true
		}
	}
	return false
}

func endsInput(code string) bool {
	return code == codeMemory || code == codeInput || code == codeInflation
}

// What measuring takes for each row or text beside the row itself, rounded up:
// the row's places in orders, sets and tables while they grow.
const (
	perActivity = 88
	perCall     = 64  // of those with a size: its place in a map
	perMark     = 240 // its place in a map, and the span that it becomes
	perHost     = 64  // of a host event where no device work hides it
	perText     = 192
	perTrack    = 640
	perDetail   = 600
	perShape    = 128
	perLabel    = 384
)

func rowsCharge[T any](segments [][]T, extra int64) int64 {
	n := 0
	for _, seg := range segments {
		n += len(seg)
	}
	return int64(n) * (int64(unsafe.Sizeof(*new(T))) + extra)
}

// charge returns what the rows of p take in memory.
func (p *part) charge() int64 {
	n := rowsCharge(p.activities, perActivity) + rowsCharge(p.ops, 0) + rowsCharge(p.calls, 0) +
		rowsCharge(p.sizes, perCall) + rowsCharge(p.python, 0) + rowsCharge(p.spans, 0) +
		rowsCharge(p.async, perMark) + rowsCharge(p.marks, perMark) + rowsCharge(p.flows, 0) + rowsCharge(p.memory, 0)
	for _, l := range p.labels {
		n += perLabel + int64(len(l.pid)+len(l.tid)+len(l.name))
	}
	return n
}

// held returns what the builder keeps in memory to number what it meets.
func (b *Builder) held() int64 {
	return b.names.bytes + perText*int64(len(b.names.texts)) + perTrack*int64(len(b.trackRef)) +
		perDetail*int64(len(b.details.refs)) + perShape*int64(len(b.shapes.refs))
}

// charge returns what the trace takes in memory so far.
func (m *merger) charge() int64 {
	n := m.rows + m.names.bytes + perText*int64(len(m.names.texts)) + perTrack*int64(len(m.t.Tracks)) +
		perDetail*int64(len(m.t.details)) + perShape*int64(len(m.t.shapes))
	if t := m.t; t.Activities.Len() == 0 {
		n += perHost * int64(t.Ops.Len()+t.Calls.Len()+t.Python.Len()+t.Spans.Len())
	}
	return n
}

// enforce ends the reading if what was read takes more memory than it may. All
// that was merged lies before the offset.
func (m *merger) enforce(rd *Reader, offset int64) {
	have, limit := m.charge(), m.limits.Memory
	if m.limits.Grown != nil {
		m.limits.Grown(have)
	}
	if rd.state == atEnd || have <= limit {
		return
	}
	at := diag.Pos{File: rd.file, Offset: offset, Path: fmt.Sprintf("traceEvents[%d]", rd.n)}
	rd.issues.Add(diag.Issue{Code: codeMemory, Severity: diag.DataLoss, First: at,
		Help: fmt.Sprintf("what was read would take over %d MiB, so the reading ended here and the events after this place are missing; to read more, give more with --max-memory SIZE, or record fewer steps", limit>>20)})
	rd.state = atEnd
}

// hostName is name for host events, whose names are pooled beyond the limit.
func (in input) hostName(s Sym) Sym {
	if n := in.re.names[s]; n != 0 {
		return Sym(n - 1)
	}
	return in.newHostName(s)
}

func (in input) newHostName(s Sym) Sym {
	names := in.m.names
	if len(names.texts) < in.m.limits.Names && names.bytes < in.m.limits.Memory/4 {
		return in.name(s)
	}
	// The number is not remembered for s: device work may have that name too.
	if have, ok := names.find(in.m.cut(in.b.names.texts[s])); ok {
		return have
	}
	in.m.issues.Add(diag.Issue{Code: codePooled, Severity: diag.DataLoss,
		Help: fmt.Sprintf("the input has more than %d distinct names, or very long ones; the host events counted here go by %q: every sum stands, but rows by name and steps are incomplete; to keep more names, give more with --max-memory SIZE", in.m.limits.Names, OtherNames)})
	return names.sym([]byte(OtherNames))
}

// cut shortens a text that is too long to keep.
func (m *merger) cut(text string) string {
	if most := m.limits.Text; len(text) > most {
		return fmt.Sprintf("%s... (%d bytes)", text[:most], len(text))
	}
	return text
}

// intern numbers a text, which may be shortened.
func (m *merger) intern(text string) Sym {
	short, before := m.cut(text), len(m.names.texts)
	s := m.names.sym([]byte(short))
	if len(short) != len(text) && len(m.names.texts) > before {
		m.issues.Add(diag.Issue{Code: codeTextCut, Severity: diag.Info,
			Help: fmt.Sprintf("names and other texts of over %d KiB were cut there; every sum stands", m.limits.Text>>10)})
	}
	return s
}
