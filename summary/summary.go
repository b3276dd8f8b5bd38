// Package summary holds what was measured: the narrow waist of assay.
//
// A [Summary] is at once the JSON output, the baseline of a CI gate, the
// per-rank result that travels between machines, and all that packages judge
// and report ever see. It is plain data, it can be merged with others of its
// kind ([Merge]), and it never holds an event.
//
// Units: fields ending in NS are int64 nanoseconds, Bytes are bytes. A sum of
// durations ("total", work) and the length of a union ("busy", wall) are
// different fields. What was not measured is absent from the JSON, never 0.
package summary

import "fmt"

// Schema names the JSON layout. Fields may be added to it, never renamed; the
// number counts breaking changes.
const Schema = "assay/summary/1"

// A Summary is what was measured in one input, or, merged, in many.
type Summary struct {
	Schema  string   `json:"schema"`
	Inputs  []Input  `json:"inputs"`
	Devices []Device `json:"devices"`
	Streams []Stream `json:"streams,omitempty"`
	Steps   []Step   `json:"steps,omitempty"`
	Phases  []Phase  `json:"phases,omitempty"`
	Kernels []Kernel `json:"kernels"`
	Copies  []Copy   `json:"copies,omitempty"`

	CopyCalls []CopyCall `json:"copy_calls,omitempty"`
	Syncs     []Sync     `json:"syncs,omitempty"`

	Spans []Span `json:"spans,omitempty"`

	Ops         []Op         `json:"ops,omitempty"`
	Modules     []Module     `json:"modules,omitempty"`
	Lines       []Line       `json:"lines,omitempty"`
	Annotations []Annotation `json:"annotations,omitempty"`
	Passes      []Pass       `json:"passes,omitempty"`
	Calls       []Call       `json:"calls,omitempty"`
	Launches    []Launches   `json:"launches,omitempty"`

	LaunchLosses []LaunchLoss `json:"launch_losses,omitempty"`
	Graphs       []Graph      `json:"graphs,omitempty"`
	Idle         []Idle       `json:"idle,omitempty"`
	Memory       []Memory     `json:"memory,omitempty"`

	Tables []Table `json:"tables,omitempty"` // of other tools
	Flames []Flame `json:"flames,omitempty"` // of profiles with stacks

	Counters        []Counter        `json:"counters,omitempty"` // what hardware counters said of kernels
	Snapshots       []Snapshot       `json:"snapshots,omitempty"`
	MemoryTimelines []MemoryTimeline `json:"memory_timelines,omitempty"`

	Issues []Issue `json:"issues"`
}

// An Input is one file that was read, or standard input.
type Input struct {
	Path        string `json:"path"`
	Format      string `json:"format"`      // "kineto", "chrome-trace", "nsys-stats"
	Compression string `json:"compression"` // "none", "gzip", "zstd"
	Bytes       int64  `json:"bytes"`       // as stored, so still compressed
	Events      int64  `json:"events"`      // records of the event array, or rows of tables, usable or not
	SHA256      string `json:"sha256"`      // of the bytes as stored

	Rank     int    `json:"rank"`
	RankFrom string `json:"rank_from"` // "trace", "name" or "assumed"

	// SpanNS is the length of the capture: from the first start to the last end
	// of all complete events of host and device, less the profiler's own
	// bookkeeping and overhead. It is 0 if there are none.
	SpanNS int64 `json:"span_ns"`

	// BaseTimeNS is what must be added to the times of this input to get Unix
	// time, where the trace says so.
	BaseTimeNS *int64 `json:"base_time_ns,omitempty"`
	// Recorder has what the profiler says of itself and its settings, in its own
	// words: "cupti_version", "with_stack", "EXPORT_PRODUCT_VERSION".
	Recorder map[string]string `json:"recorder,omitempty"`
	// Complete is false if the input ended early or was not read to its end.
	Complete bool `json:"complete"`
}

// A Device is one GPU as one input saw it. (Input, Rank, Device) is its key.
//
// Its window runs from the first start to the last end of its GPU events, and
// Activity cuts that window into disjoint cells, so the cells sum to WindowNS.
// The JSON has a further member, "budget": see [Device.MarshalJSON].
type Device struct {
	Input    int      `json:"input"` // index into Summary.Inputs
	Rank     int      `json:"rank"`
	Device   int64    `json:"device"`
	Name     string   `json:"name,omitempty"` // as "NVIDIA H100 80GB HBM3"
	StartNS  int64    `json:"start_ns"`       // on the input's own clock
	WindowNS int64    `json:"window_ns"`
	Activity Activity `json:"activity"`
	Events   int64    `json:"events"` // kernels, copies and memsets

	// UncertainNS is the part of the window without compute in which work may have
	// run that was launched and is missing from the capture: see [LaunchLoss].
	UncertainNS int64 `json:"uncertain_ns,omitempty"`

	Strip       *Strip       `json:"strip,omitempty"`
	Utilization *Utilization `json:"utilization,omitempty"`

	Durations Histogram `json:"kernel_durations"` // of each kernel
	Gaps      Histogram `json:"gaps"`             // of each stretch in which nothing ran

	// LargestGaps has the longest of those stretches, at most MaxLargestGaps,
	// longest first and of equal ones the earliest first.
	LargestGaps []Gap `json:"largest_gaps,omitempty"`
}

