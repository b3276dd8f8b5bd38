package inspect

import (
	"slices"

	"assay/internal/stat"
	"assay/summary"
)

// Times are statistics of the durations of the operations found, in ns.
type Times struct {
	Count    int64 `json:"count"`
	TotalNS  int64 `json:"total_ns"`
	MinNS    int64 `json:"min_ns"`
	MedianNS int64 `json:"median_ns"`
	MaxNS    int64 `json:"max_ns"`

	all []int64
}

func (t *Times) add(ns int64) {
	t.all = append(t.all, ns)
	t.TotalNS = summary.Plus(t.TotalNS, ns)
}

// join adds the durations of another input.
func (t *Times) join(o Times) {
	t.all = append(t.all, o.all...)
	t.TotalNS = summary.Plus(t.TotalNS, o.TotalNS)
}

// finish computes what depends on all durations.
func (t *Times) finish() {
	n := len(t.all)
	if t.Count = int64(n); n == 0 {
		return
	}
	slices.Sort(t.all)
	t.MinNS, t.MedianNS, t.MaxNS = t.all[0], stat.Median(t.all), t.all[n-1]
}

// A Named has the operations of one name.
type Named struct {
	Name string `json:"name"`
	Times
}

// A Kernels is the answer about GPU operations: kernels, copies and memsets.
type Kernels struct {
	Category bool `json:"category,omitempty"` // the pattern matched no name and is the id of a category
	Times
	GPUNS int64 `json:"gpu_ns"` // total time of all GPU operations, found or not

	Names   []Named    `json:"names"`   // largest total first
	Longest []Instance `json:"longest"` // longest first
	Sites   []Site     `json:"sites"`   // what launched them, largest total first
	Shapes  []Shape    `json:"shapes,omitempty"`

	Left Left `json:"left_out,omitzero"`

	Instead Suggestion `json:"-"` // if nothing was found
}

// A Suggestion is a few names that the capture has.
type Suggestion struct {
	Names []string
	Near  bool // the names are similar to the pattern; otherwise they have the most time
}

// Left counts the rows that were left out.
type Left struct {
	Names  int `json:"names,omitempty"`
	Sites  int `json:"sites,omitempty"`
	Shapes int `json:"shapes,omitempty"`
}

// An Instance is one GPU operation.
type Instance struct {
	Name string `json:"name"`
	summary.GPU
	Stream  int64 `json:"stream"`
	StartNS int64 `json:"start_ns"` // on the trace's own clock
	AtNS    int64 `json:"at_ns"`    // since the start of the capture
	NS      int64 `json:"ns"`
	Step    *Step `json:"step,omitempty"`

	Grid  []int64 `json:"grid,omitempty"`
	Block []int64 `json:"block,omitempty"`
	Bytes *int64  `json:"bytes,omitempty"`

	Launch *Launch    `json:"launch,omitempty"`
	Site   *Site      `json:"site,omitempty"`
	Dims   string     `json:"dims,omitempty"`   // Input Dims of the operator
	Before *Neighbour `json:"before,omitempty"` // what ran last on the stream
	After  *Neighbour `json:"after,omitempty"`  // what ran next
}

// A Step is a step of the capture, by the number that --step takes.
type Step struct {
	Number int64  `json:"number"`
	Name   string `json:"name"`
}

// A Launch is the call that launched an operation.
type Launch struct {
	Call    string `json:"call"`
	Thread  string `json:"thread"`
	AtNS    int64  `json:"at_ns"`
	NS      int64  `json:"ns"`
	DelayNS int64  `json:"delay_ns"` // from the start of the call to the start of the operation
	QueueNS int64  `json:"queue_ns"` // from the end of the call
}

// A Neighbour is the operation before or after another on its stream.
type Neighbour struct {
	Name    string `json:"name"`
	NS      int64  `json:"ns"`
	ApartNS int64  `json:"apart_ns"` // between the two; negative if they overlap
}

// A Frame is a Python function.
type Frame struct {
	Name string `json:"name"` // with file and line
	File string `json:"file,omitempty"`
	Line int64  `json:"line,omitempty"`
}

// A Site is a place in the program that launches GPU work.
type Site struct {
	Op      string  `json:"op,omitempty"`
	Module  string  `json:"module,omitempty"`
	Range   string  `json:"range,omitempty"` // the innermost annotated range
	Pass    string  `json:"pass,omitempty"`
	Stack   []Frame `json:"stack,omitempty"` // Python functions, innermost first
	Count   int64   `json:"count,omitempty"`
	TotalNS int64   `json:"total_ns,omitempty"`

	// Unknown says that the launches were not recorded.
	Unknown bool `json:"unknown,omitempty"`
}

// A Shape has the work launched by an operator with one shape of its arguments.
type Shape struct {
	Op    string `json:"op"`
	Dims  string `json:"dims"`
	Types string `json:"types,omitempty"`
	Times
}

// Ops is the answer about operators, or about annotated ranges if no operator matches.
type Ops struct {
	Ranges     bool  `json:"ranges,omitempty"`           // annotated ranges and slices, not operators
	Exact      bool  `json:"exact,omitempty"`            // the name equals the pattern, with or without a namespace
	Containing int   `json:"names_containing,omitempty"` // if exact: further operators that "*PATTERN*" finds
	Count      int64 `json:"count"`
	CPUNS      int64 `json:"cpu_ns"`      // those in others of the same name do not count again
	GPUSelfNS  int64 `json:"gpu_self_ns"` // launched by them as the innermost operator
	GPUNS      int64 `json:"gpu_ns"`      // launched in them, each operation once

	Names   []Op    `json:"names"`
	Kernels []Named `json:"kernels"` // GPU operations launched in them
	Longest []Run   `json:"longest"` // most GPU time first, else most CPU time
	Sites   []Site  `json:"sites,omitempty"`

	Left    OpsLeft    `json:"left_out,omitzero"`
	Instead Suggestion `json:"-"` // if nothing was found
}

