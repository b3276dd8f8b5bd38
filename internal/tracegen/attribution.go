package tracegen

// An Attribution is what a correct analysis must find in a [Story] about who
// owned the time of its devices. Tables that a story does not speak of are nil.
// Times are those written in the file, in nanoseconds.
//
// These are the definitions that the truth is constructed by.
//
// Links. A call of the runtime or driver launched a piece of device work if
// both have the same correlation number and belong to the same process, or if
// an arrow of category ac2g goes from one to the other. Of calls that contain
// each other and share a number, the outermost is the one. What was open on the
// call's thread when the call began owns the work; for a backward operator, the
// module and line are those of the forward operator that it answers, which has
// the same sequence number or sends it an arrow of category fwdbwd.
//
// Gaps. A gap [a,b) of a device is a maximal stretch between its first start
// and its last end in which nothing runs on it. K is the work that starts at b,
// of several the one whose call began first; L=[ls,le) is the call that launched
// it, on thread T.
//
//   - Without L, or with ls >= b, all of the gap is "unknown".
//   - [a, min(b,ls)), if ls > a, is "host-late". Its pieces are named by what T
//     did: see below.
//   - If L was over when the gap began, le <= a, K was waiting for what ran before
//     it: all of the gap is "between-kernels" if it is at most [ShortWaitNS] long,
//     else "dependency".
//   - Else [max(a,ls), b) is "launch-latency" if b <= le: K started inside its call.
//     Otherwise the part up to le is, and so is the rest if it is no longer than
//     [ShortWaitNS]; a longer rest is "dependency".
//   - If T's process launched a graph whose inside was not recorded, after all
//     work that the device had run before and before L, the part of the gap from
//     that launch's beginning to the end of the first synchronizing call after
//     it, or to b if L comes before such a call, is "opaque-graph".
//
// A moment of a late host is named by the innermost event open on T:
//
//   - A call: "synchronizing" (*Synchronize), "copying" (*Memcpy*, *Memset*),
//     "allocating" (*Malloc*, *Free*, *HostAlloc*, *HostRegister*), "launching"
//     (*Launch*), else "calling"; the name is the call's.
//   - Anything else, inside a frame (operator, annotation, Python function) with
//     "DataLoader" or "dataloader" in its name: "data-loading", by the name of
//     the outermost such frame.
//   - A frame with "torch/profiler/" or "Profiler::" in its name, or an event of
//     category overhead: not the host but "nothing-offered", by the frame's name.
//   - "operator", "python" or "annotation", by the event's name. The annotation
//     ProfilerStep# counts only where nothing else is open.
//   - If nothing is open on T, the same is asked of the main thread, the one of
//     the process with the most launching calls. If nothing is open there
//     either, it is "unrecorded" and has no name.
type Attribution struct {
	Devices  []DeviceWindow
	Idle     []IdleTime // sorted by device, owner, state, name
	Owners   []Owner    // sorted by device, kernel
	Ops      []OpRun    // sorted by name
	Calls    []CallRun  // sorted by name
	Launches []Launched // sorted by device
	Graphs   []GraphRun // sorted by device, in the order of first launch
	Memory   []MemoryUse
	Steps    []Step // as the host marked them, in order
	Phases   []PhaseTime
	Served   []ServedStep // in order
}

// A PhaseTime is what a phase had of the only device, less the phases within it.
// Work belongs to the phase that it was launched in, and idle time to the one that
// the host was in. The phase with the Path "" is none.
type PhaseTime struct {
	Path                      string // as "generation/decode"
	Count, HostNS             int64  // with what is within
	ComputeNS, CopyNS, IdleNS int64
}

// A ServedStep is a step of a server on the device: from the end of all that was
// launched before it to the end of what it launched.
type ServedStep struct {
	Name, Kind      string
	StartNS, WallNS int64
}

// ShortWaitNS is the longest that work may wait after its call for that to count
// as part of launching it.
const ShortWaitNS = 20_000

// ShortKernelNS is the duration below which a kernel is short.
const ShortKernelNS = 10_000

// A DeviceWindow is the time from a device's first start to its last end.
type DeviceWindow struct {
	Device                    int
	StartNS, WindowNS, IdleNS int64
	WorkNS                    int64 // sum of the durations of all that ran
}

