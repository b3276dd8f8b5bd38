// Package rocmgen writes traces as the profilers of ROCm would have recorded them: GPU work, calls of HIP and ranges of
// roctx. Operators and functions of Python are not in such captures.
package rocmgen

import (
	"strconv"
	"strings"

	"assay/trace"
)

// Shift is added to all times, because rocprofv3 counts from the start of the machine and never writes 0.
const Shift = 1_000_000_000_000

// firstGPU is the number of the agent of GPU 0: machines have CPUs as agents, too.
const firstGPU = 2

// An op is an operation of a GPU.
type op struct {
	start, end, device, stream, correlation int64
	isCopy                                  bool
	name                                    string // of a kernel, or the direction of a copy
	bytes                                   int64
	grid, block                             [3]int64 // in threads
}

// A span is a call of HIP or a range of roctx.
type span struct {
	start, end, pid, tid, correlation int64
	name                              string
	isRange                           bool
}

// rows returns what a capture would have of a trace. Memsets are kernels, as HIP runs them.
func rows(t *trace.Trace) (ops []op, spans []span) {
	thread := func(id trace.TrackID) (pid, tid int64) {
		pid, _ = strconv.ParseInt(t.Tracks[id].PID, 10, 64)
		tid, _ = strconv.ParseInt(t.Tracks[id].TID, 10, 64)
		return pid, tid
	}
	for a := range t.Activities.All() {
		d, on := t.Detail(a.Detail), t.Tracks[a.Track]
		o := op{start: a.Start + Shift, end: a.End() + Shift, device: on.Device, stream: on.Stream, correlation: int64(a.Correlation),
			name: t.Name(a.Name), bytes: d.Bytes, grid: d.Grid, block: d.Block, isCopy: a.Kind == trace.Memcpy}
		for i := range o.grid {
			o.grid[i], o.block[i] = max(1, o.grid[i])*max(1, o.block[i]), max(1, o.block[i])
		}
		if o.isCopy {
			o.name = direction(o.name)
		}
		ops = append(ops, o)
	}
	for c := range t.Calls.All() {
		pid, tid := thread(c.Track)
		spans = append(spans, span{c.Start + Shift, c.Start + c.Dur + Shift, pid, tid, int64(c.Correlation), t.Name(c.Name), false})
	}
	for s := range t.Spans.All() {
		if s.Kind == trace.Annotation {
			pid, tid := thread(s.Track)
			spans = append(spans, span{s.Start + Shift, s.Start + s.Dur + Shift, pid, tid, 0, t.Name(s.Name), true})
		}
	}
	return ops, spans
}

// direction returns what rocprofv3 calls a copy.
func direction(name string) string {
	for short, long := range map[string]string{"HtoD": "HOST_TO_DEVICE", "DtoH": "DEVICE_TO_HOST", "HtoH": "HOST_TO_HOST"} {
		if strings.Contains(name, short) {
			return "MEMORY_COPY_" + long
		}
	}
	return "MEMORY_COPY_DEVICE_TO_DEVICE"
}

// ends returns the agents of a copy.
func (o *op) ends() (from, to int64) {
	gpu := firstGPU + o.device
	switch {
	case strings.HasSuffix(o.name, "HOST_TO_DEVICE"):
		return 0, gpu
	case strings.HasSuffix(o.name, "DEVICE_TO_HOST"):
		return gpu, 0
	}
	return gpu, gpu
}

// devices returns the number of GPUs.
func devices(ops []op) (n int64) {
	for _, o := range ops {
		n = max(n, o.device+1)
	}
	return n
}

// domain returns the domain of a span.
func (s *span) domain() string {
	if s.isRange {
		return "MARKER_CORE_API"
	}
	return "HIP_RUNTIME_API_EXT"
}
