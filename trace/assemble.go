package trace

import (
	"fmt"
	"strconv"

	"assay/internal/diag"
)

// An Assembler makes a trace from rows that another format keeps in its own
// tables. It gives the same guarantees as the reader of Chrome traces: rows
// keep their order, texts are interned, and a limit ends the input with an
// issue.
//
// The zero Assembler is not usable; [NewAssembler] makes one.
type Assembler struct {
	m      *merger
	b      *Builder
	file   string
	sel    Select
	rows   int64
	next   int64 // number of rows at which the added rows are merged
	full   bool
	ledger diag.Ledger

	tracks map[rowKey]TrackID // of this epoch
	epoch  int
	last   struct {
		epoch int
		key   rowKey
		id    TrackID
	}
}

// A rowKey is a trackKey made of numbers.
type rowKey struct {
	onDevice bool
	pid      int64
	device   int64 // the thread if onDevice is false
	stream   int64
}

// assembleRows is the number of rows that are added between two checks of the
// limits.
const assembleRows = 1 << 16

// NewAssembler returns an empty Assembler that keeps what sel selects. The file
// name is used in messages only.
func NewAssembler(file string, sel Select) *Assembler {
	sel.Limits = sel.Limits.orDefault()
	return &Assembler{
		m: newMerger(sel.Limits), b: NewBuilder(sel), file: file, sel: sel, next: assembleRows,
		tracks: make(map[rowKey]TrackID), epoch: 1,
	}
}

// Wants reports whether rows of kind k are kept. A reader need not decode the
// others.
func (a *Assembler) Wants(k Kind) bool { return a.sel.Kinds.Has(k) && !a.full }

// Full reports whether a limit has ended the input: further rows are dropped.
func (a *Assembler) Full() bool { return a.full }

// Issue adds n occurrences of an issue of the input.
func (a *Assembler) Issue(is diag.Issue, n int64) { a.ledger.AddN(is, n) }

// Epoch returns a number that is never 0. Numbers of texts, tracks, details and
// shapes stay valid until Epoch returns another number.
func (a *Assembler) Epoch() int { return a.epoch }

// Sym interns a text, which it does not retain.
func (a *Assembler) Sym(text []byte) Sym { return a.b.names.sym(text) }

// Thread returns the track of a thread of the host.
func (a *Assembler) Thread(pid, tid int64) TrackID {
	return a.track(rowKey{pid: pid, device: tid})
}

// Stream returns the track of the work of a process on a stream of a device.
func (a *Assembler) Stream(pid, device, stream int64) TrackID {
	return a.track(rowKey{true, pid, device, stream})
}

// track returns the track of a key. It caches the last one, because most rows
// have the key of the row before.
func (a *Assembler) track(k rowKey) TrackID {
	if a.last.key == k && a.last.epoch == a.epoch {
		return a.last.id
	}
	id, ok := a.tracks[k]
	if !ok {
		key := trackKey{pid: a.number(k.pid), tid: a.number(k.device)}
		if k.onDevice {
			key = trackKey{pid: key.pid, tid: a.number(k.stream), onDevice: true, device: k.device, stream: k.stream}
		}
		id = a.b.track(key)
		a.tracks[k] = id
	}
	a.last.epoch, a.last.key, a.last.id = a.epoch, k, id
	return id
}

func (a *Assembler) number(n int64) Sym {
	var digits [20]byte
	return a.Sym(strconv.AppendInt(digits[:0], n, 10))
}

// Detail returns the number of the launch details d of device work with the
// given name.
func (a *Assembler) Detail(d Detail, name Sym) DetailID { return a.b.details.number(d, name) }

// Shape returns the number of the arguments s of an operator with the given
// name.
func (a *Assembler) Shape(s Shape, name Sym) ShapeID { return a.b.shapes.number(s, name) }

// Activity adds a GPU operation: a kernel, copy or memset.
func (a *Assembler) Activity(row Activity) {
	if a.Wants(row.Kind) {
		*a.b.activities.next() = row
		a.added()
	}
}

// Op adds an operator.
func (a *Assembler) Op(row Op) {
	if a.Wants(CPUOp) {
		*a.b.ops.next() = row
		a.added()
	}
}

// Collective adds what the profiler recorded of a collective.
func (a *Assembler) Collective(row CollectiveCall) {
	if !a.full {
		*a.b.collectives.next() = row
		a.added()
	}
}

// Call adds a call of the device's runtime or driver.
func (a *Assembler) Call(row Call) {
	if a.Wants(row.Kind) {
		*a.b.calls.next() = row
		a.added()
	}
}

// Span adds any other span that nests with the spans of its track.
func (a *Assembler) Span(row HostSpan) {
	if a.Wants(row.Kind) {
		*a.b.spans.next() = row
		a.added()
	}
}

// Sync adds what the profiler recorded of a synchronization beyond its span.
func (a *Assembler) Sync(row SyncRecord) {
	if a.Wants(Sync) {
		*a.b.syncs.next() = row
		a.added()
	}
}

// Memory adds a change of the memory in use.
func (a *Assembler) Memory(row MemoryEvent) {
	if a.Wants(Instant) {
		*a.b.memory.next() = row
		a.added()
	}
}

// Async adds a span that may overlap others of its track.
func (a *Assembler) Async(row HostSpan) {
	if a.Wants(row.Kind) {
		*a.b.async.next() = row
		a.added()
	}
}

// NameProcess sets the name of a process.
func (a *Assembler) NameProcess(pid int64, name string) {
	a.b.labels = append(a.b.labels, label{"process_name", strconv.FormatInt(pid, 10), "", name})
}

// NameThread sets the name of a thread.
func (a *Assembler) NameThread(pid, tid int64, name string) {
	a.b.labels = append(a.b.labels, label{"thread_name", strconv.FormatInt(pid, 10), strconv.FormatInt(tid, 10), name})
}

// added counts a row, and merges the added rows once there are enough of them.
func (a *Assembler) added() {
	if a.rows++; a.rows >= a.next {
		a.finalize()
	}
}

func (a *Assembler) finalize() {
	a.next = a.rows + assembleRows
	a.m.add(a.b.cut())
	if a.b.numberingBytes() > a.m.share() {
		a.m.retire(&a.b)
		clear(a.tracks)
		a.epoch++
	}
	have, limit := a.m.charge(), a.m.limits.Memory
	if a.m.limits.Grown != nil {
		a.m.limits.Grown(have)
	}
	if have > limit && !a.full {
		a.full = true
		a.Issue(diag.Issue{Code: codeMemory, Severity: diag.DataLoss, First: diag.Pos{File: a.file},
			Help: fmt.Sprintf("The data read needs more than %d MiB, so reading stopped after %d rows and the rest is missing. To read more, raise --max-memory SIZE.",
				limit>>20, a.rows)}, 1)
	}
}

// Trace returns the trace. The argument events is the number of rows of the
// input, usable or not; complete is false if the input broke off. The Assembler
// must not be used afterwards.
func (a *Assembler) Trace(meta Meta, events int64, complete bool) *Trace {
	a.finalize()
	a.m.issues.Merge(&a.ledger)
	t := a.m.t
	t.File, t.Meta, t.Events, t.Complete = a.file, meta, events, complete && !a.full
	a.m.close()
	return t
}
