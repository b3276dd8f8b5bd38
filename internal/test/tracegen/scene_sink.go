package tracegen

import "cmp"

// Play passes the events of the story to a sink: all events of the JSON, except
// those that sinks do not receive.
func (s Story) Play(sink Sink) error { return s.scene.play(sink) }

func (s *scene) play(sink Sink) error {
	r := Run{Name: s.name, Vendor: s.dialect.Vendor, Ranks: 1, BeginNS: s.begin}
	r.BaseNS, _ = epoch(s.dialect.Era)
	for _, p := range s.processes {
		r.Processes = append(r.Processes, p.number)
	}
	for _, g := range s.gpus {
		r.Devices = append(r.Devices, DeviceInfo{g.ordinal, cudaNames().device, g.of.number})
	}
	err := sink.Begin(r)
	s.each(func(n *node) {
		if e, ok := n.hostEvent(); ok && err == nil {
			err = sink.Host(e)
		}
	})
	for _, g := range s.gpus {
		for _, w := range g.works {
			if err == nil {
				err = sink.Device(w.deviceEvent())
			}
		}
	}
	return err
}

// hostEvent returns n for a sink, and whether sinks receive it.
func (n *node) hostEvent() (HostEvent, bool) {
	kind, ok := map[string]HostKind{
		catOp: Operator, catAnnotation: Range, catRuntime: APICall, catDriver: APICall, catOverhead: Overhead,
	}[n.category]
	e := HostEvent{
		Kind: kind, Name: n.name, Process: n.th.of.number, Thread: n.th.tid, Start: n.start, Dur: n.end - n.start,
		External: n.external, Sequence: n.sequence, Correlation: n.correlation, Driver: n.category == catDriver,
	}
	if len(n.works) > 0 {
		e.Device, e.Stream = n.works[0].on.ordinal, n.works[0].stream
	} else if g := n.th.of.gpu(); g != nil {
		e.Device, e.Stream = g.ordinal, computeStream
	}
	return e, ok
}

// gpu returns the first device that p drives, or nil.
func (p *process) gpu() *gpu {
	for _, g := range p.s.gpus {
		if g.of == p {
			return g
		}
	}
	return nil
}

func (w *work) deviceEvent() DeviceEvent {
	op := &Op{Kind: w.kind, Name: w.name, Stream: w.stream}
	if w.kind == Copy || w.kind == Memset {
		op.Bytes = cmp.Or(w.bytes, workBytes)
	}
	e := DeviceEvent{
		Op: op, Process: w.on.of.number, Device: w.on.ordinal, Start: w.start, Dur: w.dur, Correlation: w.correlation,
		Registers: 32, Grid: 64, Block: 256,
	}
	if w.graph != nil {
		op.Graph, e.GraphNode = w.graph.id, w.graphNode
	}
	return e
}
