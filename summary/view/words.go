package view

import (
	"assay/internal/label"
	"assay/summary"
)

// ownerWords has the display names of causes of idle time, by their ids.
var ownerWords = map[string]string{
	summary.OwnerHost:        "host wait",
	summary.OwnerLaunch:      "launch latency",
	summary.OwnerBetween:     "kernel wait",
	summary.OwnerDependency:  "dependency wait",
	summary.OwnerNeighbor:    "work on another GPU",
	summary.OwnerNothing:     "profiler overhead",
	summary.OwnerNotRecorded: "GPU work not recorded",
	summary.OwnerOpaque:      "CUDA graph without node trace",
	summary.OwnerUnknown:     "unattributed",
}

// stateWords has the display names of states of the launching thread, by their ids.
var stateWords = map[string]string{
	summary.StateSync:       "synchronization",
	summary.StateCopy:       "memory copy call",
	summary.StateAlloc:      "cudaMalloc/cudaFree",
	summary.StateLaunch:     "other launch",
	summary.StateCall:       "other CUDA call",
	summary.StateData:       "data loading",
	summary.StateCollector:  "garbage collection",
	summary.StateCollective: "collective on the CPU",
	summary.StateOp:         "CPU operator",
	summary.StatePython:     "Python code",
	summary.StateAnnotation: "annotated range",
	summary.StateOS:         "OS call",
	summary.StateOff:        "off CPU",
	summary.StateUnrecorded: "not recorded",
}

// wordColumns limits the length of an id without a display name.
const wordColumns = 30

// Owner returns the display name of a cause of idle time, without its state. For an id of a later version
// of the schema it returns the id.
func Owner(id string) string { return wordOf(ownerWords, id) }

// State returns the display name of what the launching thread did while the GPU was idle.
func State(id string) string { return wordOf(stateWords, id) }

func wordOf(words map[string]string, id string) string {
	if w, ok := words[id]; ok {
		return w
	}
	return label.Clip(label.Clean(id), wordColumns)
}

// Cause returns the display name of a cause of idle time with its state: "host wait: data loading". It is
// "" if nothing is known.
func Cause(owner, state string) string {
	switch {
	case state == "":
		return Owner(owner)
	case owner == "":
		return State(state)
	}
	return Owner(owner) + ": " + State(state)
}
