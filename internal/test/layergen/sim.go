package layergen

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

const (
	us      = int64(1000)
	hostPid = 4100
	thread  = 4100 // that runs the program
	engine  = 4177 // of autograd
	launch  = 2 * us
)

// streams are the numbers of the main and the second stream.
var streams = [2]int64{7, 24}

// An event is a row of the trace.
type event struct {
	cat, name  string
	pid, tid   int64
	start, dur int64
	corr       int64
	gpu        bool
	args       string
}

type sim struct {
	Config
	random *rand.Rand
	events []event
	now    int64    // of the host
	free   [2]int64 // when each stream is free
	corr   int64
	seq    int64
	graph  int64 // correlation of the replay that is running, or 0
	node   int64
	runs   []Run
	tid    int64
}

// step runs one step of a program.
func (s *sim) step(p Program, number int) {
	s.now = max(s.now, s.free[0], s.free[1]) + 40*us
	start, name := s.now, fmt.Sprintf("ProfilerStep#%d", number)
	if p.Name != "" {
		name = p.Name
	}
	if s.Unmarked {
		name = ""
	}
	s.tid = thread
	s.now += 5 * us
	if s.Graphs {
		s.corr++
		s.graph = s.corr
		s.node = 0
		s.host("cuda_runtime", s.call("cudaGraphLaunch", "hipGraphLaunch"), 9*us, fmt.Sprintf("%s, \"correlation\": %d", externalID(s.corr), s.corr), s.corr)
	}
	for _, pass := range p.Passes {
		s.pass(pass, name, number)
	}
	s.graph = 0
	s.tid = thread
	s.now = max(s.now, s.free[0], s.free[1]) + 10*us
	s.corr++
	s.host("cuda_runtime", s.call("cudaDeviceSynchronize", "hipDeviceSynchronize"), 5*us, fmt.Sprintf("%s, \"correlation\": %d", externalID(s.corr), s.corr), 0)
	s.now += 5 * us
	if name != "" {
		s.add(event{cat: "user_annotation", name: name, pid: hostPid, tid: thread, start: start, dur: s.now - start, args: externalID(900000 + int64(number))})
	}
}

func (s *sim) call(cuda, hip string) string {
	if s.AMD {
		return hip
	}
	return cuda
}

func externalID(n int64) string { return fmt.Sprintf("\"External id\": %d", n) }

func (s *sim) add(e event) { s.events = append(s.events, e) }

// host adds an event of the host and moves its clock to the end.
func (s *sim) host(cat, name string, dur int64, args string, corr int64) {
	s.add(event{cat: cat, name: name, pid: hostPid, tid: s.tid, start: s.now, dur: dur, args: args, corr: corr})
	s.now += dur
}

// pass runs a pass, and records where its layers ran.
func (s *sim) pass(p Pass, step string, number int) {
	s.tid = thread
	if p.Name == "backward" || p.Name == "recompute" {
		s.tid = engine
		s.now += 3 * us
	}
	s.kernels(p.Before, p.Name, "", nil)
	r := Run{Step: step, Number: number, Pass: p.Name}
	for i, l := range p.Layers {
		span := Span{Index: i, Kind: l.Kind, Parts: map[string]int64{}}
		place := i
		if p.Name == "backward" {
			place = len(p.Layers) - 1 - i
		}
		s.kernels(s.disturbed(l, i), p.Name, fmt.Sprintf("nn.Module: %s_%d", l.Module, place), &span)
		r.Layers = append(r.Layers, span)
	}
	s.kernels(p.After, p.Name, "", nil)
	switch earlier := s.earlier(number, p.Name); {
	case p.Joined && earlier != nil:
		for _, l := range r.Layers {
			l.Index = len(earlier.Layers)
			earlier.Layers = append(earlier.Layers, l)
		}
	case p.Joined || len(p.Layers) > 1:
		s.runs = append(s.runs, r)
	}
}

// earlier returns the last run of a name in a step, or nil.
func (s *sim) earlier(number int, name string) *Run {
	for i := len(s.runs) - 1; i >= 0 && s.runs[i].Number == number; i-- {
		if s.runs[i].Pass == name {
			return &s.runs[i]
		}
	}
	return nil
}

// disturbed returns the kernels of layer i with the changes that the simulation makes to it.
func (s *sim) disturbed(l Layer, i int) []Kernel {
	out := slices.Clone(l.Kernels)
	for n := range out {
		if out[n].Part == s.SlowPart && slices.Contains(s.Slow, i) {
			out[n].NS = out[n].NS * s.SlowTimes / 100
		}
	}
	if s.SplitEvery > 0 && i%s.SplitEvery == s.SplitEvery-1 {
		for n, k := range out {
			if k.Op == "aten::mm" || k.Op == "aten::addmm" || k.Op == "aten::linear" {
				sum := k
				sum.NS = 3 * us
				sum.Name = "void cublasLt::splitKreduce_kernel<32, 16, int, float, __nv_bfloat16, float, __nv_bfloat16, true, true, false>(cublasLt::cublasSplitKParams<float>, float const*, __nv_bfloat16 const*)"
				if s.AMD {
					sum.Name = "Cijk_SB_DS_PostGSU_GlobalSplitU_BiasS"
				}
				out[n].Name += "_splitK"
				out = slices.Insert(out, n+1, sum)
				break
			}
		}
	}
	if s.MemsetOf > 0 && i%s.MemsetOf == 1 {
		out = slices.Insert(out, 1, Kernel{Part: "memset", NS: us, Op: "aten::zero_", Name: "Memset (Device)"})
	}
	return out
}

