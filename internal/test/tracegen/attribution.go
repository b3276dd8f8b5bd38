package tracegen

// An Attribution is what a correct analysis must find in a [Story] about the
// causes of device time. Tables that a story does not cover are nil. Times are
// those written in the file, in nanoseconds.
//
// The truth is constructed from these definitions.
//
// Links. A call of the runtime or driver launched a GPU operation if both have
// the same correlation number and belong to the same process, or if an arrow of
// category ac2g connects them. If nested calls share a number, the outermost is
// the launch. The work is attributed to the events that were open on the call's
// thread when the call began. For a backward operator, the module and line are
// those of the matching forward operator, which has the same sequence number or
// is connected by an arrow of category fwdbwd.
//
// Gaps. A gap [a,b) of a device is a maximal interval between its first start
// and its last end during which nothing runs on it. K is the work that starts
// at b; if there are several, the one whose call began first. L=[ls,le) is the
// call that launched K, on thread T.
//
//   - Without L, or with ls >= b, all of the gap is "unknown".
//   - [a, min(b,ls)), if ls > a, is "host-late". Its parts are named after the
//     activity of T: see below.
//   - If L ended before the gap began, le <= a, K waited for the work before it:
//     all of the gap is "between-kernels" if it is at most [ShortWaitNS] long,
//     otherwise "dependency".
//   - Otherwise [max(a,ls), b) is "launch-latency" if b <= le: K started inside its
//     call. If b > le, the part up to le is "launch-latency", and so is the rest if
//     it is at most [ShortWaitNS] long; a longer rest is "dependency".
//   - If T's process launched a graph that was traced as one event, after all work
//     that the device had run before and before L, the part of the gap from the
//     start of that launch to the end of the first synchronizing call after it, or
//     to b if L precedes such a call, is "opaque-graph".
//
// A moment of a late host is named after the innermost event open on T:
//
//   - A call: "synchronizing" (*Synchronize), "copying" (*Memcpy*, *Memset*),
//     "allocating" (*Malloc*, *Free*, *HostAlloc*, *HostRegister*), "launching"
//     (*Launch*), otherwise "calling"; the name is the call's.
//   - Anything else, inside a frame (operator, annotation, Python function) with
//     "DataLoader" or "dataloader" in its name: "data-loading", by the name of
//     the outermost such frame.
//   - A frame with "torch/profiler/" or "Profiler::" in its name, or an event of
//     category overhead: not the host but "nothing-offered", by the frame's name.
//   - "operator", "python" or "annotation", by the event's name. The annotation
//     ProfilerStep# counts only if nothing else is open.
//   - If nothing is open on T, the same rules apply to the main thread, which is
//     the thread of the process with the most launching calls. If nothing is open
//     there either, the moment is "unrecorded" and has no name.
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

// A PhaseTime is the time of the only device in a phase, without nested phases.
// Work belongs to the phase that launched it, and idle time to the phase of the
// host. The Path "" is the time outside phases.
type PhaseTime struct {
	Path                      string // such as "generation/decode"
	Count, HostNS             int64  // including nested phases
	ComputeNS, CopyNS, IdleNS int64
}

// A ServedStep is a step of a server on the device: from the end of all work
// launched before it to the end of its own work.
type ServedStep struct {
	Name, Kind      string
	StartNS, WallNS int64
}

// ShortWaitNS is the maximum time between a call and its work that counts as
// launch latency.
const ShortWaitNS = 20_000

// ShortKernelNS is the duration below which a kernel is short.
const ShortKernelNS = 10_000

// A DeviceWindow is the time from a device's first start to its last end.
type DeviceWindow struct {
	Device                    int
	StartNS, WindowNS, IdleNS int64
	WorkNS                    int64 // total time of all work
}

// Owners and states of idle time: the ids of causes and host states.
const (
	HostLate       = "host-late"
	LaunchLatency  = "launch-latency"
	BetweenKernels = "between-kernels"
	Dependency     = "dependency"
	OtherGPU       = "other-gpu"
	NotRecorded    = "not-recorded" // as Dependency, of the first work of a stream
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

// An IdleTime is the idle time of a device with one cause.
type IdleTime struct {
	Device int
	Owner  string
	State  string // only for HostLate
	Name   string // only for HostLate and NothingOffered
	NS     int64
}

// An Owner describes the launch of a kernel, copy or memset. All work of one
// name on one device has the same launch properties.
type Owner struct {
	Device int
	Kernel string // its name
	Count  int64
	NS     int64 // sum of durations

	Linked    bool   // a call is known; the fields below are set only then
	Call      string // the call's name
	Op        string // innermost operator around the call; "" if there is none
	Outermost string // outermost operator around the call
	Module    string // nn.Module path, such as "Net_0/Linear_1"
	// File, Line and Function are those of the innermost Python function that
	// belongs neither to PyTorch nor to Python itself.
	File     string
	Line     int
	Function string
	Pass     string // "forward", "backward", "optimizer" or "other"
	// Annotations are those open when the call began, outermost first, without
	// ProfilerStep#: on its thread or, if its thread has none in the whole
	// trace, on the main thread.
	Annotations []string
	Step        int64 // N of the ProfilerStep#N in which the call began; -1 for none
}

// An OpRun represents all runs of one operator. In totals, a run nested in
// another of the same name does not count again.
type OpRun struct {
	Name                  string
	Count                 int64
	CPUSelfNS, CPUTotalNS int64
	GPUSelfNS, GPUTotalNS int64
	Launched              int64 // GPU operations that it launched itself
}

// A CallRun represents all calls of one function of the runtime or driver.
type CallRun struct {
	Name, Kind     string // kind: launch, graph-launch, copy, memset, sync, alloc, free, other
	Count          int64
	TotalNS, MaxNS int64
	Launched       int64 // GPU operations
	// IdleNS is, for kind sync, the part of TotalNS during which no device was
	// busy.
	IdleNS int64
}

// A Launched describes how the work of one device was launched.
type Launched struct {
	Device   int
	Launched int64 // GPU operations with a call
	Without  int64
	Calls    int64   // calls that launched them
	Delays   []int64 // for each operation with a call: its start minus the call's end, at least 0; sorted
	Short    int64   // kernels, not copies, under ShortKernelNS
	ShortNS  int64
	// Queue has the time of each queue length, from 0 up: GPU operations whose
	// call had begun and that had not started. It sums to the window.
	Queue []int64
}

// A GraphRun represents all launches of one graph.
type GraphRun struct {
	Device      int
	Call, First string // name of the call, and of its first GPU operation
	Launches    int64
	Nodes       int64
	WorkNS      int64 // sum of durations
	SpanNS      int64 // sum over launches from first start to last end
	IdleNS      int64 // part of SpanNS during which the device was idle
	DelayNS     int64 // sum over launches from call's end to first start, at least 0 each
	CallNS      int64
	Opaque      bool // traced as one event
}

// A MemoryUse is the allocator's data for one device, or for the host.
type MemoryUse struct {
	OnHost        bool
	Device        int
	Allocs, Frees int64
	// StartAllocated is the value of the first event minus its change.
	StartAllocated, PeakAllocated, PeakReserved int64
	PeakNS                                      int64 // the first event that reached it
	// Live is the memory that was allocated in the trace and not freed at the
	// peak, largest first, then by name.
	Live      []LiveMemory
	LiveBytes int64
}

// A LiveMemory is the memory that one operator in one module had allocated.
type LiveMemory struct {
	Op, Module   string
	Bytes, Count int64
}
