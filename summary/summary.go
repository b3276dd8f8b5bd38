package summary

import "fmt"

// Schema names the JSON layout. Fields may be added to it, never renamed; the
// number counts breaking changes.
const Schema = "assay/summary/1"

// A Summary has the measurements of one input or, merged, of many.
type Summary struct {
	Schema  string   `json:"schema"`
	Partial *Partial `json:"partial,omitempty"` // set in a file of "assay summary --save"
	Inputs  []Input  `json:"inputs"`
	Devices []Device `json:"devices"`
	Streams []Stream `json:"streams,omitempty"`
	Steps   []Step   `json:"steps,omitempty"`
	Phases  []Phase  `json:"phases,omitempty"`

	Compilations []Compilation `json:"compilations,omitempty"`

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

	Collectives []Collective `json:"collectives,omitempty"` // compared over several ranks
	Ranks       []RankWait   `json:"ranks,omitempty"`
	Topologies  []Topology   `json:"topologies,omitempty"` // of jobs of several ranks
	Rolled      []Rolled     `json:"rolled,omitempty"`

	LaunchLosses []LaunchLoss `json:"launch_losses,omitempty"`
	Graphs       []Graph      `json:"graphs,omitempty"`
	Idle         []Idle       `json:"idle,omitempty"`
	Memory       []Memory     `json:"memory,omitempty"`

	Tables []Table `json:"tables,omitempty"` // from other tools
	Flames []Flame `json:"flames,omitempty"` // from profiles with stacks

	Counters        []Counter        `json:"counters,omitempty"`   // hardware counters of kernels
	Series          []Series         `json:"series,omitempty"`     // metrics of logs and monitors
	Attempts        []Attempt        `json:"attempts,omitempty"`   // starts of programs that log their steps
	RoleSteps       []RoleStep       `json:"role_steps,omitempty"` // of reinforcement learning, over all roles
	RoleTimes       []RoleTime       `json:"role_times,omitempty"` // by role
	RoleTails       []RoleTail       `json:"role_tails,omitempty"` // slowest sequences of batches
	JobTimes        []JobTime        `json:"job_times,omitempty"`  // where the time of jobs went, restarts included
	Settings        []Setting        `json:"settings,omitempty"`   // of the configurations that logs begin with
	Benchmarks      []Benchmark      `json:"benchmarks,omitempty"` // results that benchmarks printed
	Groups          []Group          `json:"groups,omitempty"`     // groups of ranks that communicate
	Clocks          []Clock          `json:"clocks,omitempty"`     // clocks of inputs that are joined by time
	Monitored       []Monitored      `json:"monitored,omitempty"`  // what monitors measured during phases and steps
	Health          []Health         `json:"health,omitempty"`
	Snapshots       []Snapshot       `json:"snapshots,omitempty"`
	MemoryUses      []MemoryUse      `json:"memory_uses,omitempty"`
	MemoryTimelines []MemoryTimeline `json:"memory_timelines,omitempty"`

	// Details has the data of zoomable timelines; only if it was requested.
	Details []Detail `json:"details,omitempty"`

	// CriticalPaths and Forecasts are of the typical step of each job; only "assay report" makes them.
	CriticalPaths []CriticalPath `json:"critical_paths,omitempty"`
	Forecasts     []Forecast     `json:"forecasts,omitempty"`

	Layers []Layer `json:"layers,omitempty"` // of steps; only where they are asked for

	// Efficiency has FLOPs, bytes and rooflines of operators; only if they were requested.
	Efficiency Efficiency `json:"efficiency,omitzero"`

	Issues []Issue `json:"issues"`

	Price *Price `json:"price,omitempty"` // that the user stated

	LeftOut *LeftOut `json:"left_out,omitempty"` // files in directories that were not read
}

// A Window is a part of a capture, from StartNS to before EndNS on its clock. Durations are clipped to the
// window; an event is counted if it starts in the window.
type Window struct {
	StartNS int64 `json:"start_ns"`
	EndNS   int64 `json:"end_ns"`
	// Asked is the user's request that selected the window: "steps 3 to 5".
	Asked string `json:"asked,omitempty"`
	// CaptureNS is the length of the whole capture, as SpanNS of an [Input] would be.
	CaptureNS int64 `json:"capture_ns,omitempty"`
}

