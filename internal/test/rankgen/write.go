package rankgen

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
)

// A kind is the kind of an event.
type kind uint8

const (
	operator kind = iota
	annotation
	call
	kernel
)

// categories are the names of the kinds in a trace.
var categories = [...]string{"cpu_op", "user_annotation", "cuda_runtime", "kernel"}

// An event is one event of a rank. Its time is the true one.
type event struct {
	kind                  kind
	name                  string
	start, dur            int64
	stream                int64
	correlation, external int64
	after                 int // collectives that its rank had launched before
	inGraph               bool
	of                    *instance // of a kernel, and of record_param_comms
	part                  *part
}

// A File is the trace of one rank.
type File struct {
	Name  string // with its folder
	Place int
	JSON  []byte
}

// Files returns the traces of the given places.
func (j *Job) Files(given []int) []File {
	var out []File
	for _, p := range given {
		r := j.ranks[p]
		out = append(out, File{path.Join(r.folder, fmt.Sprintf("rank%d.json", r.number)), p, j.trace(r)})
	}
	return out
}

// Places returns all places of the job.
func (j *Job) Places() []int {
	out := make([]int, len(j.ranks))
	for i := range out {
		out[i] = i
	}
	return out
}

// trace returns the trace of a rank.
func (j *Job) trace(r *rank) []byte {
	w := &writer{job: j, rank: r, gpu: int64(r.number % cmp.Or(j.PerNode, 8)), pid: int64(4000 + 7*r.place)}
	w.printf(`{"schemaVersion": 1, "deviceProperties": [`)
	for id := range int64(max(1, j.PerNode)) {
		if j.PerNode == 0 {
			id = w.gpu
		}
		if id > 0 && j.PerNode > 0 {
			w.printf(", ")
		}
		w.printf(`{"id": %d, "name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": 85017755648}`, id)
	}
	w.printf("],")
	if j.PerNode > 0 {
		w.printf(` "host_name": "node-%d",`, r.number/j.PerNode)
	}
	w.printf("\n"+`"distributedInfo": {"backend": "nccl", "rank": %d, "world_size": %d`, r.number, r.world)
	if j.Era != Era2022 {
		w.config()
	}
	w.printf("},\n" + `"record_shapes": 1, `)
	if j.Era != Era2022 {
		w.printf(`"displayTimeUnit": "ms", "baseTimeNanoseconds": %d, `, j.BaseTime)
	}
	w.printf(`"traceEvents": [`)
	events := slices.DeleteFunc(slices.Clone(r.events), func(e event) bool {
		if e.of != nil {
			return !e.part.recorded
		}
		return r.skip > 0 && e.after <= r.skip
	})
	slices.SortStableFunc(events, func(a, b event) int { return int(a.start - b.start) })
	for i := range events {
		if i > 0 {
			w.printf(",")
		}
		w.event(&events[i])
	}
	w.printf("\n]}\n")
	return w.Bytes()
}

// A writer writes the trace of one rank.
type writer struct {
	bytes.Buffer
	job      *Job
	rank     *rank
	gpu, pid int64
}

func (w *writer) printf(format string, args ...any) { fmt.Fprintf(&w.Buffer, format, args...) }

// config writes the process groups that the rank knows.
func (w *writer) config() {
	w.printf(`, "pg_count": %d, "pg_config": [`, len(w.rank.comms))
	for i, c := range w.rank.comms {
		if i > 0 {
			w.printf(", ")
		}
		w.printf(`{"pg_name": %q, "pg_desc": %q, "backend_config": "cuda:nccl", "pg_size": %d}`, c.name, w.described(c), len(c.places))
	}
	w.printf(`], "nccl_version": "2.26.2"`)
}

// described returns the description of a communicator as PyTorch writes it.
func (w *writer) described(c *Comm) string {
	if w.job.Undescribed {
		return "undefined"
	}
	return c.desc
}

