package summary

// The rows below describe where device work was launched: by which operator,
// module, source line and call of the host. Device work is linked to the call
// that launched it, and that call to the events that were open on its thread
// when it was made. Work without a link is part of every other table and of
// none of these; the issue "kernels-without-launch" counts it.
//
// "GPU" times are total GPU times, that is, sums over the durations of device
// work (kernels, copies, memsets), not elapsed time. "Self" is the work
// launched by an item itself; "total" adds the work launched by items nested in
// it. If an item is open twice, as in a recursion, the inner one does not count
// again, so the total of a name never exceeds the total GPU time.

// An Op represents all runs of one operator of the host (a cpu_op). (Input,
// Name) is its key.
type Op struct {
	Name       string `json:"name" row:"operator,name"`
	Input      int    `json:"input" row:"input"`
	Rank       int    `json:"rank" row:"rank"`
	Count      int64  `json:"count" row:"calls,sum"`                   // number of calls
	CPUSelfNS  int64  `json:"cpu_self_ns" row:"self CPU,sum"`          // host time outside of nested events
	CPUTotalNS int64  `json:"cpu_total_ns" row:"total CPU,sum,nested"` // host time
	GPUSelfNS  int64  `json:"gpu_self_ns" row:"self,sum,main"`
	GPUTotalNS int64  `json:"gpu_total_ns" row:"total,sum,nested,then,with=self"`
	Launched   int64  `json:"launched" row:"GPU operations,sum"` // GPU operations that it launched itself
	Shapes     int64  `json:"shapes,omitempty"`                  // number of distinct inputs; 0 if they were not recorded

	// TopShapes has the inputs with the most GPU time, largest first, at most MaxTopShapes.
	TopShapes []OpShape `json:"top_shapes,omitempty"`
}

// MaxTopShapes is the maximum number of shapes of an operator that are kept.
const MaxTopShapes = 3

// An OpShape represents all runs of an operator with inputs of the same
// dimensions and types, as written by the profiler.
type OpShape struct {
	Dims       string `json:"dims"`            // such as "[[32, 128], [128]]"
	Types      string `json:"types,omitempty"` // such as `["float", "float"]`
	Count      int64  `json:"count"`
	GPUSelfNS  int64  `json:"gpu_self_ns"`
	GPUTotalNS int64  `json:"gpu_total_ns"`
}

// A Module represents all runs of one nn.Module at one position in the tree of
// modules. (Input, Path) is its key; the parent's path is Path without its last
// part.
type Module struct {
	Path       string `json:"path" row:"module,name"` // such as "GPT_0/Block_3/Linear_7"
	Input      int    `json:"input" row:"input"`
	Rank       int    `json:"rank" row:"rank"`
	Count      int64  `json:"count" row:"calls,sum"` // calls
	CPUTotalNS int64  `json:"cpu_total_ns" row:"CPU time,sum,nested"`
	GPUSelfNS  int64  `json:"gpu_self_ns" row:"self,sum,main"` // forward and backward, outside of nested modules
	GPUTotalNS int64  `json:"gpu_total_ns" row:"total,sum,nested,then,with=self"`
	// BackwardNS is the part of GPUTotalNS launched by its backward pass.
	BackwardNS int64 `json:"backward_ns" row:"backward,sum,nested"`
}

// A Line is a Python function with its first line, or the line of the call, as
// written by the profiler. Self GPU time is attributed to the innermost
// function that does not belong to PyTorch or Python itself, if there is one,
// because that is the code that a user can change. (Input, File, Line,
// Function) is its key.
type Line struct {
	File       string `json:"file" row:"file,name"`
	Line       int    `json:"line" row:"number"`
	Function   string `json:"function" row:"function,name"`
	Input      int    `json:"input" row:"input"`
	Rank       int    `json:"rank" row:"rank"`
	Count      int64  `json:"count" row:"calls,sum"` // calls
	CPUTotalNS int64  `json:"cpu_total_ns" row:"CPU time,sum,nested"`
	GPUSelfNS  int64  `json:"gpu_self_ns" row:"self,sum,main"`
	GPUTotalNS int64  `json:"gpu_total_ns" row:"total,sum,nested,then,with=self"`
}

