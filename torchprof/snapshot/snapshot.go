// Package snapshot reads the memory snapshots of PyTorch's CUDA allocator, as
// torch.cuda.memory._dump_snapshot writes them: a pickle of plain data.
//
// It reads all forms since PyTorch 1.12: a list of segments, a dict with and
// without a history, expandable segments, and the pickles in protocol 2 that
// C++ writes. Package internal/pickle reads the pickle and executes nothing
// that an input names. [Read] returns a [memory.Snapshot]; package analyze
// measures it.
package snapshot

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"assay/diag"
	"assay/internal/pickle"
	"assay/memory"
)

// Limits bound the resources for reading one input, whatever it contains. A
// field that is 0 has the default value. Fields may be added.
type Limits struct {
	// Memory is the number of bytes for the pickle's values and the snapshot
	// together. If more are needed, the reading ends: "memory-limit".
	Memory int64

	// Grown, if not nil, is called from time to time with the number of bytes
	// in use.
	Grown func(bytes int64)
}

const defaultMemory = 4 << 30

// Sniff reports whether a file may be a pickle, by its first bytes. The content
// is known only after reading.
func Sniff(head []byte) bool { return pickle.Sniff(head) }

// A ShapeError reports that a pickle contains plain data but not a memory
// snapshot.
type ShapeError struct {
	Name string // of the input
	What string // "a dict with entries and version"
}

func (e *ShapeError) Error() string {
	return fmt.Sprintf("%s: the pickle contains %s instead of a memory snapshot; use the output of torch.cuda.memory._dump_snapshot", e.Name, e.What)
}

// Read reads a snapshot. Name is the name of the input for messages. If the
// input cannot be read to its end, Read returns the snapshot read so far, with
// an issue, together with the error of the reader.
func Read(in io.Reader, name string, limits Limits) (*memory.Snapshot, error) {
	limit := cmp.Or(limits.Memory, defaultMemory)
	doc, err := pickle.Read(in, name, pickle.Limits{Memory: limit / 4 * 3, Grown: limits.Grown})
	if doc == nil {
		return nil, err
	}
	over := (*pickle.LimitError)(nil)
	limited := errors.As(err, &over)
	r := newReader(doc, name, limit/4)
	if err := r.document(); err != nil {
		if limited {
			return nil, fmt.Errorf("%s: nothing of the snapshot could be read: %w", name, over)
		}
		return nil, err
	}
	r.out.Complete = doc.Complete && !r.full
	switch {
	case limited || r.full:
		r.issue("memory-limit", diag.DataLoss, fmt.Sprintf("the data read needs more than %d MiB, so reading stopped here; to read more, raise --max-memory SIZE", limit>>20))
		err = nil
	case isLimit(err):
		r.issue("input-limit", diag.DataLoss, err.Error())
	case err != nil:
		r.issue("input-truncated", diag.DataLoss, fmt.Sprintf("the input could not be read to its end (%v), and the newest part of the history is missing: copy the file again, or dump it again", err))
	case !doc.Complete:
		r.issue("input-truncated", diag.DataLoss, "the file ends before the snapshot does, and the newest part of the history is missing: copy it again, or dump it again")
	}
	r.out.Issues = r.issues.Issues()
	return r.out, err
}

// isLimit reports whether an input was ended by a limit that its reader was
// given. All data before the limit is valid.
func isLimit(err error) bool {
	var limit interface{ Harmless() bool }
	return errors.As(err, &limit) && limit.Harmless()
}

// Bytes of memory per row of the model, while its table grows.
const (
	perSegment = 2 * 96
	perBlock   = 2 * 40
	perEntry   = 2 * 48
	perFrame   = 2 * 8
	perStack   = 64
)

// A reader converts the values of a pickle to a snapshot.
type reader struct {
	doc    *pickle.Doc
	name   string
	out    *memory.Snapshot
	issues diag.Ledger
	keys   keys
	at     place

	devices map[int64]*memory.Device
	labels  map[string]int32
	actions map[pickle.Value]memory.Action
	stacks  map[int]memory.StackID // by the number of their list
	frames  []int32                // 1 + frame, by the number of its dict
	list    []memory.FrameID

	left int64 // bytes
	full bool
}

// A place is the position of the reader in the snapshot: item i of a list and,
// if that item is a list, item j of it.
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
		doc: doc, name: name, left: limit, keys: keysOf(doc), out: &memory.Snapshot{Labels: []string{""}},
		devices: make(map[int64]*memory.Device), labels: map[string]int32{"": 0},
		actions: make(map[pickle.Value]memory.Action), stacks: make(map[int]memory.StackID),
		at: place{"", -1, -1},
	}
	r.frames = make([]int32, doc.Objects())
	return r
}

// take reserves memory from the limit before it is used, and reports whether
// there is enough.
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
	r.issue("memory-record-unusable", diag.DataLoss, "blocks, segments and entries without a size, or of an unknown shape, were left out; sums do not include them")
}

// document distinguishes the forms of a snapshot and reads it.
func (r *reader) document() error {
	root := r.doc.Root
	switch r.doc.Kind(root) {
	case pickle.List:
		if !r.isSegments(root) {
			break
		}
		r.issue("memory-history-missing", diag.Info, missingHelp)
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

const missingHelp = "the snapshot has no allocation history; call torch.cuda.memory._record_memory_history(max_entries=1000000) before the part that matters"

// isSegments reports whether a list is a snapshot of the first form: its first
// item has the size of a segment.
func (r *reader) isSegments(list pickle.Value) bool {
	items := r.doc.Items(list)
	if len(items) == 0 {
		return false
	}
	_, ok := r.doc.Lookup(items[0], "total_size")
	return ok
}

// describe returns a description of a pickle that is not a snapshot.
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
