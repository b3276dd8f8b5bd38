package nsys

import (
	"strings"

	"github.com/tidwall/gjson"

	"assay/internal/diag"
)

// The older form in JSON has events instead of rows. The Type of an event gives the
// table that newer exports have it in. Its values are in one or two nested objects of
// a few shapes. Integers of 64 bits are strings there.

// eventColumns are the columns of the tables and where an event has each.
type eventColumns map[string]string

var (
	deviceWork = eventColumns{
		"start": "CudaEvent.startNs", "end": "CudaEvent.endNs", "deviceid": "CudaEvent.deviceId", "streamid": "CudaEvent.streamId",
		"correlationid": "CudaEvent.correlationId", "globalpid": "CudaEvent.globalPid",
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

// An eventKind is what becomes of events: the table whose rows they are and
// where the columns are that deviceWork does not have.
type eventKind struct {
	has     string // the member that tells the kind
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
	{"CudaEvent.sync", "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", deviceWork, eventColumns{"synctype": "CudaEvent.sync.syncType"}},
	{"TraceProcessEvent", "", apiCall, nil},
	{"NvtxEvent", "NVTX_EVENTS", nvtxEvent, nil},
}

// classTables has the tables of calls by their eventClass.
var classTables = map[int64]string{
	0: "CUPTI_ACTIVITY_KIND_RUNTIME", driverClass: "CUPTI_ACTIVITY_KIND_RUNTIME", backtraceClass: "CUPTI_ACTIVITY_KIND_RUNTIME",
	27: "OSRT_API", 28: "CUDNN_EVENTS", 29: "CUBLAS_EVENTS",
}

// syncNames are the values of syncType in the older form, in its order.
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
		t := r.memory.table(table)
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

func (r *jsonReader) fill(object gjson.Result, t *kept, k *eventKind) {
	row := r.memory.row(t)
	for _, columns := range []eventColumns{k.common, k.columns} {
		for column, path := range columns {
			at, ok := t.index[column]
			value := object.Get(path)
			switch {
			case !ok || !value.Exists():
			case column == "text":
				row[at] = r.memory.text(t, value.String())
			case column == "synctype":
				row[at] = number(syncType(value))
			default:
				row[at] = number(integerOf(value))
			}
		}
	}
}

// integerOf returns the number that a value is, or that its text is.
func integerOf(value gjson.Result) int64 {
	if value.Type == gjson.String {
		return integer(value.Str)
	}
	return integer(value.Raw)
}

// syncType returns the number of a kind of synchronization.
func syncType(value gjson.Result) int64 {
	for i, name := range syncNames {
		if strings.EqualFold(value.Str, name) {
			return int64(i)
		}
	}
	return integerOf(value)
}
