package tracegen

import (
	"fmt"
	"strings"
)

// A Story is a short trace defined event by event, with its truth. A [Scenario]
// has a plan for a whole program; a story shows one thing.
type Story struct {
	Name  string
	JSON  []byte
	Truth Attribution
	// Damaged means that the JSON differs from the truth on purpose.
	Damaged bool

	scene *scene
}

// A scene is a story under construction. The host's events are a tree for each
// thread, and device work refers to the call that launched it, so all relations
// are known from the construction and are never derived from times or numbers.
// Idle time is recorded when it is created.
type scene struct {
	name      string
	rank      int
	ranks     int  // 0 if the trace does not contain it
	repeats   bool // several kernels with different owners share a name, so the truth has no owners
	dialect   Dialect
	links     linkStyle
	begin     int64
	processes []*process
	gpus      []*gpu
	graphs    []*graph
	spans     []deviceSpan
	changes   []change // of memory
	pools     []*pool
	idle      map[IdleTime]int64 // with NS 0
	since     map[IdleTime]int64 // the part of it that was recorded after the last work
	ids       ids
	flow      int64
}

// A linkStyle defines how the trace represents relations between events.
type linkStyle struct {
	noNumbers   bool // neither correlation nor External id: arrows only
	noArrows    bool // correlation numbers only
	noSequence  bool // backward operators have arrows only
	noFwdArrows bool // backward operators have sequence numbers only
}

func newScene(name string) *scene {
	_, begin := epoch(Modern)
	return &scene{name: name, begin: begin, idle: map[IdleTime]int64{}, since: map[IdleTime]int64{}, ids: ids{external: 1}}
}

// A process is one process of the host.
type process struct {
	s           *scene
	number      int64
	label       string // of the process in a merged trace, such as "[TP00] "
	threads     []*thread
	correlation int64
}

// process adds a process. Traces merged from several label its pid.
func (s *scene) process(pid int64, label string) *process {
	p := &process{s: s, number: pid, label: label, correlation: 1000}
	s.processes = append(s.processes, p)
	return p
}

// A thread is a thread of the host. now is its current time.
type thread struct {
	of   *process
	tid  int64
	name string
	now  int64
	root *node // not an event; has the outermost events
	open *node // the innermost
}

func (p *process) thread(tid int64, name string) *thread {
	t := &thread{of: p, tid: tid, name: name, now: p.s.begin}
	t.root = &node{th: t, start: p.s.begin}
	t.open = t.root
	p.threads = append(p.threads, t)
	return t
}

// A node is an event of the host with its nested events.
type node struct {
	category, name string
	start, end     int64 // as written
	th             *thread
	parent         *node
	inside         []*node

	external    int64 // of an operator or annotation
	sequence    int64 // of an operator; 0 for none
	forward     *node // the matching forward operator of a backward operator
	backward    *node // the reverse
	pythonID    int64
	unfinished  bool  // a Python function that had not returned
	correlation int64 // of a call
	works       []*work
}

// Categories of host events.
const (
	catOp         = "cpu_op"
	catRuntime    = "cuda_runtime"
	catDriver     = "cuda_driver"
	catPython     = "python_function"
	catAnnotation = "user_annotation"
	catOverhead   = "overhead"
)

// in runs body inside an event that begins now.
func (t *thread) in(category, name string, body func()) *node {
	s := t.of.s
	n := &node{category: category, name: name, start: t.now, th: t, parent: t.open}
	switch category {
	case catOp, catAnnotation:
		s.ids.external++
		n.external = s.ids.external
	case catPython:
		s.ids.python++
		n.pythonID = s.ids.python
	case catRuntime, catDriver:
		n.correlation = n.number()
	}
	t.open.inside = append(t.open.inside, n)
	t.open = n
	body()
	t.open = n.parent
	n.end = t.now
	return n
}

// number returns the correlation number of a call: that of its enclosing call,
// if there is one, otherwise a new one.
func (n *node) number() int64 {
	if n.parent.correlation != 0 {
		return n.parent.correlation
	}
	n.th.of.correlation++
	return n.th.of.correlation
}

func (t *thread) op(name string, body func()) *node     { return t.in(catOp, name, body) }
func (t *thread) python(name string, body func()) *node { return t.in(catPython, name, body) }
func (t *thread) note(name string, body func()) *node   { return t.in(catAnnotation, name, body) }
func (t *thread) module(name string, body func())       { t.python(modulePrefix+name, body) }

