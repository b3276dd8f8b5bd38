package summary

// Causes of idle time. Every interval during which nothing ran on a device has
// exactly one cause.
const (
	// OwnerHost: the call that launches the next work had not begun. The row's
	// State and Name describe what its thread did instead.
	OwnerHost = "host-late"
	// OwnerLaunch: the call was running, or had ended within the time that a
	// launch takes. The row's Name is the call.
	OwnerLaunch = "launch-latency"
	// OwnerBetween: the call had ended before the device became idle, and the work
	// started within the time that a device needs between two GPU operations.
	OwnerBetween = "between-kernels"
	// OwnerDependency: the call ended earlier than that, and the work did not
	// start: it waited for an event, another stream or a copy.
	OwnerDependency = "dependency"
	// OwnerNeighbor: another device of the same process worked. It comes before all other causes,
	// because the process made progress all the time.
	OwnerNeighbor = "other-gpu"
	// OwnerNotRecorded: as for OwnerDependency, but nothing that ran before on the same
	// stream was recorded, and the wait is UnrecordedNS or longer. The device ran work
	// that had been launched before the capture began. Or idle time in a step whose
	// calls were not recorded.
	OwnerNotRecorded = "not-recorded"
	// OwnerNothing: there was nothing to run, because the profiler itself was
	// starting or stopping.
	OwnerNothing = "nothing-offered"
	// OwnerOpaque: inside a CUDA graph that was traced as one event.
	OwnerOpaque = "opaque-graph"
	// OwnerUnknown: the next work has no known launch, or it seems to have
	// started before it was launched.
	OwnerUnknown = "unknown"
)

// Owners returns the causes of idle time in the order in which they are shown.
func Owners() []string {
	return []string{OwnerHost, OwnerDependency, OwnerNeighbor, OwnerLaunch, OwnerBetween, OwnerNothing, OwnerOpaque, OwnerNotRecorded, OwnerUnknown}
}

// States of the thread whose launch is late, by the innermost event that is open on it.
const (
	StateSync       = "synchronizing"      // in a call that waits for the device
	StateCopy       = "copying"            // in a call that copies or fills memory
	StateAlloc      = "allocating"         // in a call that allocates or frees memory
	StateLaunch     = "launching"          // in a call that launches other work
	StateCall       = "calling"            // in another call of the runtime or driver
	StateData       = "data-loading"       // in a data loader
	StateCollector  = "garbage-collection" // in the garbage collector of Python, with all that it calls
	StateCollective = "communicating"      // in a collective that the CPU runs, or waits for: Gloo, MPI, UCC
	StateOp         = "operator"           // in an operator, outside of any call
	StatePython     = "python"             // in a Python function, outside of any operator
	StateAnnotation = "annotation"         // in an annotation, with nothing recorded inside
	StateOS         = "os-call"            // in a call of the operating system or C library, outside of any call of the runtime
	StateOff        = "not-running"        // on no core, outside of the calls above
	StateUnrecorded = "unrecorded"         // outside of everything recorded
)

// An Idle is the idle time of one device with one cause. (Input, Device, Owner,
// State, Name) is its key, and the rows of a device sum to its idle time.
type Idle struct {
	Input  int    `json:"input" row:"input"`
	Rank   int    `json:"rank" row:"rank"`
	Device int64  `json:"device" row:"device"`
	Owner  string `json:"owner" row:"owner"`
	State  string `json:"state,omitempty" row:"state"`  // only for OwnerHost
	Name   string `json:"name,omitempty" row:"in,name"` // of the call, operator, function or annotation
	NS     int64  `json:"ns" row:"idle,sum,main"`
	Count  int64  `json:"count" row:"intervals,sum"` // number of idle intervals
	MaxNS  int64  `json:"max_ns" row:"longest,max"`
	// ShortGapsNS is the part of NS in gaps under [ShortGapNS], that is, the
	// idle time caused by the host's time between launches.
	ShortGapsNS int64 `json:"short_gaps_ns,omitempty" row:"short-gap time,sum"`
	// Sampler is the file whose samples name the function, if the trace does not. NS is then the part of
	// the samples, ErrorNS its standard error, and Count and MaxNS are estimates.
	Sampler string `json:"sampler,omitempty" row:"sampler"`
	ErrorNS int64  `json:"error_ns,omitempty" row:"error"`
}

// UnrecordedNS is how long the first recorded work of a stream must wait for the device to count as running
// work that was not recorded. The other possible reason, an event of another stream, rarely applies: that
// work is recorded in nearly all captures and ends within a step.
const UnrecordedNS = 10_000_000

// ShortGapNS is the length below which a gap counts as short. A host needs about 5 to 50 microseconds from
// one launch to the next, so in longer gaps it does something other than launching.
const ShortGapNS = 100_000
