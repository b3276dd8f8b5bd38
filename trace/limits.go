package trace

import (
	"cmp"
	"fmt"
	"slices"
	"unsafe"

	"assay/internal/diag"
	"assay/internal/redact"
)

// Limits bound the resources for reading one input, whatever it contains. The
// reader does not fail at a limit: it keeps less of the limited data or ends
// the input there, and adds a [diag.Issue] with a code of its own. A field with
// value 0 means the value of [DefaultLimits]. Fields may be added.
type Limits struct {
	// Memory is the number of bytes for a trace and for its analysis. If more
	// is needed, the input ends: "memory-limit".
	Memory int64

	// Names is the number of distinct texts that are kept. Beyond it, and
	// beyond a quarter of Memory, all further names of host events become
	// [OtherNames]; their times stay in every sum. "names-pooled". Names of
	// device work are always kept, because they determine its category.
	Names int

	// Text is the number of bytes kept of one text: "text-cut".
	Text int

	// Event is the maximum length of one event in bytes of JSON. Longer events
	// are skipped: "event-too-long".
	Event int

	// Input is the number of uncompressed bytes that are read of an input:
	// "input-limit". 0 means unlimited, because real traces can have tens of
	// GB.
	Input int64

	// Grown, if not nil, is called from time to time with the number of bytes
	// that the trace uses. It may block until other readers have freed memory.
	Grown func(bytes int64)
}

// The defaults and the reasons for them.
const (
	// defaultMemory is enough for about 20 GB of JSON from GPU programs, or 8
	// GB from other programs, whose host events are measured too.
	defaultMemory = 4 << 30

	// bytesOfName is the part of Memory required for each name that is kept;
	// the default keeps a million names. Traces of PyTorch have about ten
	// thousand names, those of Chromium and Bazel a few hundred thousand.
	bytesOfName = 4 << 10

	// defaultText is several times the length of the longest kernel names and
	// lists of ranks.
	defaultText = 64 << 10

	// eventOfMemory is the divisor of Memory that gives the maximum length of
	// one event, between MinEvent and MaxEvent. Reading an event takes several
	// times its length.
	eventOfMemory = 64
	minEvent      = 1 << 20
)

// MaxEvent is the default maximum length of one event's JSON. Real events of 20
// MB exist, with a stack or the contents of a tensor in their args.
const MaxEvent = 64 << 20

// OtherNames is the name of host events whose own name exceeded the limit.
const OtherNames = "(other names)"

// DefaultLimits returns the limits of the zero Limits.
func DefaultLimits() Limits { return LimitsOf(defaultMemory) }

// LimitsOf returns the limits of a reader that may use the given number of
// bytes.
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
	l.Memory = d.Memory
	l.Names, l.Text, l.Event = cmp.Or(l.Names, d.Names), cmp.Or(l.Text, d.Text), cmp.Or(l.Event, d.Event)
	return l
}

// Codes of the issues for limits.
const (
	codeMemory    = "memory-limit"
	codeInput     = "input-limit"
	codeInflation = "inflation-limit"
	codePooled    = "names-pooled"
	codeTextCut   = "text-cut"
)

// A LimitError ends an input after usable data was read.
type LimitError struct{ code, msg string }

func (e *LimitError) Error() string { return e.msg }

// Code returns the issue code of the limit, for readers of any format.
func (e *LimitError) Code() string { return e.code }

// Harmless reports that all data before the error is usable.
func (e *LimitError) Harmless() bool { return true }

// MaxDuration is the longest plausible duration of one event in ns: 100 hours. A damaged time makes one of centuries, which
// fills every sum that it is in.
const MaxDuration = 100 * 3600 * 1_000_000_000

// InputLimit returns the error that ends an input of more than max bytes.
func InputLimit(max int64) error {
	return &LimitError{codeInput,
		fmt.Sprintf("the input has more than %d bytes uncompressed, the limit set by --max-input", max)}
}

// Limits for decompression bombs. Compression shrinks real traces by a factor of up
// to 30 and synthetic ones by up to 60; gzip can reach 1,000, and zstd and gzip in
// gzip far more. An input that exceeds both the ratio and the size of a trace of a
// few steps is refused as a bomb, because reading all of it would take hours.
const (
	BombRatio = 200
	BombSize  = 4 << 30
)

