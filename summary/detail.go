package summary

import "fmt"

// A Detail is what a zoomable timeline of one GPU shows beyond the rows of the summary. It is measured only
// if analyze.Options.Detail is set. All times except StartNS are in nanoseconds since StartNS, the start of
// the device's window on the clock of its input.
type Detail struct {
	Input    int   `json:"input"` // index into Summary.Inputs
	Rank     int   `json:"rank"`
	Device   int64 `json:"device"`
	StartNS  int64 `json:"start_ns"`
	WindowNS int64 `json:"window_ns"`

	// OffsetNS is added to times of the input to convert them to the clock that the details of a run share,
	// which is the clock of the first. OffsetFrom is how the offset was found: a constant below, or "" if
	// it is unknown and OffsetNS is 0.
	OffsetNS   int64  `json:"offset_ns,omitempty"`
	OffsetFrom string `json:"offset_from,omitempty"`

	Cells  Cells         `json:"cells"`
	Lanes  []Lane        `json:"lanes,omitempty"`
	Names  []string      `json:"names,omitempty"`  // spans, phases, gaps and host states refer to these by index
	Phases []DetailSpan  `json:"phases,omitempty"` // by start; at most MaxDetailPhases
	Gaps   []DetailGap   `json:"gaps,omitempty"`   // the longest, by start; at most MaxDetailGaps
	Host   []HostState   `json:"host,omitempty"`   // states of the launching thread by start, without gaps between them
	Focus  []DetailFocus `json:"focus,omitempty"`  // parts with all spans; nil if the whole window has all
	Path   *DetailPath   `json:"path,omitempty"`   // nil if it was not asked for

	// SpansLeft counts the operations that Lanes leaves out, and SpansLeftNS is their total time.
	SpansLeft   int64 `json:"spans_left,omitempty"`
	SpansLeftNS int64 `json:"spans_left_ns,omitempty"`
}

// Values of [Detail.OffsetFrom].
const (
	OffsetCollectives = "collectives" // the ends of matched collectives
	OffsetCapture     = "capture"     // the base times of the files
)

// Limits of a Detail.
const (
	MaxDetailCells  = 4096
	MaxDetailPhases = 2000
	MaxDetailGaps   = 256
	MaxDetailSpans  = 40_000  // of one device
	MaxRunSpans     = 200_000 // of all devices of a run
)

// Cells are equal bins of a window, with the nanoseconds that each activity takes of each bin. Compute,
// Comm, Copy and Idle are disjoint and sum to the length of the bin. Hidden is the time of communication
// and copies during compute. The last bin may be shorter.
type Cells struct {
	BinNS   int64   `json:"bin_ns"`
	Compute []int64 `json:"compute"`
	Comm    []int64 `json:"comm"` // exposed
	Copy    []int64 `json:"copy"` // exposed, with memsets
	Hidden  []int64 `json:"hidden"`

	// Queue has the mean number of operations that were launched and had not started, in thousandths, as in
	// [Launches.QueueStrip]; nil if launches are unknown. MemoryBytes has the largest allocated memory in
	// bytes; nil if unknown.
	Queue       []int64 `json:"queue,omitempty"`
	MemoryBytes []int64 `json:"memory_bytes,omitempty"`
}

// check returns the first violated constraint of d.
func (d *Detail) check() error {
	c := &d.Cells
	switch n := len(c.Compute); {
	case d.WindowNS <= 0:
		return fmt.Errorf(".window_ns: got %d, want more than 0", d.WindowNS)
	case c.BinNS <= 0 || n > MaxDetailCells || int64(n) != (d.WindowNS-1)/c.BinNS+1:
		return fmt.Errorf(".cells: got %d bins of %d ns, want at most %d that cover %d ns", n, c.BinNS, MaxDetailCells, d.WindowNS)
	case len(c.Comm) != n || len(c.Copy) != n || len(c.Hidden) != n || c.Queue != nil && len(c.Queue) != n || c.MemoryBytes != nil && len(c.MemoryBytes) != n:
		return fmt.Errorf(".cells: the lists differ in length, want %d each", n)
	case len(d.Phases) > MaxDetailPhases || len(d.Gaps) > MaxDetailGaps || len(d.Host) > n:
		return fmt.Errorf(": %d phases, %d gaps and %d host states, want at most %d, %d and %d", len(d.Phases), len(d.Gaps), len(d.Host), MaxDetailPhases, MaxDetailGaps, n)
	}
	for i := range c.Compute {
		a, b, e, h := c.Compute[i], c.Comm[i], c.Copy[i], c.Hidden[i]
		if most := c.Len(i, d.WindowNS); min(a, b, e, h) < 0 || a > most || b > most-a || e > most-a-b || h > a {
			return fmt.Errorf(".cells[%d]: the parts do not fit into %d ns", i, most)
		}
	}
	if err := d.checkPath(); err != nil {
		return err
	}
	return d.checkNames()
}

