// Package tracegen writes Chrome traces in the formats that PyTorch's profiler
// has used over the years, for programs whose timing is known in closed form.
//
// A [Scenario] describes a step of a device as a list of [Segment] values.
// During a segment the set of running ops does not change, so the time of each
// set of classes is a sum of segment lengths: the [Truth] is known by
// construction and is never read back from the events. That makes it an
// independent check of code that processes the events. [Generate] streams, so a
// trace may be larger than memory, and equal arguments give equal bytes.
//
// The predefined scenarios are in [Presets] and [Big];
// "go run ./internal/test/gen trace" writes them to files.
//
// A [Story] is a short trace that shows one cause of device time: the launch of
// its work, or the cause of an idle interval. Its truth is an [Attribution].
// The stories are in [Stories] and [Mixture].
package tracegen

import (
	"fmt"
	"math"
	"slices"
	"unicode/utf8"
)

// A Kind is the kind of an [Op].
type Kind uint8

// The kinds of work.
const (
	Compute  Kind = iota // a kernel
	Comm                 // a kernel that moves data between devices
	Copy                 // a memory copy
	Memset               // a memory fill
	HostOnly             // keeps the host busy and uses no device
)

// class returns the name of k's class, or "" for ops that use no device.
func (k Kind) class() string {
	switch k {
	case Compute:
		return "compute"
	case Comm:
		return "comm"
	case Copy:
		return "copy"
	case Memset:
		return "memset"
	}
	return ""
}

// A Collective describes the operation behind a kernel of kind [Comm].
type Collective struct {
	Name  string // Kineto's name: allreduce, _allgather_base, ...
	Elems int64  // elements sent by one rank
	DType string // Kineto's name: Float, BFloat16, ...
}

// An Op is one operation: the activity of the host to launch it and, unless it
// is HostOnly, the resulting device event.
type Op struct {
	Kind   Kind
	Name   string // of the device event
	Stream int
	// Spans is the number of segments of the device event, including the one in
	// which it starts; 0 means 1. Segments of a later step do not count.
	Spans int

	Host     []string  // host operators around the launch, the outermost first
	Backward bool      // launched by the autograd thread
	Seq      int       // sequence number that pairs a forward with a backward op; 0 for none
	Module   []string  // nn.Module names around a forward op, the outermost first
	Call     string    // the runtime call; "" for the usual one of Kind
	Dims     [][]int64 // shapes of the innermost operator's inputs
	// Graph is not 0 for kernels that replay a captured graph: kernels of a
	// step with the same number share one launch and its correlation.
	Graph int

	Bytes      int64       // of a Copy or Memset
	Collective *Collective // of a Comm
}

// A Segment is an interval of a device's time during which the set of running
// ops does not change.
type Segment struct {
	NS    int64 // its length in nanoseconds
	Ops   []Op  // ops that start at its beginning; nothing else starts within it
	Phase string
}

// A Device is one device and the program that every step runs on it.
type Device struct {
	Ordinal int    // the number that the trace gives the device
	Name    string // of the hardware
	Program []Segment
}

// An Era is a period of trace formats; see the constants.
type Era uint8

// The eras differ in the format of times and in the names of categories.
const (
	Modern  Era = iota // since April 2024: three decimals, relative to baseTimeNanoseconds
	Era2024            // spring of 2024: microseconds since 1970 with three decimals
	Era2023            // whole microseconds since 1970
	Era2022            // as Era2023, with categories Kernel, Runtime, Memcpy, Memset, Operator
	eras
)

// unit returns the resolution of the era's times in nanoseconds.
func (e Era) unit() int64 {
	if e >= Era2023 {
		return 1000
	}
	return 1
}

// A Layout is the form of the line breaks in the JSON.
type Layout uint8

// The layouts.
const (
	Native  Layout = iota // Kineto's own mixture of line breaks
	Pretty                // one value per line, indented by two
	Compact               // no white space at all
	Array                 // no enclosing object: only the events, one per line
	layouts
)

// A Vendor determines the names of runtime calls and the fields of events.
type Vendor uint8

// The vendors.
const (
	CUDA Vendor = iota
	ROCm
)

// A Dialect is the format of a trace, independent of its content.
type Dialect struct {
	Era      Era
	Layout   Layout
	Vendor   Vendor
	BaseLast bool // baseTimeNanoseconds after the events, as before March 2025
	Shapes   bool // record_shapes: Input Dims and similar fields
	Stack    bool // with_stack and with_modules: python_function events
	Memory   bool // profile_memory: [memory] instants
}

