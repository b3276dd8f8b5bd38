// Package memory is the model of what a device's memory was used for: the
// segments that an allocator took from the driver, the blocks that it cut them
// into, and what it did before, one entry for each.
//
// A [Snapshot] comes from PyTorch's allocator, a [Timeline] from its profiler.
// Sizes are bytes and times int64 nanoseconds. Neither is changed once its
// reader has returned it. Package analyze measures both.
package memory

import "assay/diag"

// A Snapshot is the memory of all devices of a process at one moment, and what
// led there.
type Snapshot struct {
	Devices     []Device // by number
	Stacks      Stacks
	Labels      []string // that entries point at; the first is ""
	Annotations []Annotation
	Settings    Settings

	Records  int64 // blocks and entries, usable or not
	Complete bool  // false if the input ended early
	Issues   []diag.Issue
}

// A Device is the memory of one GPU.
type Device struct {
	Number   int64
	Segments []Segment
	Blocks   []Block // of all segments, one after the other
	Entries  []Entry // in the order in which they happened, up to the snapshot

	// Later counts entries of what happened after the segments were looked at.
	// They are not among Entries.
	Later int64
}

// None says of a size or time that it is not known.
const None = -1

// A Segment is a stretch of memory that was taken from the driver.
type Segment struct {
	Address, Size int64
	Stream        int64
	Stack         StackID // of who made the allocator take it
	First, Count  int     // of its blocks
	Small         bool    // of the pool for blocks of up to 1 MiB
	Expandable    bool    // it can grow and give pages back
	Private       bool    // of a pool of its own, as the graphs of CUDA have
}

// A Block is a part of a segment.
type Block struct {
	Address, Size int64
	Requested     int64 // what was asked for; None where that is not known
	State         State
	Stack         StackID // of who allocated it
}

// A State says whether a block is in use.
type State uint8

// The states. A block that waits was freed, and work of another stream may
// still use it.
const (
	Inactive State = iota
	Allocated
	Waiting
)

// An Entry is one thing that the allocator did.
type Entry struct {
	Time    int64 // Unix time, None where it is not known
	Address int64
	Size    int64
	Stream  int32
	Stack   StackID
	Label   int32 // index into Labels: what the program said of itself
	Action  Action
}

// An Action is what an entry tells of.
type Action uint8

// The actions. Of OutOfMemory the Address is how many bytes the driver had
// free, and the Size what could not be had.
const (
	Other Action = iota
	Alloc
	FreeRequested
	FreeCompleted
	SegmentAlloc
	SegmentFree
	SegmentMap
	SegmentUnmap
	OutOfMemory
	Taken // the snapshot
)

var actionNames = [...]string{"other", "alloc", "free_requested", "free_completed", "segment_alloc", "segment_free",
	"segment_map", "segment_unmap", "oom", "snapshot"}

// String returns the name that PyTorch has for the action.
func (a Action) String() string {
	if int(a) < len(actionNames) {
		return actionNames[a]
	}
	return "other"
}

// ActionOf returns the action of a name, Other if there is none of that name.
func ActionOf(name string) Action {
	for i, n := range actionNames {
		if n == name {
			return Action(i)
		}
	}
	return Other
}

// Reserves returns by how much the entry changes the memory that was taken from
// the driver.
func (e *Entry) Reserves() int64 {
	switch e.Action {
	case SegmentAlloc, SegmentMap:
		return e.Size
	case SegmentFree, SegmentUnmap:
		return -e.Size
	}
	return 0
}

// An Annotation is a mark that the program set.
type Annotation struct {
	Name   string
	Device int64
	Time   int64
	End    bool // of a span; else it begins one
}

// Settings are those of the allocator, as far as the snapshot tells.
type Settings struct {
	Known         bool
	Configuration string // PYTORCH_CUDA_ALLOC_CONF
	Expandable    bool
	MaxSplit      int64 // bytes; None for no limit
}
