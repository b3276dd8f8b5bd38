package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"assay/internal/diag"
	"assay/internal/pickle"
	"assay/torchprof/memory"
	"assay/trace"
)

func isSnapshot(_ string, head []byte) bool {
	return memory.SniffSnapshot(head) && !isYappiPickle(head)
}

// isNamedSnapshot reports whether a pickle in a directory begins like a memory
// snapshot or is named like one. Checkpoints and data sets are pickles, too.
func isNamedSnapshot(path string, head []byte) bool {
	const begin = 400 // bytes that contain the first keys
	head = head[:min(begin, len(head))]
	if bytes.Contains(head, []byte("segments")) || bytes.Contains(head, []byte("total_size")) {
		return true
	}
	name := strings.ToLower(filepath.Base(path))
	return strings.Contains(name, "memory") && strings.Contains(name, "snapshot")
}

func loadSnapshot(f *File, sel trace.Select, in *Input) (err error) {
	in.Memory, err = memory.ReadSnapshot(f, f.Path, memory.SnapshotLimits{Memory: sel.Limits.Memory, Grown: sel.Limits.Grown})
	if in.Memory != nil {
		return nil // the reader added an issue for the error
	}
	return refusePickle(f.Path, err)
}

// refusePickle returns the refusal of a pickle that is not a snapshot.
func refusePickle(path string, err error) error {
	const do = "assay reads only one kind of pickle, memory snapshots of PyTorch, which are plain data; give such a snapshot, a trace or a profile"
	shape, asks := (*memory.ShapeError)(nil), (*pickle.Refused)(nil)
	switch at := (*diag.Error)(nil); {
	case errors.As(err, &shape):
		return &Refusal{path, "is a Python pickle that contains " + shape.What + ", not a memory snapshot", do}
	case errors.As(err, &asks) && errors.As(err, &at):
		return &Refusal{path, fmt.Sprintf("is a Python pickle, and at byte %d %v", at.Pos.Offset, asks), do}
	}
	return err
}

// endedByLimit reports whether an issue says that a limit ended the reading.
func endedByLimit(list []diag.Issue) bool {
	return slices.ContainsFunc(list, func(is diag.Issue) bool { return is.Code == "memory-limit" || is.Code == "input-limit" })
}

func isTimeline(_ string, head []byte) bool { return memory.SniffTimeline(head) }

func loadTimeline(f *File, sel trace.Select, in *Input) (err error) {
	in.Timeline, err = memory.ReadTimeline(f, f.Path, memory.TimelineLimits{Memory: sel.Limits.Memory})
	if in.Timeline != nil {
		return nil
	}
	return err
}

// refuseMemoryPage refuses the two kinds of web pages that PyTorch writes about
// memory: a picture of the timeline, and a viewer that embeds a snapshot.
func refuseMemoryPage(path string, head []byte) *Refusal {
	switch {
	case bytes.Contains(head, []byte("MemoryViz.js")):
		return &Refusal{path, "is a page of PyTorch's memory viewer", "give the pickle that it was made from"}
	case bytes.Contains(head, []byte("<img src='data:image/png;base64,")):
		return &Refusal{path, "is a picture of a memory timeline, which has no numbers",
			`write one that can: prof.export_memory_timeline("memory.raw.json.gz"), or record with torch.cuda.memory._record_memory_history() and _dump_snapshot()`}
	}
	return nil
}
