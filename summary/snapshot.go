package summary

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// A Snapshot is the memory of one device as PyTorch's allocator had it when a
// snapshot was taken, and what led there. (Input, Device) is its key. Sizes are
// bytes.
//
// Every byte that was taken from the driver is of one kind: Allocated, Waiting,
// Split and Cached sum to Reserved. The sums of Classes are those of the device.
type Snapshot struct {
	Input  int   `json:"input"`
	Rank   int   `json:"rank"`
	Device int64 `json:"device"`

	Usage
	Blocks int64 `json:"blocks"` // in use

	// Requested is what was asked for of Allocated, where the snapshot says so;
	// the difference is rounding.
	Requested *int64 `json:"requested,omitempty"`
	// Private is what pools of their own, as those of CUDA graphs, have of
	// Reserved, and PrivateFree what is free in them: nobody else can have it.
	Private     int64 `json:"private,omitempty"`
	PrivateFree int64 `json:"private_free,omitempty"`

	Classes []SegmentClass `json:"classes,omitempty"`

	History *MemoryHistory `json:"history,omitempty"` // absent if nothing was recorded
	Peak    *MemoryPeak    `json:"peak,omitempty"`    // absent if it is not known

	// Owners has who had allocated what was live at the peak, or where that is not
	// known at the end: see OwnersAt. The largest come first, at most MaxOwners;
	// OwnersBytes is all of it. Kinds and Labels have sums of the same bytes.
	OwnersAt    string  `json:"owners_at,omitempty"` // "peak" or "end"
	OwnersBytes int64   `json:"owners_bytes"`
	Owners      []Owner `json:"owners,omitempty"`
	Kinds       []Held  `json:"kinds,omitempty"`
	Labels      []Held  `json:"labels,omitempty"`  // as the program said of itself (user_metadata); absent if it never did
	Largest     []Owner `json:"largest,omitempty"` // single allocations, at most MaxOwners

	// OutOfMemory has the allocations that failed, at most MaxOwners, the first of
	// them first; Failed counts all.
	Failed      int64         `json:"failed,omitempty"`
	OutOfMemory []OutOfMemory `json:"out_of_memory,omitempty"`
	// Capacity is the most that the allocator could have had: what it had taken
	// when an allocation failed, and what the driver had left. Absent if none did.
	Capacity *int64 `json:"capacity,omitempty"`

	Expandable    bool   `json:"expandable,omitempty"` // expandable_segments is on
	Configuration string `json:"configuration,omitempty"`

	Strip *OwnerStrip `json:"strip,omitempty"`
}

// MaxOwners is how many owners and allocations are kept one by one.
const MaxOwners = 20

// MaxFrames is how many frames of a stack are kept, the innermost ones.
const MaxFrames = 64

// A Usage is what a number of segments are used for.
type Usage struct {
	Segments  int64 `json:"segments"`
	Reserved  int64 `json:"reserved"`  // taken from the driver
	Allocated int64 `json:"allocated"` // handed out, rounded to what the allocator gives
	Waiting   int64 `json:"waiting"`   // freed, and perhaps still in use by another stream
	Split     int64 `json:"split"`     // free, in segments that something else is in: it cannot be given back
	Cached    int64 `json:"cached"`    // free, and can be given back: whole segments, and what is in expandable ones

	LargestFree int64 `json:"largest_free"` // block
	Rounding    int64 `json:"rounding"`     // of Allocated, beyond what was asked for, as far as known
}

// Free returns what is neither handed out nor waiting.
func (u Usage) Free() int64 { return Plus(u.Split, u.Cached) }

// A SegmentClass is the segments of one kind of a device.
type SegmentClass struct {
	Name string `json:"name"` // see the constants
	Usage
}

// The classes. The allocator has one pool of segments of 2 MiB for blocks of up
// to 1 MiB, and one for larger blocks: segments of 20 MiB for those under
// 10 MiB, and one of its own size for each block that is larger.
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

	// Older is what was allocated before the first entry, whoever did it, and Lost
	// the part of it that was recorded and then overwritten by later entries.
	OlderBlocks int64 `json:"older_blocks"`
	OlderBytes  int64 `json:"older_bytes"`
	LostBlocks  int64 `json:"lost_blocks"`

	Steps  []MemoryStep  `json:"steps,omitempty"`  // as the program marked them
	Growth *MemoryGrowth `json:"growth,omitempty"` // absent where there are too few
}

// SpanNS returns how long the history is, 0 if that is not known.
func (h *MemoryHistory) SpanNS() int64 {
	if h.StartNS == nil || h.EndNS == nil {
		return 0
	}
	return Plus(*h.EndNS, -*h.StartNS)
}

// A MemoryStep is what the allocator did in one step of the program.
type MemoryStep struct {
	Name          string `json:"name"`
	StartNS       int64  `json:"start_ns"`
	NS            int64  `json:"ns"`
	Allocs        int64  `json:"allocs"`
	SegmentAllocs int64  `json:"segment_allocs"`
	SegmentFrees  int64  `json:"segment_frees"`
	Start         int64  `json:"start"` // live when it began
	Peak          int64  `json:"peak"`  // of what was live
}