// check returns the first promise that d breaks.
func (d *Device) check() error {
	if err := d.Activity.check("window_ns", d.WindowNS); err != nil {
		return err
	}
	if d.UncertainNS < 0 || d.UncertainNS > d.WindowNS {
		return fmt.Errorf(".uncertain_ns: got %d, want 0 or more and at most window_ns, %d", d.UncertainNS, d.WindowNS)
	}
	return d.Utilization.check(d)
}

// MaxLargestGaps is how many gaps of a device are kept one by one.
const MaxLargestGaps = 5

// A Gap is one stretch in which nothing ran on a device, though something ran
// before and after it.
type Gap struct {
	StartNS int64 `json:"start_ns"` // on the input's own clock
	NS      int64 `json:"ns"`
	// ProfilerNS is the part of it in which the profiler did work of its own.
	ProfilerNS int64 `json:"profiler_ns,omitempty"`

	// Owner, State and Name say who owned most of it: see [Idle]. Before and After
	// are what ran last and next.
	Owner  string `json:"owner,omitempty"`
	State  string `json:"state,omitempty"`
	Name   string `json:"name,omitempty"`
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

// A Stream is one queue of a device.
type Stream struct {
	Input   int    `json:"input"`
	Rank    int    `json:"rank"`
	Device  int64  `json:"device"`
	Stream  int64  `json:"stream"`
	Name    string `json:"name,omitempty"`
	Kernels int64  `json:"kernels"` // kernels run
	Others  int64  `json:"others"`  // copies and memsets run
	BusyNS  int64  `json:"busy_ns"` // union of its events
	WorkNS  int64  `json:"work_ns"` // sum of their durations; more than BusyNS where they overlap
}

// A Kernel is every run of one kernel on one stream. (Input, Rank, Device,
// Stream, Name, Op) is its key.
type Kernel struct {
	Name     string `json:"name"`
	Class    string `json:"class"`    // "compute" or "comm"
	Category string `json:"category"` // "gemm", "attention", ...; "other" if no rule knows it
	Rule     string `json:"rule"`     // the id of the classify rule that decided
	Input    int    `json:"input"`
	Rank     int    `json:"rank"`
	Device   int64  `json:"device"`
	Stream   int64  `json:"stream"`
	Op       string `json:"op,omitempty"` // the operator that launched it; absent if not known
	Count    int64  `json:"count"`
	TotalNS  int64  `json:"total_ns"` // sum of durations
	MinNS    int64  `json:"min_ns"`
	MaxNS    int64  `json:"max_ns"`
}

// A Copy is every copy or memset of one name on one stream.
type Copy struct {
	Name    string `json:"name"`  // as "Memcpy HtoD (Pageable -> Device)"
	Class   string `json:"class"` // "copy" or "memset"
	Input   int    `json:"input"`
	Rank    int    `json:"rank"`
	Device  int64  `json:"device"`
	Stream  int64  `json:"stream"`
	Count   int64  `json:"count"`
	TotalNS int64  `json:"total_ns"`
	MinNS   int64  `json:"min_ns"`
	MaxNS   int64  `json:"max_ns"`
	Bytes   *int64 `json:"bytes,omitempty"` // sum over the runs that tell; absent if none does
}

// A Span is every run of one host-side span on one thread. It is measured
// only for inputs that hold no GPU events, where it is all there is.
type Span struct {
	Name     string `json:"name"`
	Category string `json:"category,omitempty"` // as the trace calls it
	Input    int    `json:"input"`
	Rank     int    `json:"rank"`
	Process  string `json:"process"`
	Thread   string `json:"thread"`
	Count    int64  `json:"count"`
	TotalNS  int64  `json:"total_ns"` // sum of durations
	SelfNS   int64  `json:"self_ns"`  // while it was the innermost span of its thread
	MaxNS    int64  `json:"max_ns"`
	// Async spans belong to no thread and may overlap, so SelfNS is 0.
	Async bool `json:"async,omitempty"`
}

// A Strip is a device's window cut into bins of equal length, for pictures.
// The last bin may reach beyond the window's end.
type Strip struct {
	BinNS int64 `json:"bin_ns"`
	// NS[class][bin] is how long at least one event of the class ran within
	// the bin: 0 to BinNS. Absent classes ran nowhere.
	NS map[string][]int64 `json:"ns"`
}

// An Issue is one kind of trouble with the inputs and how often it was met.
type Issue struct {
	Code     string `json:"code"`     // stable, kebab-case
	Severity string `json:"severity"` // "info", "data-loss", "suspect"
	Count    int64  `json:"count"`
	First    string `json:"first,omitempty"` // where it was met first
	Help     string `json:"help"`            // what it does to the numbers, and the remedy
}