// A Scenario is a program as it ran on one or more ranks, each with its own
// trace. The steps of a rank follow each other without a break.
type Scenario struct {
	Name    string
	Seed    uint64
	Dialect Dialect
	Ranks   int // number of ranks of the job; 0 means 1
	Devices []Device
	CPUOnly bool // the profiler recorded no device; the programs determine the host's events

	FirstStep int   // the number N of the first ProfilerStep#N
	Steps     int   // number of steps
	Bytes     int64 // if not 0, the trace ends with the step that reaches this number of bytes; Steps is ignored

	LagNS  int64 // delay of the device behind the host's plan
	GapNS  int64 // between the end of a step's marker and the next step's start
	HostNS int64 // the longest that the host takes to launch one segment's work
	// Pace is the part of a segment's time that the host needs for it, in
	// thousandths; 0 means 1000. A host with Pace 400 runs ahead of the device
	// until it waits for it: a HostOnly op with a call that synchronizes.
	Pace   int64
	Jitter int64 // maximum variation of each segment's length, in thousandths
}

// normal returns sc with its defaults filled in.
func (sc Scenario) normal() Scenario {
	if sc.Ranks == 0 {
		sc.Ranks = 1
	}
	if sc.Pace == 0 {
		sc.Pace = 1000
	}
	if sc.Bytes > 0 {
		sc.Steps = math.MaxInt32
	}
	return sc
}

// Validate returns the reason why the scenario cannot be generated, or nil.
func (sc Scenario) Validate() error {
	sc = sc.normal()
	unit := sc.Dialect.Era.unit()
	switch {
	case sc.Steps < 1:
		return fmt.Errorf("scenario %q: %d steps, want at least 1", sc.Name, sc.Steps)
	case len(sc.Devices) == 0:
		return fmt.Errorf("scenario %q: no device, and so no program", sc.Name)
	case sc.Pace < 1 || sc.Pace > 1000:
		return fmt.Errorf("scenario %q: pace %d is not in 1 to 1000", sc.Name, sc.Pace)
	case sc.Jitter < 0 || sc.Jitter > 500:
		return fmt.Errorf("scenario %q: jitter %d is not in 0 to 500", sc.Name, sc.Jitter)
	case sc.HostNS > sc.LagNS:
		return fmt.Errorf("scenario %q: the host takes %d ns to launch, over the lag of %d ns", sc.Name, sc.HostNS, sc.LagNS)
	case sc.Dialect.Era >= eras || sc.Dialect.Layout >= layouts:
		return fmt.Errorf("scenario %q: unknown era or layout", sc.Name)
	}
	for _, ns := range []int64{sc.LagNS, sc.GapNS, sc.HostNS} {
		if ns < 0 || ns%unit != 0 {
			return fmt.Errorf("scenario %q: %d ns is not a multiple of %d ns from 0 up", sc.Name, ns, unit)
		}
	}
	seen := map[int]bool{}
	for _, d := range sc.Devices {
		if seen[d.Ordinal] {
			return fmt.Errorf("scenario %q: device %d appears twice", sc.Name, d.Ordinal)
		}
		seen[d.Ordinal] = true
		if err := checkProgram(d.Program, unit); err != nil {
			return fmt.Errorf("scenario %q: device %d: %w", sc.Name, d.Ordinal, err)
		}
	}
	return nil
}

// checkProgram checks the assumptions of the truth for a program: lengths can
// be represented exactly, and a stream does one thing at a time.
func checkProgram(program []Segment, unit int64) error {
	if len(program) == 0 {
		return fmt.Errorf("empty program")
	}
	until := map[int]int{} // by stream: the first segment that is free again
	for i, seg := range program {
		if seg.NS < 0 || seg.NS%unit != 0 {
			return fmt.Errorf("segment %d: %d ns is not a multiple of %d ns from 0 up", i, seg.NS, unit)
		}
		for _, op := range seg.Ops {
			end := i + max(op.Spans, 1)
			switch {
			case end > len(program):
				return fmt.Errorf("segment %d: %q lasts %d segments, past the end of the step", i, op.Name, op.Spans)
			case op.Kind == HostOnly:
				continue
			case until[op.Stream] > i:
				return fmt.Errorf("segment %d: %q starts while stream %d is busy", i, op.Name, op.Stream)
			case !utf8.ValidString(op.Name):
				return fmt.Errorf("segment %d: name %q is not UTF-8", i, op.Name)
			}
			until[op.Stream] = end
		}
	}
	return nil
}

// streams returns the streams that d's program uses, in order.
func (d Device) streams() (ids []int) {
	for _, seg := range d.Program {
		for _, op := range seg.Ops {
			if op.Kind != HostOnly && !slices.Contains(ids, op.Stream) {
				ids = append(ids, op.Stream)
			}
		}
	}
	slices.Sort(ids)
	return ids
}