// Formats of inputs that conclusions distinguish.
const (
	FormatXLA    = "xla-trace"    // of the profiler of XLA, as JAX writes it
	FormatXPlane = "xplane"       // its other form
	FormatTF     = "tf-timeline"  // of TensorFlow 1
	FormatProton = "proton-trace" // of Proton, which records kernels and scopes and no launches
	// FormatProtonTree is its other form, which has totals only.
	FormatProtonTree = "proton-tree"

	FormatNCCL = "nccl-profiler" // of the example plugin of NCCL, which records nothing but communication
)

// An Input is one file that was read, or standard input.
type Input struct {
	Path        string `json:"path"`
	Format      string `json:"format"`      // "kineto", "chrome-trace", "xla-trace", "nsys-stats"
	Compression string `json:"compression"` // "none", "gzip", "zstd"
	Bytes       int64  `json:"bytes"`       // as stored, so possibly compressed
	Events      int64  `json:"events"`      // elements of the event array, or rows of tables, usable or not
	SHA256      string `json:"sha256"`      // of the bytes as stored

	Rank     int    `json:"rank"`
	RankFrom string `json:"rank_from"` // "trace", "name", "folder", "nccl" (its communicator), "assumed", or "pattern" of --rank-from
	// Run is the run to which --group-by assigns the input. RunFrom is the rule that decided: "folder",
	// "pattern" or "none" (all inputs are one run). Both are empty without the flag; then ranks,
	// directories and file names decide.
	Run     string `json:"run,omitempty"`
	RunFrom string `json:"run_from,omitempty"`
	// WorldSize is the number of ranks of the job that the trace states, or 0.
	WorldSize int `json:"world_size,omitempty"`

	// Host is the name of the machine, and GPUs the number of its GPUs, if the trace states them.
	Host string `json:"host,omitempty"`
	GPUs int    `json:"gpus,omitempty"`
	// Process is the number of the process that the trace is of; "" if it has none or several.
	Process string `json:"process,omitempty"`
	// ProcessGroups are the process groups with a description other than "default_pg".
	ProcessGroups []ProcessGroup `json:"process_groups,omitempty"`

	// SpanNS is the length of the capture: from the first start to the last end
	// of all complete events of host and device, without the profiler's own
	// bookkeeping and overhead. It is 0 if there are none.
	SpanNS int64 `json:"span_ns"`

	// Window is the part of the capture that was measured; nil for all of it.
	Window *Window `json:"window,omitempty"`

	// ClippedNS is the sum of the times by which GPU records with impossible durations were made shorter.
	ClippedNS int64 `json:"clipped_ns,omitempty"`

	// BaseTimeNS must be added to the times of this input to get Unix time, if
	// the trace contains it.
	BaseTimeNS *int64 `json:"base_time_ns,omitempty"`
	// Recorder has the profiler's versions and settings under the profiler's own keys: "cupti_version",
	// "with_stack", "EXPORT_PRODUCT_VERSION".
	Recorder map[string]string `json:"recorder,omitempty"`
	// RolledUp names the rows of the input that were replaced by sums over the ranks: see [Summary.RollUp].
	// It is empty if the summary has all rows of the input.
	RolledUp string `json:"rolled_up,omitempty"`
	// GraphSource says that the input only captures graphs, which other inputs replay. Its operators are
	// counted where they run, and it has no rows of its own.
	GraphSource bool `json:"graph_source,omitempty"`
	// SameAs is the path of another input that has the capture of this one in another form. This one is not
	// counted and has no rows.
	SameAs string `json:"same_as,omitempty"`
	// Complete is false if the input ended early or was not read to its end.
	// StreamWaits counts the calls that let a stream wait for an event; of StreamWaitsUnknown, nothing
	// tells what the event is of.
	StreamWaits        int64 `json:"stream_waits,omitempty"`
	StreamWaitsUnknown int64 `json:"stream_waits_unknown,omitempty"`

	Complete bool `json:"complete"`
}

