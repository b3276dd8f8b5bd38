// Package trace is the timeline model and the reader of Chrome trace-event
// JSON, its own text form, as PyTorch's profiler (Kineto) and many others
// write it.
//
// A [Reader] yields events as they are written, a [Builder] makes tables of
// them, and together they are a [Trace]: typed, interned and immutable. [Read]
// does it all, on several cores. All times are int64 nanoseconds on the trace's
// own clock; they never pass through a float.
//
// Package analyze, which measures traces, comes next.
package trace

import "assay/diag"

// A Trace is one timeline: one file, one clock, one process of a job. It is
// immutable and safe for concurrent readers.
type Trace struct {
	File     string
	Meta     Meta
	Events   int64        // elements of the event array, usable or not
	Issues   []diag.Issue // worst first
	Complete bool         // false if the input broke off

	Tracks     []Track
	Activities Table[Activity]
	Ops        Table[Op]
	Calls      Table[Call]
	CopySizes  Table[CopySize]
	Python     Table[PythonCall]
	Spans      Table[HostSpan]
	Async      []HostSpan // spans that may overlap others of their track
	Flows      Table[FlowEnd]
	Memory     Table[MemoryEvent]

	names   []string
	details []Detail
	shapes  []Shape
}

// Name returns the text of s.
func (t *Trace) Name(s Sym) string { return t.names[s] }

// Names returns how many distinct texts the trace holds: every Sym is below.
func (t *Trace) Names() int { return len(t.names) }

// Detail returns how an activity was launched.
func (t *Trace) Detail(id DetailID) *Detail { return &t.details[id] }

// Shape returns what an operator was called with.
func (t *Trace) Shape(id ShapeID) *Shape { return &t.shapes[id] }

// Sniff reports whether a file that starts with prefix may be a trace in JSON:
// an object with events or what surrounds them, or an array of objects. "Not
// mine" differs from "mine but broken": a broken trace still is one.
func Sniff(prefix []byte) bool { return sniff(prefix) }
