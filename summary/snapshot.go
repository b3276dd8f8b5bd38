package summary

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// A Snapshot is the memory of one device in PyTorch's allocator when a snapshot was taken, with the history
// before it. (Input, Device) is its key. Sizes are bytes.
//
// Every byte reserved from the driver is of exactly one kind: Allocated, Waiting, Split and Cached sum to
// Reserved. The sums of Classes equal the sums of the device.
type Snapshot struct {
	Input  int   `json:"input"`
	Rank   int   `json:"rank"`
	Device int64 `json:"device"`

	Usage
	Blocks int64 `json:"blocks"` // in use

	// Requested is the requested part of Allocated, if the snapshot contains
	// it; the difference is rounding.
	Requested *int64 `json:"requested,omitempty"`
	// Private is the part of Reserved in private pools, such as those of CUDA
	// graphs. PrivateFree is the free memory in them, which other allocations
	// cannot use.
	Private     int64 `json:"private,omitempty"`
	PrivateFree int64 `json:"private_free,omitempty"`

	Classes []SegmentClass `json:"classes,omitempty"`

	History *MemoryHistory `json:"history,omitempty"` // absent if nothing was recorded
	Peak    *MemoryPeak    `json:"peak,omitempty"`    // absent if it is unknown

	// Owners has the allocation sites of the memory allocated at the peak, or
	// at the end if the peak is unknown: see OwnersAt. The largest come first,
	// at most MaxOwners; OwnersBytes is the sum of all. Kinds and Labels have
	// sums of the same bytes.
	OwnersAt    string  `json:"owners_at,omitempty"` // "peak" or "end"
	OwnersBytes int64   `json:"owners_bytes"`
	Owners      []Owner `json:"owners,omitempty"`
	Kinds       []Held  `json:"kinds,omitempty"`
	Labels      []Held  `json:"labels,omitempty"`  // by the program's user_metadata; absent if it set none
	Largest     []Owner `json:"largest,omitempty"` // single allocations, at most MaxOwners

	// Moment is the moment of the rows of memory_uses. Growing compares the pass that failed with the one before.
	Moment  *MemoryMoment  `json:"moment,omitempty"`
	Growing *MemoryGrowing `json:"growing,omitempty"` // absent if nothing failed, or the passes do not tell

	// OutOfMemory has the failed allocations in order, at most MaxOwners;
	// Failed counts all.
	Failed      int64         `json:"failed,omitempty"`
	OutOfMemory []OutOfMemory `json:"out_of_memory,omitempty"`
	// Capacity is the maximum memory of the allocator: the reserved memory when
	// an allocation failed plus the driver's free memory. Absent if none
	// failed.
	Capacity *int64 `json:"capacity,omitempty"`

	Expandable    bool   `json:"expandable,omitempty"` // expandable_segments is on
	Configuration string `json:"configuration,omitempty"`

	Strip *OwnerStrip `json:"strip,omitempty"`
}

// MaxOwners is the maximum number of allocation sites and of allocations that
// are kept.
const MaxOwners = 20

// MaxFrames is the maximum number of frames of a stack; the innermost ones are
// kept.
const MaxFrames = 64

// A Usage is the use of the memory of a number of segments.
type Usage struct {
	Segments  int64 `json:"segments"`
	Reserved  int64 `json:"reserved"`  // reserved from the driver
	Allocated int64 `json:"allocated"` // in use, rounded by the allocator
	Waiting   int64 `json:"waiting"`   // freed, and perhaps still in use by another stream
	Split     int64 `json:"split"`     // free, in partly used segments: it cannot be released
	Cached    int64 `json:"cached"`    // free, and can be released: whole segments, and free memory in expandable ones

	LargestFree int64 `json:"largest_free"` // largest free block
	Rounding    int64 `json:"rounding"`     // part of Allocated beyond the requested sizes, as far as known
}

// Free returns the memory that is neither allocated nor waiting.
func (u Usage) Free() int64 { return Plus(u.Split, u.Cached) }

// A SegmentClass is the use of all segments of one class on a device.
type SegmentClass struct {
	Name string `json:"name"` // see the constants
	Usage
}

// The classes. The allocator has one pool of 2 MiB segments for blocks of up to
// 1 MiB, and one pool for larger blocks: 20 MiB segments for blocks under 10
// MiB, and a segment of its own size for each larger block.
const (
	ClassSmall      = "small"
	ClassLarge      = "large-20-mib"
	ClassOwn        = "large-own-size"
	ClassExpandable = "expandable"
)

