package summary

// The rows below say where device work came from: which operator, module,
// source line and call of the host offered it. Device work is linked to the
// call that launched it, and that call to what was open on its thread when it
// was made. Work that cannot be linked is in every other table and in none of
// these; the issue "kernels-without-launch" counts it.
//
// "GPU" times are sums of durations of device work (kernels, copies, memsets):
// work, not wall. "Self" is what an item launched itself, "total" adds what
// was launched inside it; of an item that is open twice, as in a recursion, the
// inner one does not count again, so totals of one name never exceed what there is.

// An Op is every run of one operator of the host (a cpu_op). (Input, Name) is
// its key.
type Op struct {
	Name       string `json:"name"`
	Input      int    `json:"input"`
	Rank       int    `json:"rank"`
	Count      int64  `json:"count"`        // runs
	CPUSelfNS  int64  `json:"cpu_self_ns"`  // host time outside of the events inside it
	CPUTotalNS int64  `json:"cpu_total_ns"` // host time
	GPUSelfNS  int64  `json:"gpu_self_ns"`
	GPUTotalNS int64  `json:"gpu_total_ns"`
	Launched   int64  `json:"launched"`         // pieces of device work that it launched itself
	Shapes     int64  `json:"shapes,omitempty"` // distinct inputs it was called with, where recorded

	// TopShapes has the inputs with the most GPU time, at most MaxTopShapes.
	TopShapes []OpShape `json:"top_shapes,omitempty"`
}

// MaxTopShapes is how many shapes of an operator are kept one by one.
const MaxTopShapes = 3

// An OpShape is every run of an operator with inputs of the same dimensions and
// types, as the profiler wrote them.
type OpShape struct {
	Dims       string `json:"dims"`            // as "[[32, 128], [128]]"
	Types      string `json:"types,omitempty"` // as `["float", "float"]`
	Count      int64  `json:"count"`
	GPUSelfNS  int64  `json:"gpu_self_ns"`
	GPUTotalNS int64  `json:"gpu_total_ns"`
}

// A Module is every run of one nn.Module at one place in the tree of modules.
// (Input, Path) is its key; the parent's path is Path less its last part.
type Module struct {
	Path       string `json:"path"` // as "GPT_0/Block_3/Linear_7"
	Input      int    `json:"input"`
	Rank       int    `json:"rank"`
	Count      int64  `json:"count"` // calls
	CPUTotalNS int64  `json:"cpu_total_ns"`
	GPUSelfNS  int64  `json:"gpu_self_ns"` // forward and backward, outside of modules inside it
	GPUTotalNS int64  `json:"gpu_total_ns"`
	// BackwardNS is the part of GPUTotalNS that its backward pass launched.
	BackwardNS int64 `json:"backward_ns"`
}

// A Line is a Python function by the line it starts at, or that of the call, as
// the profiler wrote it. GPU time counts as self at the innermost function that
// is not PyTorch's or Python's own, if there is one: that is the line to change.
// (Input, File, Line, Function) is its key.
type Line struct {
	File       string `json:"file"`
	Line       int    `json:"line"`
	Function   string `json:"function"`
	Input      int    `json:"input"`
	Rank       int    `json:"rank"`
	Count      int64  `json:"count"` // calls
	CPUTotalNS int64  `json:"cpu_total_ns"`
	GPUSelfNS  int64  `json:"gpu_self_ns"`
	GPUTotalNS int64  `json:"gpu_total_ns"`
}

// An Annotation is every run of one user annotation (record_function, NVTX) of
// the host. GPU time is that of all work launched while it was open on its
// thread, or, for threads that have none of their own such as autograd's, on
// the main thread, whenever that work ran.
type Annotation struct {
	Name       string `json:"name"`
	Input      int    `json:"input"`
	Rank       int    `json:"rank"`
	Count      int64  `json:"count"`
	CPUTotalNS int64  `json:"cpu_total_ns"`
	GPUSelfNS  int64  `json:"gpu_self_ns"`
	GPUTotalNS int64  `json:"gpu_total_ns"`
}

// A Pass is the device work of one part of training. (Input, Device, Name) is
// its key.
type Pass struct {
	Name   string `json:"name"` // "forward", "backward", "recompute", "optimizer", "other", or "unknown" without a call
	Input  int    `json:"input"`
	Rank   int    `json:"rank"`
	Device int64  `json:"device"`
	Count  int64  `json:"count"`
	GPUNS  int64  `json:"gpu_ns"`
}