// A GPU identifies the device of a row.
type GPU struct {
	Input  int   `json:"input"` // index into Summary.Inputs
	Rank   int   `json:"rank"`
	Device int64 `json:"device"`
}

// A Device is one GPU in one input. (Input, Rank, Device) is its key.
//
// Its window lasts from the first start to the last end of its GPU events.
// Activity has the disjoint cells of that window, which sum to WindowNS. The
// JSON has another member, "budget": see [Device.MarshalJSON].
type Device struct {
	Input    int      `json:"input"` // index into Summary.Inputs
	Rank     int      `json:"rank"`
	Device   int64    `json:"device"`
	Name     string   `json:"name,omitempty"` // such as "NVIDIA H100 80GB HBM3"
	StartNS  int64    `json:"start_ns"`       // on the input's own clock
	WindowNS int64    `json:"window_ns"`
	Activity Activity `json:"activity"`
	Events   int64    `json:"events"` // kernels, copies and memsets

	// UncertainNS is the time in the window, without compute, during which work may have run that was
	// launched but is missing from the capture: see [LaunchLoss].
	UncertainNS int64 `json:"uncertain_ns,omitempty"`

	// Process tells the processes of one input apart that launch work on several devices each, from 1. It
	// is 0 if no other device has its work from the same process, or if that is not known.
	Process int `json:"process,omitempty"`
	// SharedNS is the part of the busy time during which another device of the same process worked too. The
	// idle time during which another one worked is the row of OwnerNeighbor among the causes of idle time.
	SharedNS int64 `json:"shared_ns,omitempty"`

	// Ridge has the operations in 16 bits that the GPU can do while it reads a byte of its memory, by its
	// peaks, if steps state their batch; 0 if a peak is not known.
	Ridge float64 `json:"ridge_flops_per_byte,omitempty"`

	Strip       *Strip       `json:"strip,omitempty"`
	Utilization *Utilization `json:"utilization,omitempty"`

	// Drift compares identical kernels over time; nil if too few repeat.
	Drift *Drift `json:"drift,omitempty"`

	// Durations and Gaps are distributions over the kernels and over the intervals during which nothing
	// ran.
	Durations Histogram `json:"kernel_durations"` // of each kernel
	Gaps      Histogram `json:"gaps"`             // of each interval during which nothing ran

	// LargestGaps has the longest intervals during which nothing ran, at most MaxLargestGaps,
	// longest first; of equal ones the earliest comes first.
	LargestGaps []Gap `json:"largest_gaps,omitempty"`
}

// check returns the first violated constraint of d.
func (d *Device) check() error {
	if err := d.Activity.check("window_ns", d.WindowNS); err != nil {
		return err
	}
	if d.UncertainNS < 0 || d.UncertainNS > d.WindowNS {
		return fmt.Errorf(".uncertain_ns: got %d, want 0 or more and at most window_ns, %d", d.UncertainNS, d.WindowNS)
	}
	if d.Process < 0 {
		return fmt.Errorf(".process: got %d, want 0 or more", d.Process)
	}
	if d.SharedNS < 0 || d.SharedNS > d.Activity.Busy() {
		return fmt.Errorf(".shared_ns: got %d, want 0 or more and at most the busy time, %d", d.SharedNS, d.Activity.Busy())
	}
	return d.Utilization.check(d)
}

// MaxLargestGaps is the maximum number of gaps of a device that are kept.
const MaxLargestGaps = 5