// kernels launches kernels in one module, if it has a name, and adds them to the truth.
func (s *sim) kernels(list []Kernel, pass, module string, span *Span) {
	if len(list) == 0 {
		return
	}
	start, recomputes := s.now, pass == "recompute" && s.graph == 0
	if s.graph == 0 {
		s.now += 2 * us
	}
	for _, k := range list {
		s.kernel(k, pass, span)
	}
	if s.graph != 0 || module == "" || pass == "backward" {
		return
	}
	s.now += us
	inner := start + us
	if s.Modules && recomputes {
		s.python("torch/utils/checkpoint.py(1110): recompute_fn", 3, start+us/2)
	}
	if s.Modules {
		s.python(module, 4, inner)
	}
	if recomputes { // the hook of the first saved tensor that the backward pass needs
		s.now += us / 2
		s.add(event{cat: "cpu_op", name: "autograd::engine::evaluate_function: AddBackward0", pid: hostPid, tid: s.tid, start: start, dur: s.now - start,
			args: externalID(700000+s.corr) + ", \"Sequence number\": 7, \"Fwd thread id\": 1"})
	}
	s.now += 2 * us
}

// python adds a Python function that was called at a time and returns now.
func (s *sim) python(name string, id, start int64) {
	s.add(event{cat: "python_function", name: name, pid: hostPid, tid: s.tid, start: start, dur: s.now - start, args: fmt.Sprintf("\"Python id\": %d", id)})
}

// kernel runs one kernel: launched by an operator, or by the replay.
func (s *sim) kernel(k Kernel, pass string, span *Span) {
	ready := s.now
	corr := s.graph
	if corr == 0 {
		s.corr++
		corr = s.corr
		s.operator(k, pass, corr)
		ready = s.now
	}
	gap := s.GapNS
	if gap == 0 {
		gap = us
	}
	at := max(ready+4*us, s.free[k.Stream]+gap)
	if k.Stream != 0 {
		at = max(at, s.free[0]+gap) // waits for an event of the main stream
	}
	dur := k.NS
	if s.Jitter > 0 {
		dur = max(500, dur*(100*us+s.random.Int64N(2*s.Jitter*us+1)-s.Jitter*us)/(100*us))
	}
	s.free[k.Stream] = at + dur
	if !k.Beside {
		s.free[0] = max(s.free[0], at+dur)
	}
	cat := "kernel"
	if k.Part == "memset" {
		cat = "gpu_memset"
	}
	s.node++
	args := fmt.Sprintf("%s, \"device\": 0, \"context\": 1, \"stream\": %d, \"correlation\": %d", externalID(corr), streams[k.Stream], corr)
	if cat == "kernel" {
		args += ", \"grid\": [264, 1, 1], \"block\": [128, 1, 1], \"registers per thread\": 90"
	} else {
		args += ", \"bytes\": 4096"
	}
	if s.graph != 0 {
		args += fmt.Sprintf(", \"graph id\": 3, \"graph node id\": %d", 12884901888+s.node)
	}
	s.add(event{cat: cat, name: k.Name, pid: 0, tid: streams[k.Stream], start: at, dur: dur, corr: corr, gpu: true, args: args})
	if span == nil {
		return
	}
	if span.Kernels == 0 {
		span.StartNS = at
	}
	span.EndNS = max(span.EndNS, at+dur)
	span.Kernels++
	if cat == "kernel" {
		span.Parts[k.Part] += dur
	}
}

// operator runs the operator that launches a kernel, in the function of autograd if it is a backward pass.
func (s *sim) operator(k Kernel, pass string, corr int64) {
	start := s.now
	s.seq++
	sequence := fmt.Sprintf(", \"Sequence number\": %d, \"Fwd thread id\": 0", s.seq)
	if pass == "backward" {
		s.now += us / 2
		sequence = ""
	}
	op := s.now
	s.now += us
	s.add(event{cat: "cuda_runtime", name: s.call("cudaLaunchKernel", "hipExtModuleLaunchKernel"), pid: hostPid, tid: s.tid, start: s.now, dur: launch,
		args: fmt.Sprintf("%s, \"correlation\": %d", externalID(corr), corr), corr: corr})
	s.now += launch + us/2
	s.add(event{cat: "cpu_op", name: k.Op, pid: hostPid, tid: s.tid, start: op, dur: s.now - op, args: externalID(corr) + sequence})
	if pass == "backward" {
		s.now += us / 4
		s.add(event{cat: "cpu_op", name: "autograd::engine::evaluate_function: " + nodeOf(k.Op), pid: hostPid, tid: s.tid, start: start, dur: s.now - start,
			args: externalID(500000+corr) + fmt.Sprintf(", \"Sequence number\": %d, \"Fwd thread id\": 1", s.seq)})
	}
	s.now += us / 2
}

// nodeOf returns the node of the graph of autograd for an operator.
func nodeOf(op string) string {
	switch op {
	case "aten::mm", "aten::linear":
		return "MmBackward0"
	case "aten::addmm":
		return "AddmmBackward0"
	case "aten::add":
		return "AddBackward0"
	}
	return "MulBackward0"
}
