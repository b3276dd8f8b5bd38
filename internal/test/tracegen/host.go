package tracegen

// write writes the events of one step: those of the host, then each launch with
// its work.
func (g *generator) write(n int, step Step) {
	main := g.thread(g.devices[0], false)
	g.rangeOf(step.Name, main, step.StartNS, step.WallNS)
	if g.dialect.Stack {
		g.rootFrame("demo/train.py(52): train_step", main, step.StartNS, step.WallNS)
	}
	for _, d := range g.devices {
		g.phases(d, step)
		for i := range d.ops {
			g.hostOps(n, d, &d.ops[i])
		}
		if g.dialect.Stack {
			g.modules(d)
		}
		for i := range d.ops {
			g.launch(d, &d.ops[i])
			if !g.sc.CPUOnly && d.ops[i].Kind != HostOnly {
				g.deviceEvent(d, &d.ops[i])
			}
		}
		if !g.sc.CPUOnly {
			g.deviceSpan(d, step.Name, 0, len(d.lens))
		}
	}
	g.slice("overhead", "Activity Buffer Request", track{pid: -1, tid: 0}, step.StartNS, min(step.WallNS, 3*us))
	g.end()
}

// thread returns the track of the host thread that drives d.
func (g *generator) thread(d *deviceRun, backward bool) track {
	tid := g.pid + 100*int64(d.index)
	if backward {
		tid += 45
	}
	return track{pid: g.pid, tid: tid}
}

func (g *generator) nextExternal() int64 {
	g.ids.external++
	return g.ids.external
}

// rangeOf writes an annotation of the program, on its own thread.
func (g *generator) rangeOf(name string, at track, ts, dur int64) {
	g.annotation("user_annotation", name, at, ts, dur, g.nextExternal())
	g.tell(g.sink.Host(newHostEvent(Range, name, at, ts, dur)))
}

func (g *generator) annotation(category, name string, at track, ts, dur, external int64) {
	g.slice(category, name, at, ts, dur)
	g.args()
	g.int("External id", external)
	if category == "user_annotation" {
		g.recordID()
	}
	g.endArgs()
}

// phases writes each phase of the step, on the host and on the device.
func (g *generator) phases(d *deviceRun, step Step) {
	for i := 0; i < len(d.Program); {
		from, name := i, d.Program[i].Phase
		for i < len(d.Program) && d.Program[i].Phase == name {
			i++
		}
		if name == "" {
			continue
		}
		start := d.host[from]
		end := min(d.host[i], step.StartNS+step.WallNS)
		if end <= start {
			continue
		}
		g.rangeOf(name, g.thread(d, false), start, end-start)
		if !g.sc.CPUOnly {
			g.deviceSpan(d, name, from, i)
		}
	}
}

// deviceSpan writes an annotation on d's main stream: from the first to the
// last kernel that the segments from <= i < to launched there.
func (g *generator) deviceSpan(d *deviceRun, name string, from, to int) {
	start, end := int64(-1), int64(-1)
	for i := range d.ops {
		p := &d.ops[i]
		if p.segment < from || p.segment >= to || p.Kind == HostOnly || p.Stream != d.stream {
			continue
		}
		if start < 0 {
			start = p.start
		}
		end = max(end, p.start+p.dur)
	}
	if start >= 0 {
		g.annotation("gpu_user_annotation", name, track{pid: int64(d.Ordinal), tid: int64(d.stream)}, start, end-start, g.ids.external)
	}
}

// hostOps writes the operators around one launch, each nested in the one
// before, and sets p's External id to that of the innermost.
func (g *generator) hostOps(n int, d *deviceRun, p *placed) {
	if !p.launched && p.Kind != HostOnly { // part of a graph whose launch precedes it
		p.external = d.ops[d.graphs[p.Graph]].external
		return
	}
	at := g.thread(d, p.Backward)
	for level, name := range p.Host {
		p.external = g.nextExternal()
		inset := g.inset(p, level)
		ts, dur := p.slot+inset, p.slotEnd-p.slot-2*inset
		g.slice("cpu_op", name, at, ts, dur)
		g.opArgs(n, p, level)
		g.end()
		g.tellOperator(n, p, level, at, ts, dur)
		if level == 0 && p.Seq != 0 {
			ph := "s"
			if p.Backward {
				ph = "f"
			}
			g.flow("fwdbwd", ph, "fwdbwd", g.sequence(n, p), at, ts)
		}
	}
	if g.dialect.Memory && len(p.Host) > 0 {
		g.memory(p, at)
	}
}

// inset returns the distance between the start of p's slot and the start of the
// operator of a level.
func (g *generator) inset(p *placed, level int) int64 {
	ns := (p.slotEnd - p.slot) / int64(4*(len(p.Host)+1))
	return int64(level) * (ns - ns%g.unit)
}

