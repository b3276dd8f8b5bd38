// Package trace contains the timeline model and the reader of Chrome
// trace-event JSON, the text form in which PyTorch's profiler (Kineto) and many
// others write timelines.
//
// A [Reader] yields events as they are written. A [Builder] makes tables from
// them. The tables form a [Trace], which is typed, interned and immutable.
// [Read] does all of this on several cores and gives the same result as one
// Reader and one Builder.
//
// All times are int64 nanoseconds on the trace's own clock. They are never
// converted to a float64, which near today's wall clock cannot distinguish times
// that are less than 250 ns apart.
//
// # Where to start
//
// For the model, read kind.go (what kinds of events there are), rows.go (one
// struct per table), table.go (how rows are stored) and this file.
//
// For the reader, read in the order in which the bytes move: reader.go (the
// JSON document around the events), events.go and event.go (one event, and why
// it may be unusable), builder.go (an event becomes a row), merge.go (the rows
// of several builders become one trace), pair.go (begins and ends become
// spans). pipeline.go does the same in parallel, and read.go switches between
// the two. limits.go bounds the memory of all of them.
//
// Other formats make the same model with an [Assembler] (assemble.go).
//
// For parts of a trace, read window.go (what the analysis of a time window
// needs), only.go (some GPUs or streams), and index.go, cut.go and copy.go,
// which copy the selected events of a file byte for byte.
//
// Package eventscan, below, scans the JSON of one event. Package analyze, above,
// measures traces.
package trace

import "assay/internal/diag"

// A Trace is one timeline: one file, one clock, one process of a job. It is
// immutable and safe for concurrent readers.
type Trace struct {
	File     string
	Meta     Meta
	Events   int64        // elements of the event array, usable or not
	Issues   []diag.Issue // worst first
	Complete bool         // false if the input broke off
	Window   *Window      // the part of the capture that is measured; nil for the whole capture
	Moved    bool         // times of GPU work were moved to the clock of the host by an estimate: see MovedBy

	Tracks      []Track
	Activities  Table[Activity]
	Ops         Table[Op]
	Calls       Table[Call]
	CopySizes   Table[CopySize]
	Collectives Table[CollectiveCall] // by record_param_comms, and by kernels with a sequence number
	Python      Table[PythonCall]
	Spans       Table[HostSpan]
	Syncs       Table[SyncRecord] // synchronizations among Spans whose call is known
	Async       []HostSpan        // spans that may overlap others of their track
	Flows       Table[FlowEnd]
	Memory      Table[MemoryEvent]
	GraphNodes  []GraphNode // with [Select.GraphNodes], if the profiler recorded where nodes were created
	Stated      []Stated    // what a compiler states of work

	// With [Select.Index] only: where the events are, the begins and ends of spans, and
	// the numbers of those two of each span that is made of them.
	index *Index
	marks Table[Mark]
	pairs [][2]uint32

	names   []string
	details []Detail
	shapes  []Shape
}

// Name returns the text of s.
func (t *Trace) Name(s Sym) string { return t.names[s] }

// Texts returns a pointer to the texts that a Sym names, for those who rewrite them.
func (t *Trace) Texts() []any { return []any{&t.names} }

// Names returns the number of distinct texts of the trace. Every Sym is less
// than that.
func (t *Trace) Names() int { return len(t.names) }

// WithoutHost returns a trace without the tables of host events, so that their memory can be used again.
func (t *Trace) WithoutHost() *Trace {
	out := *t
	out.Ops, out.Calls, out.Python, out.Spans = Table[Op]{}, Table[Call]{}, Table[PythonCall]{}, Table[HostSpan]{}
	out.Async, out.Flows, out.Syncs, out.CopySizes, out.Memory = nil, Table[FlowEnd]{}, Table[SyncRecord]{}, Table[CopySize]{}, Table[MemoryEvent]{}
	return &out
}

// WithActivities returns a trace without the activities of drop and with the durations of durs, in
// ns. It shares all other tables with t.
func (t *Trace) WithActivities(drop map[Ref]bool, durs map[Ref]int64) *Trace {
	var c column[Activity]
	for ref, row := range t.Activities.Refs() {
		if drop[ref] {
			continue
		}
		a := c.next()
		*a = *row
		if dur, ok := durs[ref]; ok {
			a.Dur = dur
		}
	}
	out := *t
	out.Activities = tableOf(&c)
	return &out
}

// MovedBy returns a trace in which the activities of each device start by ns later. It shares all
// other tables with t.
func (t *Trace) MovedBy(by map[int64]int64) *Trace {
	var c column[Activity]
	for row := range t.Activities.All() {
		a := c.next()
		*a = *row
		a.Start += by[t.Tracks[a.Track].Device]
	}
	out := *t
	out.Activities, out.Moved = tableOf(&c), true
	if t.Window != nil {
		w := *t.Window
		w.Extent = make(map[int64]Extent, len(t.Window.Extent))
		for device, e := range t.Window.Extent {
			w.Extent[device] = Extent{e.Start + by[device], e.End + by[device]}
		}
		out.Window = &w
	}
	return &out
}

// Detail returns the launch properties of an activity.
func (t *Trace) Detail(id DetailID) *Detail { return &t.details[id] }

// Shape returns the arguments of an operator.
func (t *Trace) Shape(id ShapeID) *Shape { return &t.shapes[id] }

// Sniff reports whether a file that starts with prefix may be a trace in JSON:
// an object with events or their usual members, or an array of objects. A
// broken trace is still a trace.
func Sniff(prefix []byte) bool { return sniff(prefix) }
