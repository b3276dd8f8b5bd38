package summary

// A Detail is what a zoomable timeline of one GPU shows beyond the rows of the summary. It
// is measured only where it is asked for (analyze.Options.Detail). All times but StartNS
// are in nanoseconds since StartNS, which is the start of the device's window on the
// clock of its input.
type Detail struct {
	Input    int   `json:"input"` // index into Summary.Inputs
	Rank     int   `json:"rank"`
	Device   int64 `json:"device"`
	StartNS  int64 `json:"start_ns"`
	WindowNS int64 `json:"window_ns"`

	// OffsetNS is added to times of the input to bring them to the clock that ranks of a
	// job share; OffsetFrom is "collectives" (their ends), "capture" (the base time of the
	// files) or "" (nothing is known, and the offset is 0).
	OffsetNS   int64  `json:"offset_ns,omitempty"`
	OffsetFrom string `json:"offset_from,omitempty"`

	Cells  Cells         `json:"cells"`
	Lanes  []Lane        `json:"lanes,omitempty"`
	Names  []string      `json:"names,omitempty"`  // that spans, phases, gaps and host states refer to
	Phases []DetailSpan  `json:"phases,omitempty"` // by start; at most MaxDetailPhases
	Gaps   []DetailGap   `json:"gaps,omitempty"`   // the longest, by start; at most MaxDetailGaps
	Host   []HostState   `json:"host,omitempty"`   // of the thread that launches, by start, without holes in between
	Focus  []DetailFocus `json:"focus,omitempty"`  // where all spans are kept; nil if that is everywhere

	// SpansLeft counts the operations that Lanes leaves out, and SpansLeftNS is their time.
	SpansLeft   int64 `json:"spans_left,omitempty"`
	SpansLeftNS int64 `json:"spans_left_ns,omitempty"`
}

// Limits of a Detail.
const (
	MaxDetailCells  = 4096
	MaxDetailPhases = 2000
	MaxDetailGaps   = 256
	MaxDetailSpans  = 40_000  // of one device
	MaxRunSpans     = 200_000 // of all devices of a run
)

// Cells are equal bins of a window: how much of each bin every part takes, in nanoseconds.
// Compute, Comm, Copy and Idle are disjoint and sum to the bin; Hidden is the time of
// communication and copies during compute. The last bin may be shorter.
type Cells struct {
	BinNS   int64   `json:"bin_ns"`
	Compute []int64 `json:"compute"`
	Comm    []int64 `json:"comm"` // exposed
	Copy    []int64 `json:"copy"` // exposed, with memsets
	Hidden  []int64 `json:"hidden"`

	// Queue has the mean number of launched operations that wait or run; nil if launches
	// are unknown. MemoryBytes has the largest allocated memory; nil if unknown.
	Queue       []int64 `json:"queue,omitempty"`
	MemoryBytes []int64 `json:"memory_bytes,omitempty"`
}

// A Lane has the operations of one stream, by start.
type Lane struct {
	Stream int64        `json:"stream"`
	Spans  []DetailSpan `json:"spans"`
}

// A DetailSpan is an operation or a phase.
type DetailSpan struct {
	AtNS  int64  `json:"at_ns"`
	NS    int64  `json:"ns"`
	Name  int32  `json:"name"`            // index into Names
	Class string `json:"class,omitempty"` // of an operation: "compute", "comm", "copy" or "memset"
	Depth int32  `json:"depth,omitempty"` // of a phase that is inside others
}

// A DetailGap is an interval during which nothing ran, with its owner as in [Gap].
type DetailGap struct {
	AtNS  int64  `json:"at_ns"`
	NS    int64  `json:"ns"`
	Owner string `json:"owner,omitempty"`
	State string `json:"state,omitempty"`
	Name  int32  `json:"name"`  // index into Names, or -1
	After int32  `json:"after"` // the operation before the gap; index into Names, or -1
	Until int32  `json:"until"` // the operation after it
}

// A HostState is what the launching thread did: Kind is "operator", "python", "wait",
// "launch", "data" or "" (nothing that was recorded).
type HostState struct {
	AtNS int64  `json:"at_ns"`
	NS   int64  `json:"ns"`
	Kind string `json:"kind,omitempty"`
	Name int32  `json:"name"` // index into Names, or -1
}

// A DetailFocus is a part of the window, with what it is kept for: "median step",
// "slowest step", "finding".
type DetailFocus struct {
	AtNS int64  `json:"at_ns"`
	NS   int64  `json:"ns"`
	Why  string `json:"why"`
}
