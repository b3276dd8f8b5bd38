package tracegen

import "io"

// A Sink takes what happens in a run as it is written down, for formats that
// are not JSON. The first error that it returns ends the run, with the step that
// it is in.
//
// It is told what happened and not how a dialect writes it. What only PyTorch's
// profiler sees is left out: arrows between events, annotations as they reached a
// device, Python functions, memory, and its own work on no thread.
type Sink interface {
	Begin(Run) error
	Host(HostEvent) error
	Device(DeviceEvent) error
}

// A Run is what is known of a run before its first event.
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

// A HostKind says what a [HostEvent] is.
type HostKind uint8

// The kinds of host events.
const (
	Range    HostKind = iota // a step or a phase, as the program marked it
	Operator                 // an operator of the framework
	APICall                  // a call of the runtime, or of the driver
	Overhead                 // work that a thread did for the profiler
)

// A HostEvent is something that a thread of the host did. Times are those of
// the JSON.
type HostEvent struct {
	Kind       HostKind
	Name       string
	Process    int64
	Thread     int64
	Start, Dur int64

	// Of an operator.
	External int64     // its number, from 1
	Sequence int64     // that pairs forward with backward operators; 0 for none
	Dims     [][]int64 // shapes of the inputs; nil if they were not recorded

	// Of a call.
	Correlation int64 // with what it launched
	Driver      bool
	Device      int // that the thread drives
	Stream      int // that it works on: of what it launched, or else the main one
}

// A DeviceEvent is something that a device did: a kernel, copy or memset.
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

// noSink is for who wants the JSON alone.
type noSink struct{}

func (noSink) Begin(Run) error          { return nil }
func (noSink) Host(HostEvent) error     { return nil }
func (noSink) Device(DeviceEvent) error { return nil }

// tell keeps the first error of the sink, which ends the run as one of the
// writer does.
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

// tellOperator tells of the operator of a level around p.
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

// tellCall tells of the call that launches p, or that only takes time.
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
