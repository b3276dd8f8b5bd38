package vendorgen

import (
	"fmt"
	"strings"

	"assay/trace"
)

// zeCalls are the names that calls of CUDA have in Level Zero. Others are named after them.
var zeCalls = map[string]string{
	"cudaLaunchKernel": "zeCommandListAppendLaunchKernel", "cuLaunchKernel": "zeCommandListAppendLaunchKernel",
	"cudaMemcpyAsync": "zeCommandListAppendMemoryCopy", "cudaMemsetAsync": "zeCommandListAppendMemoryFill",
	"cudaStreamSynchronize": "zeCommandQueueSynchronize", "cudaDeviceSynchronize": "zeCommandQueueSynchronize",
	"cudaEventSynchronize": "zeEventHostSynchronize", "cudaMalloc": "zeMemAllocDevice", "cudaFree": "zeMemFree",
}

// Unitrace returns a trace as unitrace writes it with --chrome-call-logging, --chrome-kernel-logging and
// --chrome-itt-logging: what the program marks, calls, and work on engines, without operators of PyTorch.
func Unitrace(t *trace.Trace, shift int64) []byte {
	w := &writer{shift: shift}
	w.WriteString("{ \"traceEvents\":[\n")
	first := true
	event := func(format string, args ...any) {
		if !first {
			w.WriteString(",\n")
		}
		first = false
		fmt.Fprintf(w, format, args...)
	}
	pids, devices := make(map[string]bool), make(map[int64]bool)
	for i := range t.Tracks {
		switch on := &t.Tracks[i]; {
		case on.OnDevice:
			if !devices[on.Device] {
				devices[on.Device] = true
				event(`{"ph": "M", "name": "process_name", "pid": %d, "ts": 1.5, "args": {"name": "DEVICE<node7>[Intel(R) Data Center GPU Max 1550] 0:%x:0:0 #%d"}}`, engine(on), 16+on.Device, on.Device)
			}
			event(`{"ph": "M", "name": "thread_name", "pid": %d, "tid": %d, "ts": 1.5, "args": {"name": "L0 Compute Engine<0,%d>"}}`, engine(on), queue(on), on.Stream)
		case !pids[on.PID]:
			pids[on.PID] = true
			event(`{"ph": "M", "name": "process_name", "pid": %s, "ts": 1.5, "args": {"name": "HOST<node7>"}}`, pid(on, ""))
		}
	}
	host := func(start, dur int64, name string, on *trace.Track) {
		event(`{"ph": "X", "tid": %s, "pid": %s, "name": %q, "cat": "cpu_op", "ts": %s, "dur": %s, "id": 0}`, tid(on), pid(on, ""), name, w.at(start), us(dur))
	}
	for s := range t.Spans.All() {
		if s.Kind == trace.Annotation {
			host(s.Start, s.Dur, t.Name(s.Name), &t.Tracks[s.Track])
		}
	}
	for c := range t.Calls.All() {
		name, ok := zeCalls[t.Name(c.Name)]
		if !ok {
			name = "zeOf" + strings.ToUpper(t.Name(c.Name))
		}
		on := &t.Tracks[c.Track]
		host(c.Start, c.Dur, name, on)
		if c.Correlation != 0 {
			event(`{"ph": "s", "tid": %s, "pid": %s, "name": "dep", "cat": "Flow_H2D_%d_0", "ts": %s, "id": %d}`, tid(on), pid(on, ""), c.Correlation, w.at(c.Start), c.Correlation)
		}
	}
	for a := range t.Activities.All() {
		name, d := t.Name(a.Name), t.Detail(a.Detail)
		switch a.Kind {
		case trace.Memcpy:
			name = fmt.Sprintf("zeCommandListAppendMemoryCopy(H2D)[%d]", max(1, d.Bytes))
		case trace.Memset:
			name = "zeCommandListAppendMemoryFill"
		default:
			name += fmt.Sprintf("[SIMD32 {%d; %d; %d} {%d; %d; %d}]", d.Grid[0], d.Grid[1], d.Grid[2], d.Block[0], d.Block[1], d.Block[2])
		}
		on := &t.Tracks[a.Track]
		event(`{"ph": "X", "tid": %d, "pid": %d, "name": %q, "cat": "gpu_op", "ts": %s, "dur": %s, "args": {"id": "%d"}}`, queue(on), engine(on), name, w.at(a.Start), us(a.Dur), a.Correlation)
		event(`{"ph": "t", "tid": %d, "pid": %d, "name": "dep", "cat": "Flow_H2D_%d_0", "ts": %s, "id": %d}`, queue(on), engine(on), a.Correlation, w.at(a.Start), a.Correlation)
		event(`{"ph": "s", "tid": %d, "pid": %d, "name": "dep", "cat": "Flow_D2H_%d_0", "ts": %s, "id": %d}`, queue(on), engine(on), a.Correlation, w.at(a.Start), a.Correlation)
	}
	w.WriteString("\n]\n}\n")
	return w.Bytes()
}

// engine returns the number of the process of a device, queue that of the thread of a stream: both count down.
func engine(on *trace.Track) int64 { return 1<<32 - 1 - on.Device }
func queue(on *trace.Track) int64  { return 1<<32 - 1 - on.Stream }
