package nsys

import "assay/trace"

// A table is one table of an export and what becomes of its rows.
type table struct {
	name    string
	columns []string
	kinds   trace.Kinds // that its rows may become; it is not read where none is wanted
	add     func(*loader, row)
}

func (t *table) wanted(out *trace.Assembler) bool {
	for k := range trace.Kind(32) {
		if t.kinds.Has(k) && out.Wants(k) {
			return true
		}
	}
	return false
}

// tables are read in this order: device work first, so that a limit that ends
// the reading costs the least.
//
// The columns are those of schema 3.30.1 (2026.5) that are of use; each add
// names them by their index. Older exports have fewer. Of columns that are
// written a|b the first that is there is read.
var tables = []table{
	{"CUPTI_ACTIVITY_KIND_KERNEL",
		[]string{"start", "end", "deviceId", "streamId", "correlationId", "globalPid", "demangledName|shortName", "graphNodeId"},
		trace.Of(trace.Kernel), (*loader).kernel},
	{"CUPTI_ACTIVITY_KIND_MEMCPY",
		[]string{"start", "end", "deviceId", "streamId", "correlationId", "globalPid", "copyKind", "graphNodeId", "bytes", "srcKind", "dstKind"},
		trace.Of(trace.Memcpy), (*loader).memcpy},
	{"CUPTI_ACTIVITY_KIND_MEMSET",
		[]string{"start", "end", "deviceId", "streamId", "correlationId", "globalPid", "memKind", "graphNodeId", "bytes"},
		trace.Of(trace.Memset), (*loader).memset},
	{"CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
		[]string{"start", "end", "deviceId", "streamId", "correlationId", "globalPid", "graphId"},
		trace.Of(trace.Kernel), (*loader).graph},
	{"CUPTI_ACTIVITY_KIND_RUNTIME",
		[]string{"start", "end", "eventClass", "globalTid", "correlationId", "nameId"},
		trace.Of(trace.Runtime, trace.Driver), (*loader).call},
	{"NVTX_EVENTS",
		[]string{"start", "end", "eventType", "text", "globalTid", "endGlobalTid", "textId", "domainId", "jsonText"},
		trace.Of(trace.Annotation, trace.CPUOp), (*loader).nvtx},
	{"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
		[]string{"start", "end", "deviceId", "streamId", "correlationId", "globalPid", "syncType"},
		trace.Of(trace.Sync), (*loader).sync},
	{"OSRT_API", []string{"start", "end", "globalTid", "nameId", "eventClass"}, trace.Of(trace.OSCall), (*loader).osrt},
	{"CUDNN_EVENTS", []string{"start", "end", "globalTid", "nameId"}, trace.Of(trace.OtherKind), (*loader).callOfLibrary},
	{"CUBLAS_EVENTS", []string{"start", "end", "globalTid", "nameId"}, trace.Of(trace.OtherKind), (*loader).callOfLibrary},
	{"CUDA_GRAPH_EVENTS", []string{"start", "end", "globalTid", "nameId", "graphNodeId", "originalGraphNodeId"}, trace.Of(trace.OtherKind), (*loader).nodeMade},
	{"CUDA_GRAPH_NODE_EVENTS", []string{"start", "end", "globalTid", "nameId", "graphNodeId", "originalGraphNodeId"}, trace.Of(trace.OtherKind), (*loader).nodeMade},
	{"PROFILER_OVERHEAD", []string{"start", "end", "globalTid", "nameId"}, trace.Of(trace.Overhead), (*loader).overhead},
	{"CUPTI_ACTIVITY_KIND_OVERHEAD", []string{"start", "end", "globalTid", "nameId"}, trace.Of(trace.Overhead), (*loader).overhead},
	{"SCHED_EVENTS", []string{"start", "isSchedIn", "globalTid"}, trace.Of(trace.OffCPU), (*loader).sched},
}

// deviceTables are those with work of devices.
var deviceTables = map[string]bool{
	"CUPTI_ACTIVITY_KIND_KERNEL": true, "CUPTI_ACTIVITY_KIND_MEMCPY": true, "CUPTI_ACTIVITY_KIND_MEMSET": true, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE": true,
}

// The kinds of copies, by copyKind, as PyTorch's profiler writes them.
var copyKinds = [...]string{
	"Unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD", "DtoA", "DtoD", "HtoH", "PtoP", "UVM HtoD", "UVM DtoH", "UVM DtoD",
}

// The kinds of memory, by srcKind, dstKind and memKind.
var memoryKinds = [...]string{
	"Pageable", "Pinned", "Device", "Array", "Managed", "Device Static", "Managed Static", "Unknown",
}

// The kinds of synchronization as the device sees them, by syncType.
var syncTypes = [...]string{"Unknown Sync", "Event Sync", "Stream Wait Event", "Stream Sync", "Context Sync"}

// The events of NVTX, by eventType. Those of NVTXT, which come from text files,
// are 64 and up.
const (
	nvtxRange      = 59 // pushed and popped
	nvtxStartEnd   = 60
	nvtxtRange     = 70
	nvtxtStartEnd  = 71
	nvtxNameThread = 39
	nvtxDomain     = 75 // the creation of a domain
)

// graphNode is the column that says which node of a graph did the work. It is
// null throughout where no graph was launched.
const graphNode = "graphNodeId"

// noStream is the streamId of what is on no stream.
const noStream = 1<<32 - 1

// The eventClass of calls.
const (
	osStartClass   = 31 // among those of the operating system: the profiler began to record them,
	osFinishClass  = 32 // and ended
	driverClass    = 1
	backtraceClass = 67 // the call stack of a call that has a row of its own
)
