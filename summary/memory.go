package summary

// Memory is the data of the allocator of PyTorch, TensorFlow or XLA for one device, or for the host.
// (Input, DeviceType, Device) is its key. Sizes are bytes.
type Memory struct {
	Input  int   `json:"input"`
	Rank   int   `json:"rank"`
	OnHost bool  `json:"on_host"`
	Device int64 `json:"device"`

	Allocs int64 `json:"allocs"`
	Frees  int64 `json:"frees"`
	// Allocated and reserved are the values written by the profiler; absent if
	// it did not write them.
	StartAllocated *int64 `json:"start_allocated,omitempty"`
	PeakAllocated  *int64 `json:"peak_allocated,omitempty"`
	PeakReserved   *int64 `json:"peak_reserved,omitempty"`
	// Capacity is the total memory of the device, if the capture contains it.
	Capacity *int64 `json:"capacity,omitempty"`
	PeakNS   int64  `json:"peak_ns"` // time at which PeakAllocated was first reached, on the input's own clock

	// Live has the memory that was allocated in the capture and not freed at the peak, in bytes, by
	// allocation site, largest first, at most MaxLive rows. LiveBytes is the sum over all sites. The rest
	// of PeakAllocated was allocated before the capture.
	Live      []Live `json:"live,omitempty"`
	LiveBytes int64  `json:"live_bytes"`

	Strip *MemoryStrip `json:"strip,omitempty"`
}

// MaxLive is the maximum number of allocation sites that are kept.
const MaxLive = 10

// A Live is the memory that one operator in one module had allocated and not yet freed.
type Live struct {
	Op     string `json:"op,omitempty"`     // innermost operator; absent if none was open
	Module string `json:"module,omitempty"` // path of the innermost nn.Module
	Bytes  int64  `json:"bytes"`
	Count  int64  `json:"count"` // allocations
}

// A MemoryStrip is memory over time, for pictures: the highest value in each of
// equal bins, or -1 before the first known value.
type MemoryStrip struct {
	StartNS   int64   `json:"start_ns"`
	BinNS     int64   `json:"bin_ns"`
	Allocated []int64 `json:"allocated"`
	Reserved  []int64 `json:"reserved"`
}