// A Gap is one interval during which nothing ran on a device, between two
// intervals with work.
type Gap struct {
	StartNS int64 `json:"start_ns"` // on the input's own clock
	NS      int64 `json:"ns"`
	// ProfilerNS is the part of the gap during which the profiler did work of its own.
	ProfilerNS int64 `json:"profiler_ns,omitempty"`

	// Owner, State and Name are the cause of most of the gap: see [Idle]. Before and After name the
	// operations before and after it.
	Owner  string `json:"owner,omitempty"`
	State  string `json:"state,omitempty"`
	Name   string `json:"name,omitempty"`
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

// A Stream is one queue of a device.
type Stream struct {
	Input   int    `json:"input" row:"input"`
	Rank    int    `json:"rank" row:"rank"`
	Device  int64  `json:"device" row:"device"`
	Stream  int64  `json:"stream" row:"stream"`
	Name    string `json:"name,omitempty" row:"name,name"`
	Kernels int64  `json:"kernels" row:"kernels,sum"`         // number of kernels
	Others  int64  `json:"others" row:"others,sum"`           // number of copies and memsets
	BusyNS  int64  `json:"busy_ns" row:"busy,sum,with=total"` // union of its events
	WorkNS  int64  `json:"work_ns" row:"total,sum,main"`      // total time; more than BusyNS if events overlap
}

// WholeGraph is the [Kernel.Category] of CUDA graphs that were traced as one event,
// without their kernels.
const WholeGraph = "whole-graph"

// A Kernel represents all runs of one kernel on one stream. (Input, Rank,
// Device, Stream, Name, Op) is its key.
type Kernel struct {
	Name     string `json:"name" row:"kernel,symbol"`
	Class    string `json:"class" row:"class"`       // "compute" or "comm"
	Category string `json:"category" row:"category"` // "gemm", "attention", ...; "other" if no rule matches
	Rule     string `json:"rule" row:"rule"`         // the id of the matching classify rule
	Input    int    `json:"input" row:"input"`
	Rank     int    `json:"rank" row:"rank"`
	Device   int64  `json:"device" row:"device"`
	Stream   int64  `json:"stream" row:"stream"`
	Op       string `json:"op,omitempty" row:"launched by,name"` // the operator that launched it; absent if unknown
	Count    int64  `json:"count" row:"launches,sum"`
	TotalNS  int64  `json:"total_ns" row:"total,sum,main"` // sum of durations
	MinNS    int64  `json:"min_ns" row:"min,min,with=mean"`
	MaxNS    int64  `json:"max_ns" row:"max,max"`
}

// PooledKernels is the name of the row that adds up the kernels beyond the limit of rows.
const PooledKernels = "(other kernels)"

// Pooled reports whether the row adds up several kernels.
func (k *Kernel) Pooled() bool { return k.Name == PooledKernels }

// A Copy represents all copies or memsets of one name on one stream.
type Copy struct {
	Name    string `json:"name" row:"copy,name"` // such as "Memcpy HtoD (Pageable -> Device)"
	Class   string `json:"class" row:"class"`    // "copy" or "memset"
	Input   int    `json:"input" row:"input"`
	Rank    int    `json:"rank" row:"rank"`
	Device  int64  `json:"device" row:"device"`
	Stream  int64  `json:"stream" row:"stream"`
	Count   int64  `json:"count" row:"count,sum"`
	TotalNS int64  `json:"total_ns" row:"total,sum,main"`
	MinNS   int64  `json:"min_ns" row:"min,min"`
	MaxNS   int64  `json:"max_ns" row:"max,max"`
	Bytes   *int64 `json:"bytes,omitempty" row:"bytes,sum"` // sum over the runs with a known size; absent if there are none
}

// A Span represents all runs of one host-side span on one thread. Spans are
// measured only for inputs without GPU events, which have nothing else.
type Span struct {
	Name     string `json:"name" row:"slice,name"`
	Category string `json:"category,omitempty" row:"category"` // as written in the trace
	Input    int    `json:"input" row:"input"`
	Rank     int    `json:"rank" row:"rank"`
	Process  string `json:"process" row:"process,name"`
	Thread   string `json:"thread" row:"thread,name"`
	Count    int64  `json:"count" row:"count,sum"`
	TotalNS  int64  `json:"total_ns" row:"total,sum"`               // sum of durations
	SelfNS   int64  `json:"self_ns" row:"self,sum,main,with=total"` // time as the innermost span of its thread
	MaxNS    int64  `json:"max_ns" row:"max,max"`
	// Async spans belong to no thread and may overlap, so their SelfNS is 0.
	Async bool `json:"async,omitempty"`
}

// A Strip is a device's window divided into bins of equal length, for pictures.
// The last bin may extend beyond the window's end.
type Strip struct {
	BinNS int64 `json:"bin_ns"`
	// NS[class][bin] is the time within the bin during which at least one event
	// of the class ran: 0 to BinNS. Classes that never ran are absent.
	NS map[string][]int64 `json:"ns"`
}
