// Package blind writes Chrome traces in the form of PyTorch's profiler whose
// loss of time is known by construction: every story is simulated twice, with
// its cause and without it, and the difference of the two GPU windows is what
// the cause costs. It shares nothing with the other generators, so that
// an error of theirs cannot hide an error of the verdicts.
//
// The simulator has a host thread, streams with queues, copies that block or
// not, events, graphs and collectives that wait for their slowest rank.
package blind

import "fmt"

const (
	us = int64(1_000)
	ms = 1_000 * us
)

const (
	hostPid  = 4120
	mainTid  = 4120
	backTid  = 4177
	maxQueue = 1024 // launches that a stream takes before the next one blocks
)

// A Sim is one process: one host thread at a time, one GPU.
type Sim struct {
	Rank, Ranks int

	events  []event
	now     int64
	tid     int
	streams map[int]*stream
	corr    int
	ext     int
	gap     int64 // between queued kernels of a stream
	opCost  int64 // of the host before it launches the kernel of an operator
	call    int64 // of a launch call
	random  uint64
	factor  int64 // that times are written with

	collectives int
	arrived     []int64 // start of each collective on this rank
	release     []int64 // when the last rank has arrived, from the round before
}

type stream struct {
	free    int64   // end of the last work
	pending []int64 // starts of work that may still be queued
}

type event struct {
	cat, name  string
	pid, tid   int
	start, dur int64
	args       string // members of args, without braces
	corr       int
	gpu        bool
	class      class
}

// class is what the parts of the window distinguish.
type class uint8

const (
	host class = iota
	compute
	comm
	copying
)

func newSim(rank, ranks int, release []int64) *Sim {
	return &Sim{
		Rank: rank, Ranks: ranks, release: release,
		now: 2_000 * ms, tid: mainTid, streams: map[int]*stream{},
		corr: 100, ext: 1, gap: 900, opCost: 5 * us, call: 4 * us,
		random: 0x9e3779b97f4a7c15, factor: 1,
	}
}

func (s *Sim) stream(id int) *stream {
	if s.streams[id] == nil {
		s.streams[id] = &stream{}
	}
	return s.streams[id]
}

// vary returns d, at most tenths of a tenth longer or shorter. The sequence of
// variations depends on nothing but the calls before it.
func (s *Sim) vary(d int64) int64 {
	s.random ^= s.random << 13
	s.random ^= s.random >> 7
	s.random ^= s.random << 17
	return d + d*int64(s.random%9)/100 - d*4/100
}

func (s *Sim) span(cat, name, args string, f func()) {
	start, tid := s.now, s.tid
	at := len(s.events)
	s.events = append(s.events, event{cat: cat, name: name, pid: hostPid, tid: tid, start: start, args: args})
	f()
	s.events[at].dur = s.now - start
}

// op is a range of a PyTorch operator.
func (s *Sim) op(name string, f func()) {
	s.ext++
	s.span("cpu_op", name, fmt.Sprintf(`"External id": %d, "Record function id": 0, "Ev Idx": %d`, s.ext, s.ext), f)
}

// note is a record_function range.
func (s *Sim) note(name string, f func()) {
	s.ext++
	s.span("user_annotation", name, fmt.Sprintf(`"External id": %d, "Record function id": 0, "Ev Idx": %d`, s.ext, s.ext), f)
}

// python is a frame of Python.
func (s *Sim) python(frame string, f func()) {
	s.ext++
	s.span("python_function", frame, fmt.Sprintf(`"Python id": %d, "Python module id": 0, "Ev Idx": %d`, s.ext, s.ext), f)
}

// busy is time of the host in which nothing is recorded.
func (s *Sim) busy(d int64) {
	if d > 0 {
		s.now += d
	}
}

// frame is Python code that takes d.
func (s *Sim) frame(name string, d int64) {
	if d > 0 {
		s.python(name, func() { s.busy(d) })
	}
}

func (s *Sim) step(n int, f func()) { s.note(fmt.Sprintf("ProfilerStep#%d", n), f) }

