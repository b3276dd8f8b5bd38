// Package memory is the model of the use of a device's memory: the segments
// that an allocator reserved from the driver, their blocks, and the history of
// the allocator's actions.
//
// A [Snapshot] comes from PyTorch's allocator, a [Timeline] from its profiler.
// Sizes are bytes and times int64 nanoseconds. [ReadSnapshot] and [ReadTimeline]
// return them; they are immutable. Package analyze measures both.
//
// The model is in this file, stacks.go and timeline.go. The reader of snapshots
// begins in snapshot.go; segments.go and traces.go read the two parts of a
// snapshot, with the helpers in keys.go. The reader of timelines is
// read_timeline.go, on the scanner of scan_timeline.go.
package memory

import "assay/internal/diag"

// A Snapshot is the memory of all devices of a process at one time, with the
// history before it.
type Snapshot struct {
	Devices     []Device // by number
	Stacks      Stacks
	Labels      []string // indexed by Entry.Label; the first is ""
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
	Blocks   []Block // of all segments, in the order of Segments
	Entries  []Entry // in the order of the actions
}

// None is the value of an unknown size or time.
const None = -1

// A Segment is a range of memory that was reserved from the driver.
type Segment struct {
	Address, Size int64
	Stream        int64
	Stack         StackID // of the allocation for which it was reserved
	First, Count  int     // its blocks are Blocks[First : First+Count]
	Small         bool    // in the pool for blocks of up to 1 MiB
	Expandable    bool    // it can grow and release pages
	Private       bool    // in a separate pool, such as that of a CUDA graph
}

// A Block is a part of a segment.
type Block struct {
	Address, Size int64
	Requested     int64 // the requested size; None if it is unknown
	State         State
	Stack         StackID // of the allocation
}

// A State is the state of use of a block.
type State uint8

// The states. A pending block was freed, and work of another stream may still
// use it.
const (
	Inactive State = iota
	Allocated
	Waiting
)

// An Entry is one action of the allocator.
type Entry struct {
	Time    int64 // Unix time; None if it is unknown
	Address int64
	Size    int64
	Stream  int32
	Stack   StackID
	Label   int32 // index into Labels: user metadata set by the program
	Action  Action
}

// An Action is the kind of an entry.
type Action uint8

// The actions. For OutOfMemory the Address is the driver's free memory in
// bytes, and the Size is the size of the failed allocation.
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
	Taken // a snapshot: this one, or an earlier one
)

var actionNames = [...]string{"other", "alloc", "free_requested", "free_completed", "segment_alloc", "segment_free",
	"segment_map", "segment_unmap", "oom", "snapshot"}

// String returns PyTorch's name of the action.
func (a Action) String() string {
	if int(a) < len(actionNames) {
		return actionNames[a]
	}
	return "other"
}

// ActionOf returns the action with the given name, or Other if there is none.
func ActionOf(name string) Action {
	for i, n := range actionNames {
		if n == name {
			return Action(i)
		}
	}
	return Other
}

// Reserves returns the change of the memory reserved from the driver by the
// entry.
func (e *Entry) Reserves() int64 {
	switch e.Action {
	case SegmentAlloc, SegmentMap:
		return e.Size
	case SegmentFree, SegmentUnmap:
		return -e.Size
	}
	return 0
}

// An Annotation is a mark set by the program.
type Annotation struct {
	Name   string
	Device int64
	Time   int64
	End    bool // of a span; otherwise it begins one
}

// Settings are the allocator's settings, as far as the snapshot contains them.
type Settings struct {
	Known         bool
	Configuration string // PYTORCH_CUDA_ALLOC_CONF
	Expandable    bool
	MaxSplit      int64 // bytes; None for no limit
}