// A MemoryHistory is what the allocator recorded before the snapshot.
type MemoryHistory struct {
	Entries int64  `json:"entries"`
	StartNS *int64 `json:"start_ns,omitempty"` // Unix time of the first and last entry
	EndNS   *int64 `json:"end_ns,omitempty"`

	Allocs            int64 `json:"allocs"`
	AllocBytes        int64 `json:"alloc_bytes"`
	Frees             int64 `json:"frees"`
	SegmentAllocs     int64 `json:"segment_allocs"` // cudaMalloc, and maps of expandable segments
	SegmentAllocBytes int64 `json:"segment_alloc_bytes"`
	SegmentFrees      int64 `json:"segment_frees"` // cudaFree, and unmaps
	SegmentFreeBytes  int64 `json:"segment_free_bytes"`
	// Retries are the part of these frees with which the allocator made room for an allocation that did not fit.
	RetryFrees     int64 `json:"retry_frees,omitempty"`
	RetryFreeBytes int64 `json:"retry_free_bytes,omitempty"`

	// Older is the memory allocated before the first entry, at any site. Lost
	// is the part of it whose entries were recorded and then overwritten by
	// later ones.
	OlderBlocks int64 `json:"older_blocks"`
	OlderBytes  int64 `json:"older_bytes"`
	LostBlocks  int64 `json:"lost_blocks"`

	Steps  []MemoryStep  `json:"steps,omitempty"`  // as marked by the program
	Growth *MemoryGrowth `json:"growth,omitempty"` // absent if there are too few steps
}

// SpanNS returns the length of the history in ns, or 0 if it is unknown.
func (h *MemoryHistory) SpanNS() int64 {
	if h.StartNS == nil || h.EndNS == nil {
		return 0
	}
	return Plus(*h.EndNS, -*h.StartNS)
}

// A MemoryStep is the allocator's activity in one step of the program.
type MemoryStep struct {
	Name          string `json:"name"`
	StartNS       int64  `json:"start_ns"`
	NS            int64  `json:"ns"`
	Allocs        int64  `json:"allocs"`
	SegmentAllocs int64  `json:"segment_allocs"`
	SegmentFrees  int64  `json:"segment_frees"`
	Start         int64  `json:"start"` // allocated at its start
	Peak          int64  `json:"peak"`  // of the allocated memory
}

// A MemoryGrowth compares the memory allocated at the start of two steps. The first two steps of the
// history are not used, because programs allocate persistent memory in them. Memory that grows from step to
// step is never freed.
type MemoryGrowth struct {
	From   string  `json:"from"` // steps
	To     string  `json:"to"`
	Steps  int64   `json:"steps"` // from the first to the last
	Bytes  int64   `json:"bytes"`
	Fell   bool    `json:"fell,omitempty"`   // the memory decreased between two of these steps
	Owners []Owner `json:"owners,omitempty"` // allocation sites with more memory at the end, and the difference: the largest first, at most five
}

// A MemoryPeak is the time in the history at which the most memory was allocated or freed but still waiting
// for a stream.
type MemoryPeak struct {
	Entry    int64  `json:"entry"`        // index in the history, from 0; -1 if it was before the first
	NS       *int64 `json:"ns,omitempty"` // Unix time
	Live     int64  `json:"live"`
	Waiting  int64  `json:"waiting"`  // the part of Live that is freed and waits for a stream
	Reserved int64  `json:"reserved"` // at that time

	// Sizes says which sizes the history has: "requested", or "rounded" by
	// the allocator.
	Sizes string `json:"sizes"`

	HighestReserved   int64  `json:"highest_reserved"` // at any time
	HighestReservedNS *int64 `json:"highest_reserved_ns,omitempty"`
}

// An Owner is the memory that one place in the program had allocated.
type Owner struct {
	Kind  string   `json:"kind"`            // its purpose, from the functions of the stack: see the constants
	Frame string   `json:"frame,omitempty"` // "file:line function": the innermost outside of PyTorch; absent if no stack is known
	Bytes int64    `json:"bytes"`
	Count int64    `json:"count"` // allocations
	NS    *int64   `json:"ns,omitempty"`
	Stack []string `json:"stack,omitempty"` // of the largest allocation, innermost first
}

// The purposes of memory, as far as a stack shows them.
const (
	KindParameters  = "parameters"
	KindOptimizer   = "optimizer"
	KindActivations = "activations"
	KindRecomputed  = "recomputed-activations"
	KindBackward    = "backward"
	KindKVCache     = "kv-cache"
	KindComm        = "communication"
	KindData        = "data"
	KindWorkspace   = "workspaces"
	KindOther       = "other"
	KindUnknown     = "unknown" // no stack is known
)

// A Held is an amount of memory with a name.
type Held struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
	Count int64  `json:"count"`
}

