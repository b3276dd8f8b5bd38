// This file reads the memory snapshots of PyTorch's CUDA allocator, which
// torch.cuda.memory._dump_snapshot writes as a pickle of plain data.
//
// It reads all forms since PyTorch 1.12: a bare list of segments, a dict with and
// without a history, expandable segments, and the pickles of protocol 2 that
// PyTorch's C++ code writes. Package pickle decodes them; unlike Python, it never
// calls a function that the input names.

package memory

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"assay/internal/diag"
	"assay/internal/pickle"
)

// SnapshotLimits bound the resources for reading one input, whatever it contains. A field
// that is 0 has the default value. Fields may be added.
type SnapshotLimits struct {
	// Memory is the maximum number of bytes for the values of the pickle and the
	// snapshot together. If more is needed, the reading ends: "memory-limit".
	Memory int64

	// Grown, if not nil, is called from time to time with the number of bytes in use.
	Grown func(bytes int64)
}

const defaultMemory = 4 << 30

// SniffSnapshot reports whether a file may be a pickle, by its first bytes. Whether the
// pickle is a snapshot is known only after reading it.
func SniffSnapshot(head []byte) bool { return pickle.Sniff(head) }

// A ShapeError is the error for a pickle of plain data that is not a memory snapshot.
type ShapeError struct {
	Name string // of the input
	What string // "a dict with entries and version"
}

func (e *ShapeError) Error() string {
	return fmt.Sprintf("%s: the pickle contains %s, not a memory snapshot; give the file that torch.cuda.memory._dump_snapshot wrote",
		e.Name, e.What)
}

// ReadSnapshot reads a snapshot. Name is the name of the input for messages. If the input
// cannot be read to its end, ReadSnapshot returns the snapshot read so far, with an issue,
// together with the error of the reader.
func ReadSnapshot(in io.Reader, name string, limits SnapshotLimits) (*Snapshot, error) {
	limit := cmp.Or(limits.Memory, defaultMemory)
	doc, err := pickle.Read(in, name, pickle.Limits{Memory: limit / 4 * 3, Grown: limits.Grown})
	if doc == nil {
		return nil, err
	}
	over := (*pickle.LimitError)(nil)
	damage := (*pickle.DamageError)(nil)
	limited, damaged := errors.As(err, &over), errors.As(err, &damage)
	r := newReader(doc, name, limit/4)
	if shape := r.document(); shape != nil {
		switch {
		case limited:
			return nil, fmt.Errorf("%s: nothing of the snapshot could be read: %w", name, over)
		case damaged:
			return nil, &diag.Error{Pos: diag.Pos{File: name, Offset: damage.At}, Msg: "not a pickle that can be read", Err: damage.Err}
		}
		return nil, shape
	}
	r.out.Complete = doc.Complete && !r.full
	if doc.Tail != pickle.NoTail {
		r.tail(err)
		err = nil
	}
	switch {
	case damaged:
		r.issues.Add(diag.Issue{Code: "input-damaged", Severity: diag.Suspect, First: diag.Pos{File: name, Offset: damage.At},
			Help: fmt.Sprintf("The pickle is damaged here (%v). The data before this position was read, and the rest is missing. Copy the file again, or dump it again.", damage.Err)})
		err = nil
	case limited || r.full:
		r.issue("memory-limit", diag.DataLoss,
			fmt.Sprintf("The data read needs more than %d MiB, so reading stopped here. Raise --max-memory.", limit>>20))
		err = nil
	case isLimit(err):
		r.issue("input-limit", diag.DataLoss, err.Error())
	case err != nil:
		r.issue("input-truncated", diag.DataLoss, fmt.Sprintf("The input could not be read to its end (%v), so the newest part of the history is missing. Copy the file again, or dump it again.", err))
	case !doc.Complete:
		r.issue("input-truncated", diag.DataLoss, "The file ends before the snapshot does, so the newest part of the history is missing. Copy it again, or dump it again.")
	}
	r.out.Issues = r.issues.Issues()
	return r.out, err
}

// tail adds an issue for data after the pickle. Err is the error of the input there.
func (r *reader) tail(err error) {
	is := diag.Issue{Code: "trailing-data", Severity: diag.Info, First: diag.Pos{File: r.name, Offset: r.doc.End}}
	switch {
	case r.doc.Tail == pickle.PickleTail:
		is.Severity = diag.DataLoss
		is.Help = fmt.Sprintf("Another pickle follows the snapshot and was not read. Give it as a separate file: tail -c +%d FILE > second.pickle", r.doc.End+1)
	case r.doc.Tail == pickle.OtherTail, isLimit(err):
		is.Help = "The data after the snapshot was not read. The snapshot is complete."
	default:
		is.Code, is.Severity = "input-damaged", diag.Suspect
		is.Help = fmt.Sprintf("the stored file is damaged behind the snapshot (%v), so any of its numbers may be wrong; copy it again", err)
	}
	r.issues.Add(is)
}