// InflationLimit returns the error that ends an input with the compression ratio
// of a decompression bomb: size bytes of a real trace would need far more than
// the stored number of bytes.
func InflationLimit(stored, size int64) error {
	return &LimitError{codeInflation, fmt.Sprintf("%d stored bytes expanded to %d MiB, which is not plausible for a trace, so this may be a decompression bomb; to read it anyway, set --max-input SIZE",
		stored, size>>20)}
}

// Limited reports whether a limit ended the reading of the trace.
func (t *Trace) Limited() bool {
	return slices.ContainsFunc(t.Issues, diag.Issue.EndsInput)
}

// Bytes that the analysis needs for each row or text in addition to the row
// itself, rounded up: its entries in orders, sets and tables while they grow.
const (
	perActivity = 88
	perCall     = 64  // of calls with a size: entry in a map
	perMark     = 240 // entry in a map, and the resulting span
	perHost     = 64  // of a host event in a trace without device work
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

// charge returns the bytes of memory for the rows of p.
func (p *part) charge() int64 {
	n := rowsCharge(p.activities, perActivity) + rowsCharge(p.ops, 0) + rowsCharge(p.calls, 0) +
		rowsCharge(p.sizes, perCall) + rowsCharge(p.collectives, perActivity) +
		rowsCharge(p.python, 0) + rowsCharge(p.spans, 0) + rowsCharge(p.syncs, 0) +
		rowsCharge(p.async, perMark) + rowsCharge(p.marks, perMark) + rowsCharge(p.flows, 0) + rowsCharge(p.memory, 0)
	for _, l := range p.labels {
		n += perLabel + int64(len(l.pid)+len(l.tid)+len(l.name))
	}
	return n
}

// numberingBytes returns the bytes of memory that the builder uses to number texts, tracks,
// details and shapes.
func (b *Builder) numberingBytes() int64 {
	return b.names.bytes + perText*int64(len(b.names.texts)) + perTrack*int64(len(b.trackRef)) +
		perDetail*int64(len(b.details.refs)) + perShape*int64(len(b.shapes.refs))
}

// charge returns the bytes of memory that the trace uses so far.
func (m *merger) charge() int64 {
	n := m.rows + m.names.bytes + perText*int64(len(m.names.texts)) + perTrack*int64(len(m.t.Tracks)) +
		perDetail*int64(len(m.t.details)) + perShape*int64(len(m.t.shapes))
	if t := m.t; t.Activities.Len() == 0 {
		n += perHost * int64(t.Ops.Len()+t.Calls.Len()+t.Python.Len()+t.Spans.Len())
	}
	return n
}

// enforce ends the reading if the data read exceeds the memory limit. The offset
// is that of the first byte whose events are not merged.
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
		Help: fmt.Sprintf("The data read needs more than %d MiB, so reading stopped here and later events are missing. To read more, raise --max-memory SIZE, or record fewer steps.", limit>>20)})
	rd.state = atEnd
}

// hostName returns the name of a host event. Names beyond the limit become
// [OtherNames].
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
	// The number is not stored for s, because device work may have that name
	// too.
	if have, ok := names.find(in.m.cut(in.b.names.texts[s])); ok {
		return have
	}
	in.m.issues.Add(diag.Issue{Code: codePooled, Severity: diag.DataLoss,
		Help: fmt.Sprintf("The input has over %d distinct or very long names. The CPU events counted here are named %q: sums are correct, but rows by name and steps are incomplete. To keep more names, raise --max-memory SIZE.", in.m.limits.Names, OtherNames)})
	return names.sym([]byte(OtherNames))
}

// cut shortens a text that exceeds the limit. It never cuts within a secret, because the
// part of a secret that is left would not be recognized and masked.
func (m *merger) cut(text string) string {
	if most := m.limits.Text; len(text) > most {
		return fmt.Sprintf("%s... (%d bytes)", redact.Cut(text, most), len(text))
	}
	return text
}

// intern numbers a text, which may be shortened.
func (m *merger) intern(text string) Sym {
	short, before := m.cut(text), len(m.names.texts)
	s := m.names.sym([]byte(short))
	if len(short) != len(text) && len(m.names.texts) > before {
		m.issues.Add(diag.Issue{Code: codeTextCut, Severity: diag.Info,
			Help: fmt.Sprintf("Names and other texts of more than %d KiB were shortened to that length. All sums are correct.", m.limits.Text>>10)})
	}
	return s
}