// An OutOfMemory is an allocation that failed.
type OutOfMemory struct {
	NS       *int64   `json:"ns,omitempty"`
	Wanted   int64    `json:"wanted"`
	Free     *int64   `json:"free,omitempty"` // free memory of the driver
	Reserved *int64   `json:"reserved,omitempty"`
	Live     *int64   `json:"live,omitempty"`
	Kind     string   `json:"kind"`
	Frame    string   `json:"frame,omitempty"`
	Stack    []string `json:"stack,omitempty"`
}

// An OwnerStrip is memory over time, for pictures. Each bin shows the moment in it with the most memory
// allocated: Live is that amount in bytes, and the Owners' bytes sum to it. Reserved is the highest value
// of the bin.
type OwnerStrip struct {
	StartNS  int64     `json:"start_ns"`
	BinNS    int64     `json:"bin_ns"`
	Live     []int64   `json:"live"`
	Reserved []int64   `json:"reserved,omitempty"`
	Owners   []Stratum `json:"owners"`
}

// A Stratum is one allocation site, or kind of memory, over time. The last one of a strip may have the name
// "": it adds up all others.
type Stratum struct {
	Name  string  `json:"name"`
	Kind  string  `json:"kind,omitempty"`
	Bytes []int64 `json:"bytes"`
}

// A MemoryTimeline is the memory of one device by category, as determined by
// PyTorch's profiler. Input is its key.
type MemoryTimeline struct {
	Input   int   `json:"input"`
	Rank    int   `json:"rank"`
	Moments int64 `json:"moments"`
	StartNS int64 `json:"start_ns"` // Unix time
	NS      int64 `json:"ns"`       // from the first time to the last
	PeakNS  int64 `json:"peak_ns"`
	Peak    int64 `json:"peak"`
	Older   int64 `json:"older"` // allocated before the first time

	Categories []CategoryBytes `json:"categories"` // the largest at the peak first; sums to Peak

	Strip *OwnerStrip `json:"strip,omitempty"`
}

// CategoryBytes has the sizes of one category.
type CategoryBytes struct {
	Name    string `json:"name"`
	AtPeak  int64  `json:"at_peak"` // bytes when the sum of all categories was at its peak
	Highest int64  `json:"highest"` // bytes at this category's own peak
}

// check returns the first violated constraint of m.
func (m *Snapshot) check() error {
	if err := m.Usage.check(); err != nil {
		return fmt.Errorf(".%w", err)
	}
	if err := m.Moment.check(); err != nil {
		return err
	}
	return m.Strip.check()
}

func (m *MemoryTimeline) check() error { return m.Strip.check() }

func (u Usage) check() error {
	for _, part := range []struct {
		name string
		n    int64
	}{{"allocated", u.Allocated}, {"waiting", u.Waiting}, {"split", u.Split}, {"cached", u.Cached}} {
		if part.n < 0 {
			return fmt.Errorf("%s: got %d, want 0 or more", part.name, part.n)
		}
	}
	if sum := Plus(Plus(u.Allocated, u.Waiting), u.Free()); sum != u.Reserved {
		return fmt.Errorf("reserved: got %d, want %d, the sum of allocated, waiting, split and cached", u.Reserved, sum)
	}
	return nil
}

func (s *OwnerStrip) check() error {
	if s == nil {
		return nil
	}
	for i, o := range s.Owners {
		if len(o.Bytes) != len(s.Live) {
			return fmt.Errorf(".strip: owners[%d].bytes: got %d, want %d, one for each bin", i, len(o.Bytes), len(s.Live))
		}
	}
	if len(s.Reserved) != 0 && len(s.Reserved) != len(s.Live) {
		return fmt.Errorf(".strip: reserved: got %d, want %d, one for each bin", len(s.Reserved), len(s.Live))
	}
	return nil
}

// SortHeld returns the values of a map, the largest first.
func SortHeld(sums map[string]Held) []Held {
	return slices.SortedFunc(maps.Values(sums), func(a, b Held) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Name, b.Name))
	})
}

// KindWords returns the display text of a purpose of memory.
func KindWords(kind string) string {
	switch kind {
	case KindOptimizer:
		return "optimizer state"
	case KindRecomputed:
		return "recomputed activations"
	case KindBackward:
		return "gradients and backward"
	case KindKVCache:
		return "KV cache"
	case KindUnknown:
		return "no stack recorded"
	case KindOther:
		return "other work"
	}
	return kind
}

// ClassWords returns the display text of a class of segments.
func ClassWords(name string) string {
	switch name {
	case ClassSmall:
		return "2 MiB, for blocks up to 1 MiB"
	case ClassLarge:
		return "20 MiB, for blocks under 10 MiB"
	case ClassOwn:
		return "own size, for larger blocks"
	case ClassExpandable:
		return "expandable"
	}
	return name
}