// backward runs f on the thread of the autograd engine, for which this one waits.
func (s *Sim) backward(f func()) {
	was := s.tid
	s.tid = backTid
	f()
	s.tid = was
}

// runtime is a call of the CUDA runtime that takes d, and longer if it waits
// until a time.
func (s *Sim) runtime(name string, d, until int64, corr int) {
	start := s.now
	s.now = max(s.now+d, until)
	cat := "cuda_runtime"
	s.events = append(s.events, event{
		cat: cat, name: name, pid: hostPid, tid: s.tid, start: start, dur: s.now - start, corr: corr,
		args: fmt.Sprintf(`"External id": %d, "cbid": 211, "correlation": %d`, s.ext, corr),
	})
}

// queue places work on a stream: it starts when it has been launched, and when
// the work before it on the stream has ended.
func (s *Sim) queue(st *stream, d int64) (start int64) {
	start = max(s.now+1500, st.free+s.gap)
	st.free = start + d
	st.pending = append(st.pending, start)
	return start
}

// full returns the time until which a launch blocks because the queue is full.
func (s *Sim) full(st *stream) int64 {
	if len(st.pending) < maxQueue {
		return 0
	}
	return st.pending[len(st.pending)-maxQueue]
}

func (s *Sim) onGPU(cat, name string, id int, start, d int64, corr int, c class, args string) {
	all := fmt.Sprintf(`"External id": %d, "device": %d, "context": 1, "stream": %d, "correlation": %d`, s.ext, 0, id, corr)
	if args != "" {
		all += ", " + args
	}
	s.events = append(s.events, event{
		cat: cat, name: name, pid: 0, tid: id, start: start, dur: d, corr: corr, gpu: true, class: c, args: all,
	})
}

// kernel launches a kernel on a stream, without an operator.
func (s *Sim) kernel(id int, name string, d int64) {
	s.corr++
	st := s.stream(id)
	s.runtime("cudaLaunchKernel", s.call, s.full(st), s.corr)
	start := s.queue(st, d)
	s.onGPU("kernel", name, id, start, d, s.corr, compute, shape(d))
}

// shape is a grid that fits the duration: work per block is the same.
func shape(d int64) string {
	return fmt.Sprintf(`"registers per thread": 64, "shared memory": 16384, "blocks per SM": 4.0, "warps per SM": 16.0, "grid": [%d, 1, 1], "block": [128, 1, 1], "est. achieved occupancy %%": 50`, 132*(1+d/(5*us)))
}

// run is an operator with one kernel.
func (s *Sim) run(op, kernel string, d int64) {
	s.op(op, func() {
		s.busy(s.opCost)
		s.kernel(7, kernel, d)
		s.busy(s.opCost / 4)
	})
}

// after makes later work of stream id wait for all work of stream of.
func (s *Sim) after(id, of int) {
	s.corr++
	s.runtime("cudaEventRecord", 1*us, 0, s.corr)
	s.corr++
	s.runtime("cudaStreamWaitEvent", 1*us, 0, s.corr)
	s.stream(id).free = max(s.stream(id).free, s.stream(of).free)
}

// idle returns when the GPU has no work left.
func (s *Sim) idle() int64 {
	var last int64
	for _, st := range s.streams {
		last = max(last, st.free)
	}
	return last
}

// sync waits for one stream.
func (s *Sim) sync() {
	s.corr++
	s.runtime("cudaStreamSynchronize", 3*us, s.stream(7).free+2*us, s.corr)
}

// syncAll waits for the GPU.
func (s *Sim) syncAll() {
	s.corr++
	s.runtime("cudaDeviceSynchronize", 3*us, s.idle()+2*us, s.corr)
}

// malloc allocates; free waits for the GPU, as cudaFree does.
func (s *Sim) malloc(d int64) { s.corr++; s.runtime("cudaMalloc", d, 0, s.corr) }
func (s *Sim) free(d int64)   { s.corr++; s.runtime("cudaFree", d, s.idle()+d, s.corr) }

// A transfer is a copy between host and GPU.
type transfer struct {
	stream   int
	kind     string // HtoD, DtoH
	bytes    int64
	pageable bool // the call returns when the copy is done
	blocking bool // cudaMemcpy
}

