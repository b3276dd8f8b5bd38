package tracegen

import "io"

// A Sink receives the events of a run while it is written, for formats other
// than JSON. The first error that it returns ends the run, together with the
// current step.
//
// It receives the events in a form that does not depend on the dialect. Data
// that only PyTorch's profiler records is left out: arrows between events,
// annotations on devices, Python functions, memory, and the profiler's own work
// outside threads.
type Sink interface {
	Begin(Run) error
	Host(HostEvent) error
	Device(DeviceEvent) error
}

// A Run has the properties of a run that are known before its first event.
type Run struct {
	Name        string
	Vendor      Vendor
	Rank, Ranks int
	BaseNS      int64 // nanoseconds since 1970 at time 0
	BeginNS     int64 // when the run begins; no event starts before
	Processes   []int64
	Devices     []DeviceInfo // none if none was profiled
}

// A DeviceInfo is a device and the process that drives it.
type DeviceInfo struct {
	Ordinal int
	Name    string // of the hardware
	Process int64
}

// A HostKind is the kind of a [HostEvent].
type HostKind uint8

// The kinds of host events.
const (
	Range    HostKind = iota // a step or a phase, marked by the program
	Operator                 // an operator of the framework
	APICall                  // a call of the runtime, or of the driver
	Overhead                 // work that a thread did for the profiler
)

// A HostEvent is an activity of a host thread. Times are those of the JSON.
type HostEvent struct {
	Kind       HostKind
	Name       string
	Process    int64
	Thread     int64
	Start, Dur int64

	// Of an operator:
	External int64     // its number, from 1
	Sequence int64     // pairs forward with backward operators; 0 for none
	Dims     [][]int64 // shapes of the inputs; nil if they were not recorded

	// Of a call:
	Correlation int64 // shared with the launched work
	Driver      bool
	Device      int // driven by the thread
	Stream      int // of the launched work, otherwise the main stream
}

// A DeviceEvent is a kernel, copy or memset of a device.
type DeviceEvent struct {
	*Op
	Process     int64
	Device      int
	Start, Dur  int64
	Correlation int64
	GraphNode   int // number of the kernel in its graph; only with Op.Graph

	Registers, SharedMemory int64
	Grid, Block             int64 // blocks, and threads of each, in one dimension
}

// Record is [Generate] for two formats at once: the JSON goes to w and the same
// run to the sink.
func Record(w io.Writer, sink Sink, sc Scenario, rank int) (Truth, error) {
	return generate(w, sink, sc, rank)
}

// noSink is the sink for callers that need only the JSON.
type noSink struct{}

func (noSink) Begin(Run) error          { return nil }
func (noSink) Host(HostEvent) error     { return nil }
func (noSink) Device(DeviceEvent) error { return nil }

// tell stores the first error of the sink, which ends the run like an error of
// the writer.
func (g *generator) tell(err error) {
	if g.err == nil {
		g.err = err
	}
}

func (g *generator) tellBegin() {
	r := Run{Name: g.sc.Name, Vendor: g.dialect.Vendor, Rank: g.rank, Ranks: g.sc.Ranks, BaseNS: g.base, BeginNS: g.begin, Processes: []int64{g.pid}}
	for _, d := range g.devices {
		if !g.sc.CPUOnly {
			r.Devices = append(r.Devices, DeviceInfo{d.Ordinal, d.Name, g.pid})
		}
	}
	g.tell(g.sink.Begin(r))
}

// newHostEvent returns an event of a thread.
func newHostEvent(kind HostKind, name string, at track, ts, dur int64) HostEvent {
	return HostEvent{Kind: kind, Name: name, Process: at.pid, Thread: at.tid, Start: ts, Dur: dur}
}

// tellOperator passes the operator of a level around p to the sink.
func (g *generator) tellOperator(n int, p *placed, level int, at track, ts, dur int64) {
	e := newHostEvent(Operator, p.Host[level], at, ts, dur)
	e.External = p.external
	if g.sequenced(p, level) {
		e.Sequence = g.sequence(n, p)
	}
	if g.shaped(p, level) {
		e.Dims = p.Dims
	}
	g.tell(g.sink.Host(e))
}

// tellCall passes the call that launches p, or that only takes time, to the
// sink.
func (g *generator) tellCall(d *deviceRun, p *placed, c call, at track, ts, dur int64) {
	e := newHostEvent(APICall, c.name, at, ts, dur)
	e.Correlation, e.Driver = p.correlation, c.category == "cuda_driver"
	e.Device, e.Stream = d.Ordinal, p.Stream
	if p.Kind == HostOnly {
		e.Stream = d.stream
	}
	g.tell(g.sink.Host(e))
}

func (g *generator) tellWork(d *deviceRun, p *placed) {
	e := DeviceEvent{
		Op: p.Op, Process: g.pid, Device: d.Ordinal, Start: p.start, Dur: p.dur, Correlation: p.correlation,
		Registers: registersOf(p.Op), SharedMemory: sharedMemoryOf(p.Op), Grid: gridOf(p.Op), Block: blockOf(p.Op),
	}
	if p.Graph != 0 {
		e.GraphNode = p.segment
	}
	g.tell(g.sink.Device(e))
}