// sequence returns the number that p shares with its forward or backward op.
func (g *generator) sequence(n int, p *placed) int64 { return int64(n)*g.maxSeq + int64(p.Seq) }

// sequenced and shaped report whether the operator of a level around p has its
// sequence number, and the shapes of its inputs.
func (g *generator) sequenced(p *placed, level int) bool { return p.Seq != 0 && level < 2 }

func (g *generator) shaped(p *placed, level int) bool {
	return g.dialect.Shapes && level == len(p.Host)-1 && len(p.Dims) > 0
}

func (g *generator) opArgs(n int, p *placed, level int) {
	g.args()
	if g.dialect.Era == Era2022 {
		g.str("Trace name", "PyTorch Profiler")
		g.int("Trace iteration", 0)
	}
	g.int("External id", p.external)
	if g.sequenced(p, level) {
		g.int("Sequence number", g.sequence(n, p))
		thread := int64(0)
		if p.Backward {
			thread = 1
		}
		g.int("Fwd thread id", thread)
	}
	if g.shaped(p, level) {
		g.shapes(p.Dims)
	}
	if p.Collective != nil && p.Host[level] == "record_param_comms" {
		g.collective(p.Collective)
	}
	g.recordID()
	if g.dialect.Era == Era2022 {
		g.str("Module Hierarchy", "")
		g.str("Call stack", "")
	}
	g.br()
	g.close('}')
}

// shapes writes the inputs of an operator: tensors, then one scalar.
func (g *generator) shapes(dims [][]int64) {
	modern := g.dialect.Era <= Era2024
	if modern {
		g.array("Concrete Inputs")
		for range dims {
			g.next()
			g.quoted("")
		}
		g.next()
		g.quoted("1")
		g.close(']')
	}
	g.array("Input type")
	for range dims {
		g.next()
		g.quoted("c10::BFloat16")
	}
	g.next()
	g.quoted("Scalar")
	g.close(']')
	if modern {
		g.array("Input Strides")
		var strides [8]int64
		for _, dim := range dims {
			stride := int64(1)
			for i := len(dim) - 1; i >= 0; i-- {
				strides[i] = stride
				stride *= dim[i]
			}
			g.next()
			g.intArray(strides[:len(dim)])
		}
		g.next()
		g.intArray(nil)
		g.close(']')
	}
	g.array("Input Dims")
	for _, dim := range dims {
		g.next()
		g.intArray(dim)
	}
	g.next()
	g.intArray(nil)
	g.close(']')
}

// memory writes an allocation by every other operator and its release by the
// operators between them.
func (g *generator) memory(p *placed, at track) {
	bytes := int64(512)
	if g.records%2 == 0 || g.allocated == 0 {
		g.allocated += bytes
	} else {
		bytes = -bytes
		g.allocated += bytes
	}
	device, kind := 0, int64(typeCUDA)
	if g.sc.CPUOnly {
		device, kind = -1, typeHost
	}
	g.memoryEvent(at, p.slot+g.inset(p, len(p.Host)), device, kind, allocation{0x7f1e00000000 + g.allocated, bytes, g.allocated, 2 << 30})
}

// A frame is an nn.Module call that has not returned.
type frame struct {
	name      string
	start, id int64
}

// modules writes the nn.Module calls around d's forward operators: a call lasts
// from the first operator with it in its path to the end of the last one.
func (g *generator) modules(d *deviceRun) {
	at := g.thread(d, false)
	end := int64(0)
	for i := range d.ops {
		p := &d.ops[i]
		if p.Backward || p.slotEnd == 0 {
			continue
		}
		same := 0
		for same < len(g.stack) && same < len(p.Module) && g.stack[same].name == p.Module[same] {
			same++
		}
		g.leave(same, at, end)
		for _, name := range p.Module[same:] {
			g.ids.python++
			g.stack = append(g.stack, frame{name, p.slot, g.ids.python})
		}
		end = p.slotEnd
	}
	g.leave(0, at, end)
}

// leave returns from the open module calls down to depth.
func (g *generator) leave(depth int, at track, end int64) {
	for len(g.stack) > depth {
		f := g.stack[len(g.stack)-1]
		g.stack = g.stack[:len(g.stack)-1]
		parent := g.root
		if len(g.stack) > 0 {
			parent = g.stack[len(g.stack)-1].id
		}
		g.slice("python_function", "nn.Module: "+f.name, at, f.start, end-f.start)
		g.args()
		g.int("Python parent id", parent)
		g.int("Python id", f.id)
		g.int("Python module id", int64(depth))
		g.recordID()
		g.endArgs()
	}
}

// rootFrame writes the function that calls all of the step's modules.
func (g *generator) rootFrame(name string, at track, ts, dur int64) {
	g.ids.python++
	g.root = g.ids.python
	g.slice("python_function", name, at, ts, dur)
	g.args()
	g.raw("Python parent id", "null")
	g.int("Python id", g.root)
	g.recordID()
	g.endArgs()
}