// event writes one event.
func (w *writer) event(e *event) {
	pid, tid := w.pid, w.pid
	if e.kind == kernel {
		pid, tid = w.gpu, e.stream
	}
	w.printf("\n"+`{"ph": "X", "cat": %q, "name": %q, "pid": %d, "tid": %d, "ts": %s, "dur": %s, "args": {`,
		categories[e.kind], e.name, pid, tid, w.time(e.start, true), w.time(e.dur, false))
	switch e.kind {
	case kernel:
		external := e.external
		if w.job.Era == Era2022 {
			external = e.correlation // and useless
		}
		w.printf(`"External id": %d, "queued": 0, "device": %d, "context": 1, "stream": %d, "correlation": %d, `, external, w.gpu, e.stream, e.correlation)
		w.printf(`"registers per thread": 96, "grid": [24, 1, 1], "block": [544, 1, 1]`)
		if e.inGraph {
			w.printf(`, "graph id": 3, "graph node id": %d`, 1000+e.start%1000)
		} else if e.of != nil && w.job.Era != Era2022 {
			w.printf(", ")
			w.arguments(e)
		}
	case call:
		w.printf(`"cbid": 430, "correlation": %d`, e.correlation)
	case operator:
		w.printf(`"External id": %d`, e.external)
		if e.of != nil && w.job.Era == Era2022 {
			w.inputs(e)
		} else if e.of != nil {
			w.printf(", ")
			w.arguments(e)
		}
	default:
		w.printf(`"External id": %d`, 1)
	}
	w.printf("}}")
}

// time writes a time of the rank's clock, or a duration, in µs.
func (w *writer) time(ns int64, point bool) string {
	if point {
		ns += w.rank.clock + 3_600_000_000_000
		if w.job.Era == Era2022 {
			ns += w.job.BaseTime
		}
	}
	if w.job.Era == Era2022 {
		return strconv.FormatInt(ns/1000, 10)
	}
	return fmt.Sprintf("%d.%03d", ns/1000, ns%1000)
}

// arguments writes what PyTorch records of a collective since 2024.
func (w *writer) arguments(e *event) {
	in, p, c := e.of, e.part, e.of.comm
	op := in.op
	if p.op != nil {
		op = *p.op
	}
	w.printf(`"Collective name": %q, "In msg nelems": %d, "Out msg nelems": %d, "Group size": %d, "dtype": "BFloat16", `, op.recorded, p.in, p.out, len(c.places))
	w.printf(`"In split size": %q, "Out split size": %q, `, splits(p.inSplits), splits(p.outSplits))
	w.printf(`"Process Group Name": %q, "Process Group Description": %q, "Process Group Ranks": %q`, c.name, w.described(c), c.ranksText())
	if p.source >= 0 {
		w.printf(`, "Src Rank": %d`, p.source)
	}
	if p.target >= 0 {
		w.printf(`, "Dst Rank": %d`, p.target)
	}
	if w.job.Era == Era2026 {
		w.printf(`, "Rank": %d, "Seq": %d, "Comms Id": %d`, w.rank.number, in.seq, c.id)
	}
}

func splits(list []int64) string {
	var out []byte
	for i, n := range list {
		if i > 0 {
			out = append(out, ", "...)
		}
		out = strconv.AppendInt(out, n, 10)
	}
	return "[" + string(out) + "]"
}

// inputs writes the inputs of record_param_comms as PyTorch 2.2 does: tensors, number,
// pointer of the group, rank, operation, splits, ranks of the group.
func (w *writer) inputs(e *event) {
	c := e.of.comm
	pointer := 93_825_000_000_000 + int64(w.rank.place)*1_048_576 + int64(slices.Index(w.rank.comms, c))*4096
	w.printf(`, "Concrete Inputs": ["", "%d", "%d", "%d", "", "%s", "%s", "%d"]`,
		e.of.seq, pointer, w.rank.number, splits(e.part.inSplits), splits(e.part.outSplits), len(c.places))
	w.printf(`, "Input type": ["TensorList", "Scalar", "Scalar", "Scalar", "", "ScalarList", "ScalarList", "Scalar"]`)
	w.printf(`, "Input Dims": [[[%d]], [], [], [], [], [], [], []]`, e.part.in)
}