// OpsLeft counts the rows that were left out.
type OpsLeft struct {
	Names   int `json:"names,omitempty"`
	Kernels int `json:"kernels,omitempty"`
	Sites   int `json:"sites,omitempty"`
	Shapes  int `json:"shapes,omitempty"`
}

// An Op is the calls of one operator, and an OpShape those with one shape of arguments.
type (
	Op struct {
		Name string `json:"name"`
		OpSums
		Shapes []OpShape `json:"shapes,omitempty"` // most GPU time first
	}
	OpShape struct {
		Dims  string `json:"dims"`
		Types string `json:"types,omitempty"`
		OpSums
	}
	OpSums struct {
		Count     int64 `json:"count"`
		CPUNS     int64 `json:"cpu_ns"`
		GPUSelfNS int64 `json:"gpu_self_ns"`
		GPUNS     int64 `json:"gpu_ns"`
	}
)

func (s *OpSums) plus(o OpSums) {
	s.Count += o.Count
	s.CPUNS, s.GPUSelfNS, s.GPUNS = summary.Plus(s.CPUNS, o.CPUNS), summary.Plus(s.GPUSelfNS, o.GPUSelfNS),
		summary.Plus(s.GPUNS, o.GPUNS)
}

// A Run is one call of an operator.
type Run struct {
	Name      string  `json:"name"`
	Input     int     `json:"input"`
	Rank      int     `json:"rank"`
	Thread    string  `json:"thread"`
	StartNS   int64   `json:"start_ns"`
	AtNS      int64   `json:"at_ns"`
	NS        int64   `json:"ns"`
	GPUSelfNS int64   `json:"gpu_self_ns"`
	GPUNS     int64   `json:"gpu_ns"`
	Dims      string  `json:"dims,omitempty"`
	Stack     []Frame `json:"stack,omitempty"`
}

// A Gap is a span of time in which a GPU ran nothing.
type Gap struct {
	summary.GPU
	Number  int   `json:"number"` // 1 is the longest
	StartNS int64 `json:"start_ns"`
	AtNS    int64 `json:"at_ns"`
	NS      int64 `json:"ns"`

	Step   *Step `json:"step,omitempty"`
	Before *Work `json:"before,omitempty"` // what ended last before it
	After  *Work `json:"after,omitempty"`  // what ended it

	Causes []Cause `json:"causes,omitempty"` // sum to NS, longest first
	Launch *Launch `json:"launch,omitempty"` // of After
	// events of the launching thread that were open during the whole gap, outer to inner
	Around []Span `json:"around,omitempty"`
	Inside []Span `json:"inside,omitempty"` // what else it did, longest first, nested
}

// A Work is a GPU operation at a gap.
type Work struct {
	Name   string `json:"name"`
	Stream int64  `json:"stream"`
	NS     int64  `json:"ns"`
}

// A Cause is a part of idle time with one cause: see [summary.Idle].
type Cause struct {
	Owner string `json:"owner"`
	State string `json:"state,omitempty"`
	Name  string `json:"name,omitempty"`
	NS    int64  `json:"ns"`
}

// A Span is an event of a host thread, or all events of one name at one place of the tree.
type Span struct {
	Name  string `json:"name"`
	Kind  string `json:"kind"`
	Count int64  `json:"count,omitempty"` // of events that start in the gap
	AtNS  int64  `json:"at_ns"`           // start of the first
	NS    int64  `json:"ns"`              // within the gap; of open spans all of it
	In    []Span `json:"in,omitempty"`
}

// A Moment describes one time of one input.
type Moment struct {
	Input   int      `json:"input"`
	Rank    int      `json:"rank"`
	TimeNS  int64    `json:"time_ns"` // on the trace's own clock
	AtNS    int64    `json:"at_ns"`   // since the start of the capture
	Phase   string   `json:"phase,omitempty"`
	Devices []Device `json:"devices,omitempty"`
	Threads []Thread `json:"threads,omitempty"`

	ThreadsLeft int `json:"threads_left_out,omitempty"`
}

// A Device is a GPU at a moment.
type Device struct {
	Rank    int      `json:"rank"`
	Device  int64    `json:"device"`
	Name    string   `json:"name,omitempty"`
	Step    *Step    `json:"step,omitempty"`
	Outside bool     `json:"outside,omitempty"` // the moment is before its first or after its last operation
	Queued  int64    `json:"queued"`            // operations that were launched and had not started
	Gap     *Gap     `json:"gap,omitempty"`     // where nothing runs
	Streams []Stream `json:"streams"`

	StreamsLeft int `json:"streams_left_out,omitempty"`
}

// A Stream is a stream at a moment.
type Stream struct {
	Stream  int64     `json:"stream"`
	Running []Current `json:"running,omitempty"`
	Before  *Current  `json:"before,omitempty"` // ended last
	After   *Current  `json:"after,omitempty"`  // starts next
}

// A Current is an operation or span near a moment.
type Current struct {
	Name    string `json:"name"`
	StartNS int64  `json:"start_ns"`
	NS      int64  `json:"ns"`
	AgoNS   int64  `json:"ago_ns"` // from its start to the moment; of what ended, from its end; of what comes, negative
}

// A Thread is a thread of the host at a moment, with what it has open, outer to inner.
type Thread struct {
	Name string `json:"name"`
	Open []Span `json:"open"`
}