// Owners and states of idle time.
const (
	HostLate       = "host-late"
	LaunchLatency  = "launch-latency"
	BetweenKernels = "between-kernels"
	Dependency     = "dependency"
	NothingOffered = "nothing-offered"
	OpaqueGraph    = "opaque-graph"
	Unknown        = "unknown"

	Synchronizing = "synchronizing"
	Copying       = "copying"
	Allocating    = "allocating"
	Launching     = "launching"
	Calling       = "calling"
	DataLoading   = "data-loading"
	InOperator    = "operator"
	InPython      = "python"
	InAnnotation  = "annotation"
	Unrecorded    = "unrecorded"
)

// An IdleTime is all idle time of a device that one owner has.
type IdleTime struct {
	Device int
	Owner  string
	State  string // of HostLate only
	Name   string // of HostLate and NothingOffered
	NS     int64
}

// An Owner is who launched a kernel, copy or memset. All work of one name on one
// device has one owner.
type Owner struct {
	Device int
	Kernel string // its name
	Count  int64
	NS     int64 // sum of durations

	Linked    bool   // a call is known; nothing below is set if not
	Call      string // the call's name
	Op        string // innermost operator around the call; "" if there is none
	Outermost string // outermost operator around the call
	Module    string // nn.Module path, as "Net_0/Linear_1"
	// File, Line and Function are of the innermost Python function that is
	// neither PyTorch's nor Python's own.
	File     string
	Line     int
	Function string
	Pass     string // "forward", "backward", "optimizer" or "other"
	// Annotations are those open when the call began, outermost first, without
	// ProfilerStep#: on its thread, or, of a thread that has none in the whole
	// trace, on the main thread.
	Annotations []string
	Step        int64 // N of the ProfilerStep#N in which the call began; -1 for none
}

// An OpRun is every run of one operator. In totals, a run inside another of the
// same name does not count again.
type OpRun struct {
	Name                  string
	Count                 int64
	CPUSelfNS, CPUTotalNS int64
	GPUSelfNS, GPUTotalNS int64
	Launched              int64 // pieces of work that it launched itself
}

// A CallRun is every call of one function of the runtime or driver.
type CallRun struct {
	Name, Kind     string // kind: launch, graph-launch, copy, memset, sync, alloc, free, other
	Count          int64
	TotalNS, MaxNS int64
	Launched       int64 // pieces of work
	// IdleNS is, for kind sync, the part of TotalNS in which no device was busy.
	IdleNS int64
}

// A Launched is how the work of one device was launched.
type Launched struct {
	Device   int
	Launched int64 // pieces of work with a call
	Without  int64
	Calls    int64   // calls that launched them
	Delays   []int64 // of each piece with a call: its start less the call's end, at least 0; sorted
	Short    int64   // kernels, not copies, under ShortKernelNS
	ShortNS  int64
	// Queue has the time for which so many pieces of work had a call that had
	// begun, and had not started, by depth from 0 up. It sums to the window.
	Queue []int64
}

// A GraphRun is every launch of one graph.
type GraphRun struct {
	Device      int
	Call, First string // name of the call, and of its first piece of work
	Launches    int64
	Nodes       int64
	WorkNS      int64 // sum of durations
	SpanNS      int64 // sum over launches of first start to last end
	IdleNS      int64 // part of SpanNS in which the device was idle
	DelayNS     int64 // sum over launches of call's end to first start, at least 0 each
	CallNS      int64
	Opaque      bool // its inside was not recorded
}

// A MemoryUse is what the allocator said about one device, or about the host.
type MemoryUse struct {
	OnHost        bool
	Device        int
	Allocs, Frees int64
	// StartAllocated is what the first event says less what it changed.
	StartAllocated, PeakAllocated, PeakReserved int64
	PeakNS                                      int64 // the first event that reached it
	// Live is what was allocated in the trace and not freed when the peak was
	// reached, largest first, then by name.
	Live      []LiveMemory
	LiveBytes int64
}

// A LiveMemory is what one operator in one module had allocated.
type LiveMemory struct {
	Op, Module   string
	Bytes, Count int64
}