// copy runs at 25 GB/s from pinned memory, at 8 GB/s from pageable memory.
func (s *Sim) copy(t transfer) {
	rate, ends := int64(25), [2]string{"Pinned", "Device"}
	if t.pageable {
		rate, ends[0] = 8, "Pageable"
	}
	if t.kind == "DtoH" {
		ends[0], ends[1] = ends[1], ends[0]
	}
	d := 1500 + t.bytes/rate
	s.corr++
	st := s.stream(t.stream)
	corr, at := s.corr, len(s.events)
	name, until := "cudaMemcpyAsync", int64(0)
	if t.blocking {
		name = "cudaMemcpy"
	}
	s.events = append(s.events, event{})
	begin := s.now
	s.now += 4 * us
	start := s.queue(st, d)
	if t.pageable || t.blocking {
		until = st.free + 2*us
	}
	s.now = max(s.now, until)
	s.events[at] = event{
		cat: "cuda_runtime", name: name, pid: hostPid, tid: s.tid, start: begin, dur: s.now - begin, corr: corr,
		args: fmt.Sprintf(`"External id": %d, "cbid": 41, "correlation": %d`, s.ext, corr),
	}
	s.onGPU("gpu_memcpy", fmt.Sprintf("Memcpy %s (%s -> %s)", t.kind, ends[0], ends[1]), t.stream, start, d, corr, copying,
		fmt.Sprintf(`"bytes": %d, "memory bandwidth (GB/s)": %d.0`, t.bytes, rate))
}

// item reads a scalar back: a copy, and a wait for it.
func (s *Sim) item() {
	s.op("aten::item", func() {
		s.op("aten::_local_scalar_dense", func() {
			s.busy(2 * us)
			s.copy(transfer{stream: 7, kind: "DtoH", bytes: 4})
			s.sync()
		})
	})
}

// A node is a kernel of a graph.
type node struct {
	name string
	d    int64
}

// graph replays nodes with one launch.
func (s *Sim) graph(nodes []node) {
	s.corr++
	s.runtime("cudaGraphLaunch", 10*us, 0, s.corr)
	for _, n := range nodes {
		start := s.queue(s.stream(7), n.d)
		s.onGPU("kernel", n.name, 7, start, n.d, s.corr, compute, shape(n.d))
	}
}

// A collective is a communication kernel on a stream of its own.
type collective struct {
	kernel, op string
	bytes      int64
	d          int64 // the time that it takes when all ranks are there
	inline     bool  // later work of stream 7 waits for it
}

const commStream = 20

// collect launches a collective behind the work of stream 7. It ends d after
// the last rank has started it.
func (s *Sim) collect(c collective) {
	s.op("record_param_comms", func() {
		s.after(commStream, 7)
		s.busy(4 * us)
		s.corr++
		s.runtime("cudaLaunchKernelExC", s.call, 0, s.corr)
		st := s.stream(commStream)
		start := max(s.now+1500, st.free+s.gap)
		n := s.collectives
		s.collectives++
		s.arrived = append(s.arrived, start)
		end := start + c.d
		if n < len(s.release) {
			end = max(end, s.release[n]+c.d)
		}
		st.free = end
		s.onGPU("kernel", c.kernel, commStream, start, end-start, s.corr, comm, s.metadata(c))
	})
	if c.inline {
		s.after(7, commStream)
	}
}

func (s *Sim) metadata(c collective) string {
	ranks := "[0"
	for r := 1; r < s.Ranks; r++ {
		ranks += fmt.Sprintf(", %d", r)
	}
	sizes := fmt.Sprintf(`, "Collective name": %q, "In msg nelems": %d, "Out msg nelems": %d, "dtype": "BFloat16"`, c.op, c.bytes/2, c.bytes/2)
	group := fmt.Sprintf(`, "Group size": %d, "Process Group Name": "0", "Process Group Description": "default_pg"`, s.Ranks)
	return shape(24*5*us) + sizes + group + fmt.Sprintf(`, "Process Group Ranks": "%s]", "Seq": %d`, ranks, s.collectives)
}