// An Annotation represents all runs of one user annotation (record_function,
// NVTX) of the host. Its GPU time is that of all work launched while it was
// open on the launching thread, whenever that work ran. For threads without
// annotations, such as autograd's, the annotations of the main thread are used.
type Annotation struct {
	Name       string `json:"name" row:"annotation,name"`
	Input      int    `json:"input" row:"input"`
	Rank       int    `json:"rank" row:"rank"`
	Count      int64  `json:"count" row:"calls,sum"`
	CPUTotalNS int64  `json:"cpu_total_ns" row:"CPU time,sum,nested"`
	GPUSelfNS  int64  `json:"gpu_self_ns" row:"self,sum,main"`
	GPUTotalNS int64  `json:"gpu_total_ns" row:"total,sum,nested,then,with=self"`
}

// A Pass is the device work of one part of training. (Input, Device, Name) is
// its key.
type Pass struct {
	Name   string `json:"name" row:"pass,name"` // "forward", "backward", "recompute", "optimizer", "other", or "unknown" without a call
	Input  int    `json:"input" row:"input"`
	Rank   int    `json:"rank" row:"rank"`
	Device int64  `json:"device" row:"device"`
	Count  int64  `json:"count" row:"GPU operations,sum"`
	GPUNS  int64  `json:"gpu_ns" row:"GPU time,sum,main"`
}

// A Call represents all calls of one function of the device's runtime or
// driver. (Input, Name) is its key.
type Call struct {
	Name    string `json:"name" row:"call,name"` // such as "cudaLaunchKernel"
	Kind    string `json:"kind" row:"kind"`      // "launch", "graph-launch", "copy", "memset", "sync", "alloc", "free" or "other"
	Input   int    `json:"input" row:"input"`
	Rank    int    `json:"rank" row:"rank"`
	Count   int64  `json:"count" row:"calls,sum"`
	TotalNS int64  `json:"total_ns" row:"total,sum,main"` // host time
	MaxNS   int64  `json:"max_ns" row:"max,max"`
	// Launched is the number of GPU operations that the calls launched.
	Launched int64 `json:"launched" row:"launches,sum"`
	// WaitNS is the part of TotalNS in calls that waited for a device: calls that synchronize, and copies
	// that had ended when their call returned. IdleNS is the part of WaitNS during which no device of the
	// input was busy. For the idle time that follows such waits see [Sync].
	WaitNS int64 `json:"wait_ns,omitempty" row:"waiting,sum"`
	IdleNS int64 `json:"idle_ns" row:"idle,sum"`
	// InSteps counts, for calls that allocate or free memory, those made within a step. A caching allocator
	// that is warmed up makes none.
	InSteps int64 `json:"in_steps,omitempty" row:"calls in steps,sum"`
}