// checkNames returns an error if something refers to an unknown name.
func (d *Detail) checkNames() error {
	for _, l := range d.Lanes {
		for i, s := range l.Spans {
			if s.Name < 0 || int(s.Name) >= len(d.Names) || s.NS < 0 || s.AtNS < 0 || s.AtNS > d.WindowNS || s.NS > d.WindowNS-s.AtNS {
				return fmt.Errorf(".lanes: stream %d, span %d: the name is unknown, or the time is outside the window", l.Stream, i)
			}
		}
	}
	for i, s := range d.Phases {
		if s.Name < 0 || int(s.Name) >= len(d.Names) {
			return fmt.Errorf(".phases[%d].name: got %d, want 0 or more and under %d", i, s.Name, len(d.Names))
		}
	}
	for i, g := range d.Gaps {
		if min(g.Name, g.After, g.Until) < -1 || int(max(g.Name, g.After, g.Until)) >= len(d.Names) {
			return fmt.Errorf(".gaps[%d]: a name is not under %d", i, len(d.Names))
		}
	}
	for i, h := range d.Host {
		if h.Name < -1 || int(h.Name) >= len(d.Names) {
			return fmt.Errorf(".host[%d].name: got %d, want -1 or more and under %d", i, h.Name, len(d.Names))
		}
	}
	return nil
}

// Len returns the length of a bin in ns. The last bin of a window may be shorter.
func (c *Cells) Len(bin int, window int64) int64 {
	return min(c.BinNS, window-int64(bin)*c.BinNS)
}

// A Lane has the operations of one stream, by start.
type Lane struct {
	Stream int64        `json:"stream"`
	Spans  []DetailSpan `json:"spans"`
}

// A DetailSpan is an operation or a phase.
type DetailSpan struct {
	AtNS  int64 `json:"at_ns"`
	NS    int64 `json:"ns"`
	Name  int32 `json:"name"`            // index into Names
	Class Class `json:"class,omitempty"` // for an operation: "compute", "comm", "copy" or "memset"
	Depth int32 `json:"depth,omitempty"` // for a phase: the number of phases around it
}

// A DetailGap is an interval during which nothing ran, with its owner as in [Gap].
type DetailGap struct {
	AtNS  int64  `json:"at_ns"`
	NS    int64  `json:"ns"`
	Owner string `json:"owner,omitempty"`
	State string `json:"state,omitempty"`
	Name  int32  `json:"name"`  // index into Names, or -1
	After int32  `json:"after"` // the operation before the gap; index into Names, or -1
	Until int32  `json:"until"` // the operation after the gap
}

// The kinds of a [HostState].
const (
	HostOperator   = "operator"
	HostPython     = "python"
	HostWait       = "wait"   // in a call that waits for the GPU, in one of the operating system, or on no core
	HostLaunch     = "launch" // in any other call of the runtime or driver
	HostData       = "data"   // in a data loader
	HostAnnotation = "annotation"
	HostProfiler   = "profiler" // the profiler's own work
)

// A HostState is what the launching thread did for most of the time of one or more cells. Kind is a
// constant above, or "" if nothing was recorded. If several threads launch, it is the thread that launches
// next.
type HostState struct {
	AtNS int64  `json:"at_ns"`
	NS   int64  `json:"ns"`
	Kind string `json:"kind,omitempty"`
	Name int32  `json:"name"` // index into Names, or -1
}

// Values of [DetailFocus.Why]. Findings refer to such parts.
const (
	FocusMedianStep  = "median step"
	FocusSlowestStep = "slowest step"
	FocusGap         = "long gap"
	FocusWait        = "longest wait" // of the CPU, in a call that synchronizes
	FocusPhase       = "longest run of a phase"
)

// A DetailFocus is a part of the window in which all operations are kept, with the reason: a constant
// above. A part with more operations than the limit allows is shortened at its end.
type DetailFocus struct {
	AtNS int64  `json:"at_ns"`
	NS   int64  `json:"ns"`
	Why  string `json:"why"`
}
