package summary

// Owners of idle time. Every nanosecond in which nothing ran on a device has
// one.
const (
	// OwnerHost: the call that launches what ran next had not begun. The row's
	// State and Name say what its thread did instead.
	OwnerHost = "host-late"
	// OwnerLaunch: the call had begun, or was over for no longer than launching
	// takes. The row's Name is the call.
	OwnerLaunch = "launch-latency"
	// OwnerBetween: the call was over before the device became idle, and the work
	// started within the time that a device takes from one piece of work to the
	// next.
	OwnerBetween = "between-kernels"
	// OwnerDependency: the call was over for longer than that, and the work did not
	// start: an event, another stream or a copy held it.
	OwnerDependency = "dependency"
	// OwnerNothing: nothing was to be run: the profiler itself was starting or
	// stopping.
	OwnerNothing = "nothing-offered"
	// OwnerOpaque: inside a graph whose nodes were not recorded.
	OwnerOpaque = "opaque-graph"
	// OwnerUnknown: what ran next has no known launch, or it seems to have started
	// before it was launched.
	OwnerUnknown = "unknown"
)

// Owners returns the owners of idle time in the order in which they are shown.
func Owners() []string {
	return []string{OwnerHost, OwnerDependency, OwnerLaunch, OwnerBetween, OwnerNothing, OwnerOpaque, OwnerUnknown}
}

// What a thread that is late was doing, by the innermost thing open on it.
const (
	StateSync       = "synchronizing" // in a call that waits for the device
	StateCopy       = "copying"       // in a call that copies or fills memory
	StateAlloc      = "allocating"    // in a call that takes or returns memory
	StateLaunch     = "launching"     // in a call that launches other work
	StateCall       = "calling"       // in another call of the runtime or driver
	StateData       = "data-loading"  // in a data loader
	StateOp         = "operator"      // in an operator, outside of any call
	StatePython     = "python"        // in a Python function, outside of any operator
	StateAnnotation = "annotation"    // in an annotation, and nothing else is recorded
	StateOS         = "os-call"       // in a call of the operating system or C library, outside of any call of the runtime
	StateOff        = "not-running"   // on no core, and in none of the calls above
	StateUnrecorded = "unrecorded"    // in nothing that was recorded
)

// An Idle is idle time of one device by who owned it. (Input, Device, Owner,
// State, Name) is its key, and the rows of a device sum to its idle time.
type Idle struct {
	Input  int    `json:"input"`
	Rank   int    `json:"rank"`
	Device int64  `json:"device"`
	Owner  string `json:"owner"`
	State  string `json:"state,omitempty"` // of OwnerHost only
	Name   string `json:"name,omitempty"`  // of the call, operator, function or annotation
	NS     int64  `json:"ns"`
	Count  int64  `json:"count"` // pieces of idle time
	MaxNS  int64  `json:"max_ns"`
	// ShortGapsNS is the part of NS that lies in gaps under [ShortGapNS]: what it
	// costs that the host gets from one launch to the next.
	ShortGapsNS int64 `json:"short_gaps_ns,omitempty"`
}

// ShortGapNS is the length under which a gap counts as short: a host takes some
// 5 to 50 microseconds from one launch to the next, and for longer it does
// something else.
const ShortGapNS = 100_000