// A MemoryGrowth compares what was live when two steps began, the first two of
// all left out. What grows from step to step is never freed.
type MemoryGrowth struct {
	From   string  `json:"from"` // steps
	To     string  `json:"to"`
	Steps  int64   `json:"steps"` // from the one to the other
	Bytes  int64   `json:"bytes"`
	Fell   bool    `json:"fell,omitempty"`   // from one of these steps to the next
	Owners []Owner `json:"owners,omitempty"` // who has more at the end, by how much: the largest first, at most five
}

// A MemoryPeak is the moment of the history at which most was live: allocated,
// or freed and waiting for a stream.
type MemoryPeak struct {
	Entry    int64  `json:"entry"`        // of the history, from 0; -1 if it was before the first
	NS       *int64 `json:"ns,omitempty"` // Unix time
	Live     int64  `json:"live"`
	Waiting  int64  `json:"waiting"`  // of it
	Reserved int64  `json:"reserved"` // at that moment

	// Sizes says what the sizes of the history are: "requested", or "rounded" to
	// what the allocator gives.
	Sizes string `json:"sizes"`

	HighestReserved   int64  `json:"highest_reserved"` // at any moment
	HighestReservedNS *int64 `json:"highest_reserved_ns,omitempty"`
}

// An Owner is the memory that one place in the program had allocated.
type Owner struct {
	Kind  string   `json:"kind"`            // what for, by the functions of the stack: see the constants
	Frame string   `json:"frame,omitempty"` // "file:line function": the innermost that is not PyTorch's; absent if no stack is known
	Bytes int64    `json:"bytes"`
	Count int64    `json:"count"` // allocations
	NS    *int64   `json:"ns,omitempty"`
	Stack []string `json:"stack,omitempty"` // of the largest of them, innermost first
}

// What memory is for, as far as a stack tells.
const (
	KindParameters  = "parameters"
	KindOptimizer   = "optimizer"
	KindActivations = "activations"
	KindRecomputed  = "recomputed-activations"
	KindBackward    = "backward"
	KindKVCache     = "kv-cache"
	KindComm        = "communication"
	KindData        = "data"
	KindOther       = "other"
	KindUnknown     = "unknown" // no stack is known
)

// A Held is how much memory something has.
type Held struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
	Count int64  `json:"count"`
}

// An OutOfMemory is an allocation that failed.
type OutOfMemory struct {
	NS       *int64   `json:"ns,omitempty"`
	Wanted   int64    `json:"wanted"`
	Free     *int64   `json:"free,omitempty"` // what the driver had left
	Reserved *int64   `json:"reserved,omitempty"`
	Live     *int64   `json:"live,omitempty"`
	Kind     string   `json:"kind"`
	Frame    string   `json:"frame,omitempty"`
	Stack    []string `json:"stack,omitempty"`
}

// An OwnerStrip is memory over time, for pictures. Each bin shows the moment at
// which most was live in it: Live is that, and the Owners' bytes sum to it.
// Reserved is the highest of the bin.
type OwnerStrip struct {
	StartNS  int64     `json:"start_ns"`
	BinNS    int64     `json:"bin_ns"`
	Live     []int64   `json:"live"`
	Reserved []int64   `json:"reserved,omitempty"`
	Owners   []Stratum `json:"owners"`
}

// A Stratum is one owner, or kind of memory, over time. The name of the last of
// a strip may be "", for all others.
type Stratum struct {
	Name  string  `json:"name"`
	Kind  string  `json:"kind,omitempty"`
	Bytes []int64 `json:"bytes"`
}

// A MemoryTimeline is the memory of one device by category, as PyTorch's
// profiler worked it out. Input is its key.
type MemoryTimeline struct {
	Input   int   `json:"input"`
	Rank    int   `json:"rank"`
	Moments int64 `json:"moments"`
	StartNS int64 `json:"start_ns"` // Unix time
	NS      int64 `json:"ns"`       // from the first moment to the last
	PeakNS  int64 `json:"peak_ns"`
	Peak    int64 `json:"peak"`
	Older   int64 `json:"older"` // live before the first moment

	Categories []CategoryBytes `json:"categories"` // the largest at the peak first; sums to Peak

	Strip *OwnerStrip `json:"strip,omitempty"`
}

// CategoryBytes is what one category has.
type CategoryBytes struct {
	Name    string `json:"name"`
	AtPeak  int64  `json:"at_peak"` // of all categories together
	Highest int64  `json:"highest"` // of its own
}

// check returns the first promise that m breaks.
func (m *Snapshot) check() error {
	if err := m.Usage.check(); err != nil {
		return fmt.Errorf(".%w", err)
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

// SortHeld returns the sums of a map, the largest first.
func SortHeld(sums map[string]Held) []Held {
	return slices.SortedFunc(maps.Values(sums), func(a, b Held) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Name, b.Name))
	})
}

// KindWords says in words what memory is for.
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

// ClassWords says in words what a class of segments is.
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
