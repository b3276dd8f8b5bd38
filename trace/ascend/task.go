package ascend

import (
	"slices"
	"strings"

	"assay/internal/lazyregexp"
	"assay/trace"
)

// controls begin the names of tasks that do no work: they record events of streams or wait for those of others, or are of
// the profiler.
var controls = []string{"EVENT_", "NOTIFY_", "Notify_", "CAPTURE_", "WRITE_VALUE", "WAIT_VALUE", "VALUE_WAIT", "MODEL_", "PROFILING_",
	"PLACE_HOLDER", "STREAM_", "LABEL_", "COND_", "MAINTENANCE", "FFTS_PLUS", "PROFILER_", "BARRIER", "CMO_", "NOP"}

// copies begin the names of tasks that copy or set memory.
var copies = []struct {
	name string
	kind trace.Kind
}{{"MEMCPY", trace.Memcpy}, {"SDMA", trace.Memcpy}, {"PCIE_DMA", trace.Memcpy}, {"MEMSET", trace.Memset}}

// Names of tasks that number their instances: hcom_allReduce__501_3_1 is of the communicator 501, trans_Cast_7 and Cast66
// are nodes of a graph. A number after V is a version of the operator.
var (
	collectiveTask = lazyregexp.New(`^(hcom_[A-Za-z]+)_*(?:_(\d+)_\d+(?:_\d+)?)?(?:@.*)?$`)
	version        = lazyregexp.New(`[a-z]V\d$`)
	nodeTask       = lazyregexp.New(`^(?:trans_)?([A-Z][A-Za-z0-9]*?(?:V\d)?|[A-Z][A-Za-z]*\dD)_?\d+(_MemSet)?$`)
)

// taskOf says what a task is, by its name and the type of its operator, which is "" in traces.
func taskOf(name, operator string) trace.Meaning {
	for _, c := range copies {
		if strings.HasPrefix(name, c.name) {
			return trace.Meaning{Kind: c.kind, Name: name}
		}
	}
	if slices.ContainsFunc(controls, func(w string) bool { return strings.HasPrefix(name, w) }) {
		return trace.Meaning{Kind: trace.Sync, Name: name}
	}
	if m := collectiveTask().FindStringSubmatch(name); m != nil {
		return trace.Meaning{Kind: trace.Kernel, Name: m[1], Collective: strings.ToLower(strings.TrimPrefix(m[1], "hcom_")), Group: m[2]}
	}
	if strings.HasPrefix(name, "hcom_") || strings.HasPrefix(name, "HcclA") {
		return trace.Meaning{Kind: trace.Kernel, Name: name, Collective: "other"}
	}
	if m := nodeTask().FindStringSubmatch(name); m != nil && operator == "" && !version().MatchString(name) {
		name = m[1] + m[2]
	} else if operator != "" && !strings.HasPrefix(name, "aclnn") {
		name = operator
	}
	return trace.Meaning{Kind: trace.Kernel, Name: name}
}
