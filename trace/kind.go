package trace

import "strings"

// A Kind classifies an event by its category. Profilers renamed their
// categories over the years; the Kind is the same for all versions.
type Kind uint8

// The kinds. OtherKind is every category that has no row in kindOfCategory.
const (
	OtherKind Kind = iota
	CPUOp
	Annotation    // record_function, ProfilerStep, NVTX on the host
	GPUAnnotation // the time on a device of the work launched within an annotation
	Runtime       // a call of the runtime of CUDA, HIP or another device
	Driver        // a call of the CUDA driver
	Python        // a Python function or nn.Module call
	Kernel
	Memcpy
	Memset
	Sync     // a synchronization as recorded on the device
	Overhead // of the profiler itself
	Instant  // [memory] and other points on the host
	Flow     // an arrow between two events
	Span     // the profiler's own bookkeeping: "Trace"
	OSCall   // a call of the operating system or the C library
	OffCPU   // time during which a thread did not run on any core
	kinds
)

// kindOfCategory maps lower-case categories to kinds. In 2022 and before,
// Kineto wrote Kernel, Runtime, Memcpy, Memset and Operator.
var kindOfCategory = map[string]Kind{
	"cpu_op":              CPUOp,
	"operator":            CPUOp,
	"user_annotation":     Annotation,
	"gpu_user_annotation": GPUAnnotation,
	"cuda_runtime":        Runtime,
	"runtime":             Runtime,
	"xpu_runtime":         Runtime,
	"mtia_runtime":        Runtime,
	"glow_runtime":        Runtime,
	"privateuse1_runtime": Runtime,
	"cuda_driver":         Driver,
	"xpu_driver":          Driver,
	"privateuse1_driver":  Driver,
	"python_function":     Python,
	"kernel":              Kernel,
	"gpu_memcpy":          Memcpy,
	"memcpy":              Memcpy,
	"gpu_memset":          Memset,
	"memset":              Memset,
	"cuda_sync":           Sync,
	"xpu_sync":            Sync,
	"cuda_event":          Sync,
	"overhead":            Overhead,
	"cpu_instant_event":   Instant,
	"ac2g":                Flow,
	"fwdbwd":              Flow,
	"async_cpu_to_gpu":    Flow,
	"async_gpu":           Flow,
	"trace":               Span,
}

// KindOf returns the kind of a category, in any letter case.
func KindOf(category []byte) Kind {
	switch string(category) { // frequent categories, several times faster than the map
	case "cpu_op":
		return CPUOp
	case "python_function":
		return Python
	case "cuda_runtime":
		return Runtime
	case "ac2g", "fwdbwd":
		return Flow
	case "kernel":
		return Kernel
	case "":
		return OtherKind
	}
	if k, ok := kindOfCategory[string(category)]; ok {
		return k
	}
	return kindOfCategory[strings.ToLower(string(category))]
}

// kindNames has the category that current profilers write for each kind.
var kindNames = [kinds]string{
	CPUOp: "cpu_op", Annotation: "user_annotation", GPUAnnotation: "gpu_user_annotation", Runtime: "cuda_runtime",
	Driver: "cuda_driver", Python: "python_function", Kernel: "kernel", Memcpy: "gpu_memcpy", Memset: "gpu_memset",
	Sync: "cuda_sync", Overhead: "overhead", Instant: "cpu_instant_event", Flow: "ac2g", Span: "Trace", OtherKind: "other",
	OSCall: "osrt", OffCPU: "sched",
}

// String returns the category that current profilers write for k.
func (k Kind) String() string { return kindNames[k] }

// OnDevice reports whether events of kind k are work on a device.
func (k Kind) OnDevice() bool { return k == Kernel || k == Memcpy || k == Memset }

// Kinds is a set of kinds.
type Kinds uint32

// Every is the set of all kinds.
const Every Kinds = 1<<kinds - 1

// Of returns the set of the given kinds.
func Of(ks ...Kind) (set Kinds) {
	for _, k := range ks {
		set |= 1 << k
	}
	return set
}

// Without returns the set without the given kinds.
func (s Kinds) Without(ks ...Kind) Kinds { return s &^ Of(ks...) }

// Has reports whether k is in the set.
func (s Kinds) Has(k Kind) bool { return s&(1<<k) != 0 }