// A Call is every call of one function of the device's runtime or driver.
// (Input, Name) is its key.
type Call struct {
	Name    string `json:"name"` // as "cudaLaunchKernel"
	Kind    string `json:"kind"` // "launch", "graph-launch", "copy", "memset", "sync", "alloc", "free" or "other"
	Input   int    `json:"input"`
	Rank    int    `json:"rank"`
	Count   int64  `json:"count"`
	TotalNS int64  `json:"total_ns"` // host time
	MaxNS   int64  `json:"max_ns"`
	// Launched is how many pieces of device work the calls launched.
	Launched int64 `json:"launched"`
	// WaitNS is the part of TotalNS of calls that waited for a device: those that
	// synchronize, and copies that had ended when their call returned. IdleNS is
	// the part of that in which no device of the input was busy. For what waiting
	// cost after it was over see [Sync].
	WaitNS int64 `json:"wait_ns,omitempty"`
	IdleNS int64 `json:"idle_ns"`
	// InSteps counts, of calls that take or return memory, those made within a
	// step: a caching allocator needs none there once it is warm.
	InSteps int64 `json:"in_steps,omitempty"`
}

// Launches says how the work of one device was launched. (Input, Device) is its
// key.
type Launches struct {
	Input    int   `json:"input"`
	Rank     int   `json:"rank"`
	Device   int64 `json:"device"`
	Launched int64 `json:"launched"` // pieces of work that a call is known for
	Without  int64 `json:"without"`  // pieces of work without
	// WithoutNS is the sum of their durations: work that no table of operators,
	// modules or lines has.
	WithoutNS int64 `json:"without_ns,omitempty"`
	Calls     int64 `json:"calls"` // calls that launched them; fewer where graphs were launched
	// Delays has, for each piece with a call, the time from the call's end to its
	// start, 0 if it started before.
	Delays Histogram `json:"delays"`
	// Short counts the kernels under ShortKernelNS, ShortNS sums them.
	Short   int64 `json:"short_kernels"`
	ShortNS int64 `json:"short_kernels_ns"`
	// PerStep is the number of launching calls in each step that has a row, in
	// their order.
	PerStep []int64 `json:"per_step,omitempty"`

	// Queue says how long the queue had which depth: pieces of work whose call had
	// begun and that had not started. It covers the device's window.
	Queue []QueueDepth `json:"queue,omitempty"`
	// QueueStrip has the mean depth in each bin of the device's strip, in
	// thousandths.
	QueueStrip []int64 `json:"queue_strip,omitempty"`
}

// ShortKernelNS is the duration below which a kernel counts as short: about
// what it takes to launch one, so a program of short kernels waits for its host.
const ShortKernelNS = 10_000

// A QueueDepth is the time that a queue was From or more deep and less than the
// next row's From.
type QueueDepth struct {
	From int64 `json:"from"` // 0, 1, 2, 4, 8, ...
	NS   int64 `json:"ns"`
}

// A Graph is every launch of one CUDA or HIP graph: launches that ran the same
// sequence of work. (Input, Device, ID) is its key.
type Graph struct {
	ID       int64  `json:"id"` // in the order of first launch, from 1
	Input    int    `json:"input"`
	Rank     int    `json:"rank"`
	Device   int64  `json:"device"`   // -1 if it is not known which
	Call     string `json:"call"`     // as "cudaGraphLaunch"
	First    string `json:"first"`    // name of its first piece of work
	Launches int64  `json:"launches"` // times it was launched
	Nodes    int64  `json:"nodes"`    // pieces of work in the largest launch
	WorkNS   int64  `json:"work_ns"`  // sum of the durations of all of them
	SpanNS   int64  `json:"span_ns"`  // sum over launches of first start to last end
	IdleNS   int64  `json:"idle_ns"`  // part of SpanNS in which the device was idle
	DelayNS  int64  `json:"delay_ns"` // sum over launches of call's end to first start, 0 if before
	Opaque   bool   `json:"opaque"`   // its inside was not recorded; Nodes, IdleNS mean nothing
	CallNS   int64  `json:"call_ns"`  // host time of the launching calls
}