// isLimit reports whether a limit of the reader below ended the input. All data before it
// is usable.
func isLimit(err error) bool {
	var limit interface{ Harmless() bool }
	return errors.As(err, &limit) && limit.Harmless()
}

// Bytes of memory for one element of the model, while its slice grows.
const (
	perSegment = 2 * 96
	perBlock   = 2 * 40
	perEntry   = 2 * 48
	perFrame   = 2 * 8
	perStack   = 64
)

// A reader turns the values of a pickle into a snapshot.
type reader struct {
	doc    *pickle.Doc
	name   string
	out    *Snapshot
	issues diag.Ledger
	keys   keys
	at     place

	devices map[int64]*Device
	labels  map[string]int32
	actions map[pickle.Value]Action
	seen    []int32 // by the number of a container: 1 + its frame, or -1 - its stack
	list    []FrameID

	left int64 // bytes until the memory limit
	full bool
}

// A place is the position of the reader in the snapshot: item i of a list and, if that is a
// list itself, item j of it. An index is -1 if it does not apply.
type place struct {
	list string
	i, j int
}

func (p place) String() string {
	switch {
	case p.i < 0:
		return p.list
	case p.j < 0:
		return fmt.Sprintf("%s[%d]", p.list, p.i)
	case p.list == "segments":
		return fmt.Sprintf("segments[%d].blocks[%d]", p.i, p.j)
	}
	return fmt.Sprintf("%s[%d][%d]", p.list, p.i, p.j)
}

func newReader(doc *pickle.Doc, name string, limit int64) *reader {
	r := &reader{
		doc: doc, name: name, left: limit, keys: keysOf(doc), out: &Snapshot{Labels: []string{""}},
		devices: make(map[int64]*Device), labels: map[string]int32{"": 0},
		actions: make(map[pickle.Value]Action),
		at:      place{"", -1, -1},
	}
	r.seen = make([]int32, doc.Objects())
	return r
}

// take reserves memory before it is used, and reports whether the limit permits it.
func (r *reader) take(bytes int64) bool {
	if r.left -= bytes; r.left < 0 {
		r.full = true
	}
	return !r.full
}

func (r *reader) pos() diag.Pos { return diag.Pos{File: r.name, Path: r.at.String()} }

func (r *reader) issue(code string, severity diag.Severity, help string) {
	r.issues.Add(diag.Issue{Code: code, Severity: severity, First: r.pos(), Help: help})
}

// unusable counts a record that is left out.
func (r *reader) unusable() {
	r.issue("memory-record-unusable", diag.DataLoss, "")
}

// document reads the snapshot by the shape of its root. It returns an error if the
// pickle has another shape.
func (r *reader) document() error {
	root := r.doc.Root
	switch r.doc.Kind(root) {
	case pickle.List:
		if !r.isSegments(root) {
			break
		}
		r.issue("memory-history-missing", diag.Info, "")
		r.segments(root)
		return r.done()
	case pickle.Dict:
		segments, ok := r.doc.Lookup(root, "segments")
		traces, has := r.doc.Lookup(root, "device_traces")
		if !ok && !has {
			break
		}
		r.settings(root)
		r.segments(segments)
		r.traces(traces)
		r.annotations(root)
		return r.done()
	}
	return &ShapeError{r.name, describe(r.doc)}
}

// isSegments reports whether a list is a bare list of segments, the oldest form of a
// snapshot: its first item has the size of a segment.
func (r *reader) isSegments(list pickle.Value) bool {
	items := r.doc.Items(list)
	if len(items) == 0 {
		return false
	}
	_, ok := r.doc.Lookup(items[0], "total_size")
	return ok
}

// describe describes the content of a pickle that is not a snapshot.
func describe(d *pickle.Doc) string {
	if d.Root == 0 && !d.Complete {
		return "nothing"
	}
	s := d.Kind(d.Root).String()
	items := d.Items(d.Root)
	switch d.Kind(d.Root) {
	case pickle.Dict:
		_, entries := d.Lookup(d.Root, "entries")
		_, version := d.Lookup(d.Root, "version")
		if entries && version {
			return "a flight recorder's dump of NCCL"
		}
		return fmt.Sprintf("%s of %d keys", s, len(items)/2)
	case pickle.List, pickle.Tuple, pickle.Set:
		return fmt.Sprintf("%s of %d items", s, len(items))
	}
	return s
}