// Launches describes how the work of one device was launched. (Input, Device)
// is its key.
type Launches struct {
	Input    int   `json:"input"`
	Rank     int   `json:"rank"`
	Device   int64 `json:"device"`
	Launched int64 `json:"launched"` // GPU operations with a known call
	Without  int64 `json:"without"`  // GPU operations without a known call
	// WithoutNS is their total time. This work is in no table of operators,
	// modules or lines.
	WithoutNS int64 `json:"without_ns,omitempty"`
	// BeforeNS is the part of WithoutNS in work that ran before the first work of its stream with a known
	// call: it was queued when the capture began. Before counts this work. OtherNS is the part of BeforeNS
	// with names that no launched work has, so that it is of another part of the program.
	BeforeNS int64 `json:"before_ns,omitempty"`
	Before   int64 `json:"before,omitempty"`
	OtherNS  int64 `json:"before_other_ns,omitempty"`
	// Slow counts the launch calls of kernels that take 1 ms and longer, SlowAgain those of them whose kernel
	// had been launched before, so that they load no code.
	Slow      int64 `json:"slow_launches,omitempty"`
	SlowAgain int64 `json:"slow_launches_again,omitempty"`
	// CallsLost counts the kernels without a known call that were launched during the capture, because an
	// operator that launched them was recorded or because they follow launched work on their stream. Their
	// launches are missing from Calls and PerStep.
	CallsLost int64 `json:"calls_lost,omitempty"`
	Calls     int64 `json:"calls"` // calls that launched them; fewer if graphs were launched
	// Delays has, for each GPU operation with a call, the time from the call's
	// end to the operation's start, or 0 if it started before.
	Delays Histogram `json:"delays"`
	// Short counts the kernels under ShortKernelNS, ShortNS is their total
	// time.
	Short   int64 `json:"short_kernels"`
	ShortNS int64 `json:"short_kernels_ns"`
	// Long counts the kernels of ShortKernelNS and longer with a launch call of their own, Held those of
	// them that ran within this call: it returned only when its kernel had ended.
	Long int64 `json:"long_kernels,omitempty"`
	Held int64 `json:"held_kernels,omitempty"`
	// PerStep is the number of launching calls in each step that has a row, in
	// the order of the steps.
	PerStep []int64 `json:"per_step,omitempty"`
	// HostEvents counts the operators, annotated ranges and runtime calls that PyTorch's profiler recorded
	// within the device's window on the threads that launch its work, HostEventsPerStep those in each step
	// of PerStep. Each costs the host time while the profiler runs: see package profilercost.
	HostEvents        int64   `json:"host_events,omitempty"`
	HostEventsPerStep []int64 `json:"host_events_per_step,omitempty"`

	// Queue has the time in ns during which the queue had each length. The length is the number of GPU
	// operations whose call had begun and that had not started. It covers the device's window.
	Queue []QueueDepth `json:"queue,omitempty"`
	// QueueStrip has the mean queue length in each bin of the device's strip, in thousandths of an
	// operation.
	QueueStrip []int64 `json:"queue_strip,omitempty"`
}

// SlowLaunchNS is the duration of a launch call from which it counts as slow.
const SlowLaunchNS = 1_000_000

// ShortKernelNS is the duration below which a kernel counts as short. It is about the time of one launch,
// so a program that runs only short kernels cannot keep the GPU busy.
const ShortKernelNS = 10_000

// A QueueDepth is the time during which the queue length was at least From and
// less than the next row's From.
type QueueDepth struct {
	From int64 `json:"from"` // 0, 1, 2, 4, 8, ...
	NS   int64 `json:"ns"`
}

// A Graph represents all launches of one CUDA or HIP graph. Launches belong to the same graph if they ran
// the same sequence of GPU operations. (Input, Device, ID) is its key.
type Graph struct {
	ID       int64  `json:"id"` // in the order of first launch, from 1
	Input    int    `json:"input"`
	Rank     int    `json:"rank"`
	Device   int64  `json:"device"`   // -1 if it is unknown
	Call     string `json:"call"`     // such as "cudaGraphLaunch"
	First    string `json:"first"`    // name of its first GPU operation
	Launches int64  `json:"launches"` // number of launches
	Nodes    int64  `json:"nodes"`    // GPU operations in the largest launch
	WorkNS   int64  `json:"work_ns"`  // total time of all of them
	SpanNS   int64  `json:"span_ns"`  // sum over launches from first start to last end
	IdleNS   int64  `json:"idle_ns"`  // part of SpanNS during which the device was idle
	DelayNS  int64  `json:"delay_ns"` // sum over launches from call's end to first start, 0 if before
	Opaque   bool   `json:"opaque"`   // traced as one event; Nodes and IdleNS are undefined
	CallNS   int64  `json:"call_ns"`  // host time of the launching calls
}
