package tracegen

import (
	"bytes"
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// A sceneWriter writes a scene in the format of PyTorch's profiler.
type sceneWriter struct {
	emitter
	s *scene
}

// workBytes is the default size of a copy or memset of a scene.
const workBytes = 4096

// tell writes the scene and computes the truth.
func (s *scene) tell() Story {
	var b bytes.Buffer
	w := &sceneWriter{s: s}
	w.w, w.dialect = &b, s.dialect
	w.base, _ = epoch(s.dialect.Era)
	w.header()
	s.each(func(n *node) {
		if !n.isCall() {
			w.host(n)
		}
	})
	s.each(func(n *node) {
		if n.isCall() {
			w.call(n)
		}
	})
	for _, g := range s.gpus { // work whose call is not in the trace
		for _, work := range g.works {
			if work.call == nil {
				w.work(work)
			}
		}
	}
	for _, sp := range s.spans {
		w.span(sp)
	}
	for i := range s.changes {
		w.memory(&s.changes[i])
	}
	w.names()
	w.br()
	w.close(']')
	w.br()
	w.str("traceName", s.name+".json")
	w.br()
	w.close('}')
	w.buf = append(w.buf, '\n')
	w.flush()
	return Story{Name: s.name, JSON: b.Bytes(), Truth: s.truth(), scene: s}
}

func (w *sceneWriter) header() {
	w.open('{')
	w.br()
	w.int("schemaVersion", 1)
	w.br()
	w.array("deviceProperties")
	for _, g := range w.s.gpus {
		w.next()
		w.open('{')
		w.int("id", int64(g.ordinal))
		w.str("name", cudaNames().device)
		w.int("totalGlobalMem", deviceMemory)
		w.int("numSms", 132)
		w.close('}')
	}
	w.close(']')
	w.br()
	w.object("distributedInfo")
	w.int("rank", int64(w.s.rank))
	if w.s.ranks > 0 {
		w.int("world_size", int64(w.s.ranks))
	}
	w.close('}')
	w.br()
	w.str("displayTimeUnit", "ms")
	if w.dialect.Era == Modern {
		w.br()
		w.int("baseTimeNanoseconds", w.base)
	}
	w.br()
	w.array("traceEvents")
}

func (n *node) track() track { return n.th.track() }

func (t *thread) track() track { return track{t.of.number, t.tid, t.of.label} }

func (g *gpu) track(stream int) track { return track{int64(g.ordinal), int64(stream), g.of.label} }

// host writes an operator, annotation, Python function or overhead.
func (w *sceneWriter) host(n *node) {
	w.slice(n.category, n.name, n.track(), n.start, n.end-n.start)
	if n.category == catOverhead {
		w.end()
		return
	}
	w.args()
	if n.external != 0 {
		w.int("External id", n.external)
	}
	if n.sequence != 0 && !w.s.links.noSequence {
		w.int("Sequence number", n.sequence)
		forward := int64(0)
		if n.forward != nil {
			forward = 1
		}
		w.int("Fwd thread id", forward)
	}
	if n.category == catPython {
		w.pythonArgs(n)
	}
	w.recordID()
	w.endArgs()
	if w.s.links.noFwdArrows {
		return
	}
	if n.backward != nil {
		w.flow("fwdbwd", "s", "fwdbwd", n.sequence, n.track(), n.start)
	}
	if n.forward != nil {
		w.flow("fwdbwd", "f", "fwdbwd", n.sequence, n.track(), n.start)
	}
}

func (w *sceneWriter) pythonArgs(n *node) {
	parent := "null"
	for p := n.parent; p.parent != nil; p = p.parent {
		if p.category == catPython {
			parent = strconv.FormatInt(p.pythonID, 10)
			break
		}
	}
	w.raw("Python parent id", parent)
	w.int("Python id", n.pythonID)
	if strings.HasPrefix(n.name, modulePrefix) {
		w.int("Python module id", 0)
	}
	if n.unfinished {
		w.raw("finished", "false")
	}
}

// call writes a call, what it launched and the arrows between.
func (w *sceneWriter) call(n *node) {
	w.slice(n.category, n.name, n.track(), n.start, n.end-n.start)
	w.args()
	w.links(externalOf(n), n.correlation)
	w.int("cbid", int64(len(n.name)))
	w.endArgs()
	if len(n.works) == 0 {
		return
	}
	id := n.correlation
	if w.s.links.noNumbers { // numbers of its own, from 1 up
		w.s.flow++
		id = w.s.flow
	}
	if !w.s.links.noArrows {
		w.flow("ac2g", "s", "ac2g", id, n.track(), n.start)
	}
	for _, work := range n.works {
		w.work(work)
		if !w.s.links.noArrows {
			w.flow("ac2g", "f", "ac2g", id, work.on.track(work.stream), work.start)
		}
	}
}

// externalOf returns the External id of the innermost operator around a call.
func externalOf(n *node) int64 {
	for p := n.parent; p != nil; p = p.parent {
		if p.category == catOp {
			return p.external
		}
	}
	return 0
}

func (w *sceneWriter) links(external, correlation int64) {
	if w.s.links.noNumbers {
		return
	}
	if external != 0 {
		w.int("External id", external)
	}
	w.int("correlation", correlation)
}

func (w *sceneWriter) work(k *work) {
	category := map[Kind]string{Compute: "kernel", Comm: "kernel", Copy: "gpu_memcpy", Memset: "gpu_memset"}[k.kind]
	w.slice(category, k.name, k.on.track(k.stream), k.start, k.dur)
	w.args()
	w.int("device", int64(k.on.ordinal))
	w.int("context", 1)
	w.int("stream", int64(k.stream))
	hip := w.dialect.Vendor == ROCm
	if external := int64(0); k.call != nil && !(hip && k.graph != nil) {
		external = externalOf(k.call)
		w.links(external, k.correlation)
	} else {
		w.links(0, k.correlation)
	}
	switch {
	case k.kind == Copy || k.kind == Memset:
		w.int("bytes", cmp.Or(k.bytes, workBytes))
	case hip && k.graph != nil:
		w.str("kind", "Dispatch Task")
	default:
		w.int("registers per thread", 32)
		w.ints("grid", 64*132, 1, 1)
		w.ints("block", 256, 1, 1)
	}
	if k.graph != nil && !hip {
		w.int("graph id", int64(k.graph.id))
		w.int("graph node id", int64(k.graphNode))
	}
	w.endArgs()
}

func (w *sceneWriter) span(sp deviceSpan) {
	w.slice(sp.category, sp.name, sp.on.track(sp.stream), sp.start, sp.end-sp.start)
	w.args()
	w.int("device", int64(sp.on.ordinal))
	w.int("stream", int64(sp.stream))
	w.endArgs()
}

func (w *sceneWriter) memory(c *change) {
	device := c.pool.use.Device
	if c.pool.use.OnHost {
		device = -1
	}
	w.memoryEvent(c.th.track(), c.at, device, c.pool.deviceType, c.allocation)
}

// names writes the names of processes and threads.
func (w *sceneWriter) names() {
	for _, p := range w.s.processes {
		w.named("process_name", track{p.number, 0, p.label}, "python")
		for _, t := range p.threads {
			w.named("thread_name", t.track(), fmt.Sprintf("thread %d (%s)", t.tid, t.name))
		}
	}
	for _, g := range w.s.gpus {
		w.named("process_name", g.track(0), "python")
		streams := map[int]bool{}
		for _, k := range g.works {
			if !streams[k.stream] {
				streams[k.stream] = true
				w.named("thread_name", g.track(k.stream), fmt.Sprintf("stream %d ", k.stream))
			}
		}
	}
}

func (w *sceneWriter) named(what string, at track, name string) {
	w.metadata(what, at, w.s.begin, "name", name, 0)
}
