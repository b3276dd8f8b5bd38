package rankgen

import (
	"fmt"
	"slices"
	"strings"
)

// A Comm is a communicator: an ordered list of ranks with a stream of its own on each.
type Comm struct {
	job        *Job
	name, desc string
	places     []int
	id         uint64
	stream     int64
	seq, p2p   int64
}

// Comm returns a communicator of some ranks, with the name and description that PyTorch
// gives to its process group.
func (j *Job) Comm(name, desc string, places ...int) *Comm {
	c := &Comm{job: j, name: name, desc: desc, places: places, id: 0xba5e768486afce6c ^ uint64(len(j.comms))<<32, stream: computeStream + 13}
	for _, p := range places {
		r := j.ranks[p]
		c.stream = max(c.stream, computeStream+13+4*int64(len(r.comms)))
	}
	for _, p := range places {
		j.ranks[p].comms = append(j.ranks[p].comms, c)
	}
	j.comms = append(j.comms, c)
	return c
}

// An Op is a kind of collective: its name in the profiler's arguments, in annotations
// and in this project, and its kernel.
type Op struct{ recorded, note, name, kernel string }

// The kinds.
var (
	AllReduce     = Op{"allreduce", "nccl:all_reduce", "all-reduce", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"}
	ReduceScatter = Op{"_reduce_scatter_base", "nccl:_reduce_scatter_base", "reduce-scatter", "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"}
	AllGather     = Op{"_allgather_base", "nccl:_all_gather_base", "all-gather", "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)"}
	AllToAll      = Op{"all_to_allv", "nccl:all_to_all", "all-to-all", "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"}
	Broadcast     = Op{"broadcast", "nccl:broadcast", "broadcast", "ncclDevKernel_Broadcast_RING_LL(ncclDevKernelArgsStorage<4096ul>)"}
	send          = Op{"send", "nccl:send", "send/recv", AllToAll.kernel}
	receive       = Op{"recv", "nccl:recv", "send/recv", AllToAll.kernel}
)

// elementBytes is the size of the type of all collectives, BFloat16.
const elementBytes = 2

// Do runs a collective of n elements a rank on all ranks of c: each contributes n, or
// gets n of a reduce-scatter. It begins on a rank after all earlier work of the rank, and
// later work waits for it. The transfer takes ns.
func (c *Comm) Do(op Op, n, ns int64) {
	in, out := n, n
	switch op {
	case AllGather:
		out = n * int64(len(c.places))
	case ReduceScatter:
		in = n * int64(len(c.places))
	}
	bytes := max(in, out) * elementBytes
	at := &instance{comm: c, op: op, bytes: bytes}
	for range c.places {
		at.parts = append(at.parts, part{in: in, out: out, source: -1, target: -1})
	}
	c.run(at, c.places, ns)
}

// Exchange runs an all-to-all: splits[i][k] elements go from the i-th rank to the k-th.
func (c *Comm) Exchange(splits [][]int64, ns int64) {
	at := &instance{comm: c, op: AllToAll}
	for i := range c.places {
		p := part{inSplits: splits[i], source: -1, target: -1}
		for k := range c.places {
			p.in += splits[i][k]
			p.out += splits[k][i]
			p.outSplits = append(p.outSplits, splits[k][i])
		}
		at.parts = append(at.parts, p)
	}
	even := func(p part) bool { return p.in != at.parts[0].in || p.out != at.parts[0].out }
	if !slices.ContainsFunc(at.parts, even) {
		at.bytes = at.parts[0].in * elementBytes
	}
	c.run(at, c.places, ns)
}

// Send moves n elements from one rank of c to another.
func (c *Comm) Send(from, to int, n, ns int64) {
	at := &instance{comm: c, op: send, bytes: n * elementBytes}
	a, b := c.job.ranks[from], c.job.ranks[to]
	at.parts = []part{{in: n, out: n, source: -1, target: b.number}, {op: &receive, in: n, out: n, source: a.number, target: -1}}
	c.run(at, []int{from, to}, ns)
}

// An instance is one collective: who took part, when each arrived, and the transfer.
type instance struct {
	comm     *Comm
	op       Op
	bytes    int64 // as nccl-tests counts them; 0 if ranks differ
	seq      int64
	places   []int
	parts    []part // by place
	transfer int64

	anonymous bool // its kernels are part of a graph, which records nothing of it
}

// A part is an instance on one rank.
type part struct {
	op                  *Op // of this rank, if it differs
	in, out             int64
	inSplits, outSplits []int64
	source, target      int // of a send; -1 is not recorded
	arrive              int64
	recorded            bool
}

// run launches the collective on its ranks. All of them leave it when the last has
// arrived and the transfer is over.
func (c *Comm) run(at *instance, places []int, transfer int64) {
	unit := c.job.Era.unit()
	at.places, at.transfer = places, max(unit, transfer/unit*unit)
	if at.op == send {
		c.p2p++
		at.seq = c.p2p
	} else {
		c.seq++
		at.seq = c.seq
	}
	events := make([]event, len(places))
	last := int64(0)
	for i, p := range places {
		r := c.job.ranks[p]
		part := &at.parts[i]
		at.anonymous = at.anonymous || r.graph != nil
		events[i] = c.launch(r, at, part)
		part.arrive = max(events[i].start, r.streams[c.stream], r.streams[computeStream])
		last = max(last, part.arrive)
		part.recorded = r.begun > r.skip
	}
	for i, p := range places {
		r, e := c.job.ranks[p], events[i]
		e.start = at.parts[i].arrive
		e.dur = last + at.transfer - e.start
		r.streams[c.stream], r.streams[computeStream] = e.start+e.dur, e.start+e.dur
		r.add(e)
	}
	c.job.instances = append(c.job.instances, at)
}

// launch makes the host's events of a collective and returns its kernel, which can begin
// at its start.
func (c *Comm) launch(r *rank, at *instance, p *part) event {
	r.begun++
	op := at.op
	if p.op != nil {
		op = *p.op
	}
	k := event{kind: kernel, name: op.kernel, stream: c.stream, of: at, part: p}
	if l := r.graph; l != nil { // a captured kernel has nothing but its node
		k.inGraph, k.start, k.correlation = true, l.end+launchDelay, l.correlation
		return k
	}
	outer := r.open("c10d::" + strings.TrimPrefix(op.recorded, "_") + "_")
	inner := r.open("record_param_comms")
	r.events[inner].of, r.events[inner].part = at, p
	note := event{kind: annotation, name: op.note, start: r.host}
	l := r.launch("cudaLaunchKernelExC")
	note.dur = r.host - note.start
	r.add(note)
	k.external = r.close(inner)
	r.close(outer)
	k.start, k.correlation = l.end+launchDelay, l.correlation
	return k
}

// ranksText returns the ranks of c as PyTorch writes them, which are cut after 30.
func (c *Comm) ranksText() string {
	var list []string
	for i, p := range c.places {
		if i == 30 {
			list = append(list, "...")
			break
		}
		list = append(list, fmt.Sprint(c.job.ranks[p].number))
	}
	return "[" + strings.Join(list, ", ") + "]"
}
