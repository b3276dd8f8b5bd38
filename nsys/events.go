package nsys

import (
	"strings"

	"github.com/tidwall/gjson"

	"assay/internal/diag"
)

// This file converts the older form of JSON exports, which has events instead of rows. The
// Type of an event determines the table of newer exports to which it belongs. Its values are
// in one or two nested objects; 64-bit integers are strings.

// eventColumns maps a column of a table to the path of its value in an event.
type eventColumns map[string]string

var (
	deviceWork = eventColumns{
		"start": "CudaEvent.startNs", "end": "CudaEvent.endNs", "deviceid": "CudaEvent.deviceId", "streamid": "CudaEvent.streamId",
		"correlationid": "CudaEvent.correlationId", "globalpid": "CudaEvent.globalPid", "contextid": "CudaEvent.contextId",
	}
	apiCall = eventColumns{
		"start": "TraceProcessEvent.startNs", "end": "TraceProcessEvent.endNs", "eventclass": "TraceProcessEvent.eventClass",
		"globaltid": "TraceProcessEvent.globalTid", "correlationid": "TraceProcessEvent.correlationId", "nameid": "TraceProcessEvent.name",
	}
	nvtxEvent = eventColumns{
		"start": "NvtxEvent.Timestamp", "end": "NvtxEvent.EndTimestamp", "eventtype": "NvtxEvent.Type", "text": "NvtxEvent.Text",
		"textid": "NvtxEvent.TextId", "globaltid": "NvtxEvent.GlobalTid", "endglobaltid": "NvtxEvent.EndGlobalTid", "domainid": "NvtxEvent.DomainId",
	}
)

// An eventKind describes how events of one kind become rows: their table, and the paths of
// the columns that are not in deviceWork.
type eventKind struct {
	has     string // the member that identifies the kind
	table   string
	common  eventColumns
	columns eventColumns
}

var eventKinds = []eventKind{
	{"CudaEvent.kernel", "CUPTI_ACTIVITY_KIND_KERNEL", deviceWork, eventColumns{
		"demangledname": "CudaEvent.kernel.demangledName", "shortname": "CudaEvent.kernel.shortName", "graphnodeid": "CudaEvent.graphNodeId"}},
	{"CudaEvent.memcpy", "CUPTI_ACTIVITY_KIND_MEMCPY", deviceWork, eventColumns{
		"bytes": "CudaEvent.memcpy.sizebytes", "copykind": "CudaEvent.memcpy.copyKind", "srckind": "CudaEvent.memcpy.srcKind",
		"dstkind": "CudaEvent.memcpy.dstKind", "graphnodeid": "CudaEvent.graphNodeId"}},
	{"CudaEvent.memset", "CUPTI_ACTIVITY_KIND_MEMSET", deviceWork, eventColumns{
		"bytes": "CudaEvent.memset.sizebytes", "memkind": "CudaEvent.memset.memKind", "graphnodeid": "CudaEvent.graphNodeId"}},
	{"CudaEvent.sync", "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", deviceWork, eventColumns{
		"synctype": "CudaEvent.sync.syncType", "eventid": "CudaEvent.sync.eventId", "eventsyncid": "CudaEvent.sync.eventSyncId"}},
	{"CudaEvent.cudaEventRecord", "CUPTI_ACTIVITY_KIND_CUDA_EVENT", deviceWork, eventColumns{
		"eventid": "CudaEvent.cudaEventRecord.eventId", "eventsyncid": "CudaEvent.cudaEventRecord.eventSyncId"}},
	{"TraceProcessEvent", "", apiCall, nil},
	{"NvtxEvent", "NVTX_EVENTS", nvtxEvent, nil},
}

// classTables maps the eventClass of a call to its table.
var classTables = map[int64]string{
	0: "CUPTI_ACTIVITY_KIND_RUNTIME", driverClass: "CUPTI_ACTIVITY_KIND_RUNTIME", backtraceClass: "CUPTI_ACTIVITY_KIND_RUNTIME",
	27: "OSRT_API", 28: "CUDNN_EVENTS", 29: "CUBLAS_EVENTS",
}

// syncNames are the names of syncType in the older form; the index is the number that newer
// exports write.
var syncNames = []string{
	"SYNCHRONIZATION_TYPE_UNKNOWN", "SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE", "SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT",
	"SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE", "SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE",
}

// event adds one event of the older form.
func (r *jsonReader) event(object gjson.Result) {
	r.good++
	for i := range eventKinds {
		k := &eventKinds[i]
		if !object.Get(k.has).Exists() {
			continue
		}
		table := k.table
		if table == "" {
			table = classTables[integerOf(object.Get("TraceProcessEvent.eventClass"))]
		}
		t := r.rowBuffer.table(table)
		if t == nil {
			return
		}
		if ns := object.Get("NvtxEvent.NsTime"); ns.Type == gjson.False {
			r.issue("time-unit-unknown", diag.DataLoss, "")
			return
		}
		r.fill(object, t, k)
		return
	}
}

func (r *jsonReader) fill(object gjson.Result, t *bufferedTable, k *eventKind) {
	row := r.rowBuffer.row(t)
	for _, columns := range []eventColumns{k.common, k.columns} {
		for column, path := range columns {
			at, ok := t.index[column]
			value := object.Get(path)
			switch {
			case !ok || !value.Exists():
			case column == "text":
				row[at] = r.rowBuffer.text(t, value.String())
			case column == "synctype":
				row[at] = number(syncType(value))
			default:
				row[at] = number(integerOf(value))
			}
		}
	}
}

// integerOf returns an integer that is written as a number or as a string.
func integerOf(value gjson.Result) int64 {
	if value.Type == gjson.String {
		return integer(value.Str)
	}
	return integer(value.Raw)
}

// syncType returns the syncType of newer exports for a kind of synchronization.
func syncType(value gjson.Result) int64 {
	for i, name := range syncNames {
		if strings.EqualFold(value.Str, name) {
			return int64(i)
		}
	}
	return integerOf(value)
}