const modulePrefix = "nn.Module: "

// call makes a call of the runtime or, if its name is a driver's, of the
// driver.
func (t *thread) call(name string, ns int64) *node {
	category := catRuntime
	if strings.HasPrefix(name, "cuLaunch") {
		category = catDriver
	}
	return t.in(category, name, func() { t.spend(ns) })
}

// spend advances the time by ns.
func (t *thread) spend(ns int64) { t.now += ns }

// until advances the time to a time that has not passed.
func (t *thread) until(at int64) {
	if at < t.now {
		panic(fmt.Sprintf("tracegen: thread %s is %d ns past the moment it waits for", t.name, t.now-at))
	}
	t.now = at
}

// openAt returns the events that are open at a time, outermost first.
func (t *thread) openAt(at int64) (path []*node) {
	n := t.root
descend:
	for _, c := range n.inside {
		if c.start <= at && at < c.end {
			path = append(path, c)
			n = c
			goto descend
		}
	}
	return path
}

// path returns the events around n, outermost first, without n.
func (n *node) path() (path []*node) {
	for p := n.parent; p != nil && p.parent != nil; p = p.parent {
		path = append([]*node{p}, path...)
	}
	return path
}

// launcher returns the outermost call that n is part of.
func (n *node) launcher() *node {
	for n.parent.correlation != 0 {
		n = n.parent
	}
	return n
}

// isCall reports whether n is a call of the runtime or driver.
func (n *node) isCall() bool { return n.category == catRuntime || n.category == catDriver }

// answers makes n the backward operator of forward.
func (n *node) answers(forward *node) {
	n.forward, forward.backward = forward, n
	n.sequence = forward.sequence
}

// A gpu is a device with its work.
type gpu struct {
	s       *scene
	of      *process
	ordinal int
	works   []*work
	end     int64 // the latest
}

func (s *scene) gpu(of *process, ordinal int) *gpu {
	g := &gpu{s: s, of: of, ordinal: ordinal, end: s.begin}
	s.gpus = append(s.gpus, g)
	return g
}

// A work is a kernel, copy or memset.
type work struct {
	kind        Kind
	name        string
	on          *gpu
	stream      int
	start, dur  int64
	call        *node // the launch; nil if it is not in the trace
	correlation int64
	graph       *graph
	graphNode   int
	bytes       int64 // of a copy or memset; 0 for workBytes
}

func (w *work) end() int64 { return w.start + w.dur }

// run makes c launch work that runs at a given time.
func (g *gpu) run(c *node, name string, stream int, start, ns int64) *work {
	w := &work{kind: kindOfName(name), name: name, on: g, stream: stream, start: start, dur: ns}
	if c != nil {
		w.call = c.launcher()
		w.correlation = w.call.correlation
		w.call.works = append(w.call.works, w)
	}
	g.works = append(g.works, w)
	clear(g.s.since)
	g.end = max(g.end, w.end())
	return w
}

// follow makes c launch work that runs as soon as the device is done with all
// other work, which must be after the launch: it makes no gap.
func (g *gpu) follow(c *node, name string, stream int, ns int64) *work {
	if len(g.works) == 0 {
		return g.run(c, name, stream, c.end+3*us, ns)
	}
	if c != nil && g.end < c.end {
		panic(fmt.Sprintf("tracegen: %s would wait for its call, which ends %d ns late", name, c.end-g.end))
	}
	return g.run(c, name, stream, g.end, ns)
}

func kindOfName(name string) Kind {
	switch {
	case strings.HasPrefix(name, "Memcpy"):
		return Copy
	case strings.HasPrefix(name, "Memset"):
		return Memset
	case strings.HasPrefix(name, "nccl"):
		return Comm
	}
	return Compute
}

// own records idle time of g.
func (s *scene) own(g *gpu, owner, state, name string, ns int64) {
	if ns > 0 {
		key := IdleTime{Device: g.ordinal, Owner: owner, State: state, Name: name}
		s.idle[key] += ns
		s.since[key] += ns
	}
}

// A deviceSpan is a span of the profiler on a device that is not work.
type deviceSpan struct {
	category, name string
	on             *gpu
	stream         int
	start, end     int64
}
