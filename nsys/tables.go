package nsys

import "assay/trace"

// A table is one table of an export, with the function that handles a row.
type table struct {
	name    string
	columns []string
	kinds   trace.Kinds // of the events that its rows become; the table is skipped if none is selected
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

// tables are read in this order: device work first, because it is the most
// important if a limit ends the reading.
//
// The columns are the useful ones of schema 3.30.1 (2026.5); each function refers
// to them by index. Older exports have fewer. "a|b" means column a or, if the table
// does not have it, column b.
var tables = []table{
	{"CUPTI_ACTIVITY_KIND_KERNEL",
		[]string{"start", "end", "deviceId", "streamId", "correlationId", "globalPid", "demangledName|shortName", "graphNodeId", "registersPerThread",
			"gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ", "staticSharedMemory", "dynamicSharedMemory"},
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
	{"CUPTI_ACTIVITY_KIND_CUDA_EVENT",
		[]string{"deviceId", "streamId", "correlationId", "globalPid", "contextId", "eventId", "eventSyncId"},
		trace.Of(trace.Sync), (*loader).eventRecorded},
	{"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
		[]string{"start", "end", "deviceId", "streamId", "correlationId", "globalPid", "syncType", "contextId", "eventId", "eventSyncId"},
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

// deviceTables are the tables of device work.
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

// The kinds of synchronization as the device sees them, by syncType of newer exports.
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

// graphNode is the column with the graph node that did the work. It is null in all
// rows if no graph was launched.
const graphNode = "graphNodeId"

// noStream is the streamId of a row that is not on a stream.
const noStream = 1<<32 - 1

// The eventClass of calls.
const (
	osStartClass   = 31 // not a call: the profiler began to record calls of the operating system
	osFinishClass  = 32 // not a call: it stopped recording them
	driverClass    = 1
	backtraceClass = 67 // the call stack of a call that has a row of its own
)
