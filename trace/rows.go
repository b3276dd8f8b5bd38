package trace

// A Sym is the number of an interned text. The zero Sym is the empty text.
type Sym uint32

// A TrackID is an index into Trace.Tracks.
type TrackID uint32

// A Track is a row of the timeline: a thread of a process, or a stream of a
// device. PID and TID are as written; most are numbers.
type Track struct {
	PID, TID string
	OnDevice bool
	Device   int64  // the ordinal of the device; only if OnDevice
	Stream   int64  // only if OnDevice
	Process  string // the process's name, if the trace has it
	Thread   string // the thread's name, if the trace has it
	Repeats  bool   // its spans repeat the work of a device in the same trace
}

// An Activity is one GPU operation: a kernel, copy or memset.
type Activity struct {
	Start, Dur  int64 // ns
	Correlation ID    // of the call that launched it
	External    ID    // of the operator that launched it
	Name        Sym
	Track       TrackID // names its device and stream
	Detail      DetailID
	Kind        Kind // Kernel, Memcpy or Memset
}

// End returns Start + Dur.
func (a *Activity) End() int64 { return a.Start + a.Dur }

// An ID is a number with which a profiler links events: events of one kind with
// equal IDs belong together. 0 means none.
type ID uint32

// IDOf folds a number into an ID: see [ID].
func IDOf(n int64) ID { return idOf(n) }

// idOf folds a number into 32 bits. Profilers count from 0 or 1, so nearly all
// numbers fit; the others are hashed into the upper half.
func idOf(n int64) ID {
	if n >= 0 && n < 1<<31 {
		return ID(n)
	}
	return 1<<31 | ID(uint64(n)*0x9e3779b97f4a7c15>>33)
}

// OpaqueGraph is the name of the activity for all work of one graph launch, if
// the profiler traced the graph as one event.
const OpaqueGraph = "[CUDA graph]"

// A DetailID is an index into the details of a trace: see [Trace.Detail].
type DetailID uint32

// A Detail has the launch properties of an Activity. Many launches share one.
type Detail struct {
	Grid, Block  [3]int64
	Registers    int64 // per thread; -1 if unknown
	SharedMemory int64 // bytes; -1 if unknown
	Bytes        int64 // bytes moved or set; -1 if unknown
	GraphID      int64 // of the CUDA graph that it belongs to; -1 if unknown
	Collective   Collective

	// Annotation is the name that the program gave to a part of a CUDA graph when it captured it, of work in
	// that part (mark_kernels of torch.cuda.graph), or 0.
	Annotation Sym

	// Node is an index of [Trace.GraphNodes] plus 1, or of [Trace.Stated] in a trace that has it; 0 if none is known.
	Node uint32
}

// A Collective has the properties that a communication kernel records.
type Collective struct {
	Name, Dtype, Group, Ranks Sym
	In, Out                   int64 // elements; -1 if unknown
	GroupSize                 int64 // ranks; -1 if unknown
}

// A CollectiveCall is what the profiler recorded of one collective beyond a
// [Collective]: on the operator record_param_comms, and since 2026 on its kernel.
type CollectiveCall struct {
	Start       int64 // ns: of the operator or kernel
	Dur         int64 // ns
	Seq         int64 // the collective's number in its group; -1 if unknown
	Correlation ID    // of the kernel; 0 on an operator
	External    ID    // of the operator; 0 on a kernel
	Track       TrackID
	Bytes       int64 // passed by one rank; 0 if unknown, or if Args has elements
	Args        Collective
	Comms       Sym // identifies the communicator on all its ranks, as written; 0 if unknown

	// The arguments of an operator as JSON; 0 on a kernel. Traces until 2024 have no
	// other description of a collective.
	Dims, Types, Concrete Sym
	Source, Target        int32 // ranks of a send or receive; -1 if unknown
}

// An Op is one run of an operator on the host.
type Op struct {
	Start, Dur int64 // ns
	External   ID
	Sequence   ID // shared by a forward operator and its backward; 0 if none
	Forward    ID // the thread of the forward pass; 0 on the forward operator itself
	Name       Sym
	Track      TrackID
	Shape      ShapeID
}

// A ShapeID is an index into the shapes of a trace: see [Trace.Shape].
type ShapeID uint32

// A Shape has the arguments of an operator, each as the JSON written by the
// profiler.
type Shape struct{ Dims, Types, Strides, Concrete, Kernel Sym }

// A Call is one call of a device's runtime or driver.
type Call struct {
	Start, Dur  int64 // ns
	Correlation ID
	External    ID
	Name        Sym
	Kernel      Sym // the kernel that it launches, if the profiler writes it (AMD); only with Select.Arguments
	Track       TrackID
	Kind        Kind // Runtime or Driver
}

// A CopySize is the number of bytes that a call asked to copy or set. AMD's
// profiler records it on the call instead of the copy.
type CopySize struct {
	Bytes       int64
	Correlation ID
}

// WaitsOnNothing is the stream of an event that was not recorded in the capture: what is waited for is before it, or nothing.
const WaitsOnNothing = -2

// A SyncRecord is what the profiler recorded of one synchronization beyond its [HostSpan]. PyTorch
// writes it if the experimental option enable_cuda_sync_events is set, Nsight Systems by default.
type SyncRecord struct {
	Start       int64   // ns
	WaitsOn     int64   // the stream whose event is waited for; -1 if unknown, or [WaitsOnNothing]
	Correlation ID      // of the call
	Record      ID      // the correlation of the cudaEventRecord that is waited for; 0 if unknown
	Name        Sym     // as written: "Stream Wait Event", "Event Sync"
	Track       TrackID // the device and the stream that waits
}

// A PythonCall is one run of a Python function or nn.Module.
type PythonCall struct {
	Start, Dur int64 // ns
	ID, Parent ID
	Name       Sym
	Track      TrackID
}

// A HostSpan is any other complete event: an annotation, a synchronization, or
// a span of a program that is not a profiler.
type HostSpan struct {
	Start, Dur int64 // ns
	External   ID
	Name       Sym
	Category   Sym
	Track      TrackID
	Kind       Kind
}

// A Mark is an event that has a meaning only together with others: the begin or
// end of a span (phases B and E, or b and e if spans of one track may overlap).
type Mark struct {
	Start    int64 // ns
	ID       ID    // pairs b with e
	Name     Sym
	Category Sym
	Track    TrackID
	Phase    byte
}

// A FlowEnd is one end of an arrow between events.
type FlowEnd struct {
	Start    int64 // ns
	ID       ID
	Track    TrackID
	Category Sym
	Phase    byte // s, t or f
}

// HostMemory is PyTorch's number for the type of device that is the CPU.
const HostMemory = 0

// A MemoryEvent is one allocation or release of memory by PyTorch.
type MemoryEvent struct {
	Start               int64 // ns
	Address             int64
	Bytes               int64 // negative when freed
	Allocated, Reserved int64 // total bytes after the change; -1 if unknown
	Track               TrackID
	Device              int32 // -1 if unknown
	DeviceType          int32 // as PyTorch numbers them: 0 CPU, 1 CUDA; -1 if unknown
}
