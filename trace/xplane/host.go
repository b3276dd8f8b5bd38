package xplane

import (
	"strconv"
	"strings"

	"assay/internal/label"
	"assay/trace"
)

// internal has the names of events that XLA writes for its own tools, and leaves out of Chrome traces: points in time at
// which memory or an element of the input pipeline changes.
var internal = map[string]bool{
	"MemoryAllocation": true, "MemoryDeallocation": true, "PrefetchProduce": true, "PrefetchConsume": true,
	"ParallelInterleaveProduce": true, "ParallelInterleaveConsume": true, "ParallelInterleaveInitializeInput": true,
	"ParallelMapProduce": true, "ParallelMapConsume": true, "MapAndBatchProduce": true, "MapAndBatchConsume": true,
	"ParseExampleProduce": true, "ParseExampleConsume": true,
}

// host returns what takes the events of a thread. Events with a correlation are calls that launched work.
func (r *reader) host(tid int64, name string) func(*event) {
	if name != "" {
		r.out.NameThread(devicePID, tid, name)
	}
	return func(e *event) {
		if internal[e.name] {
			r.allocated(tid, e)
			return
		}
		if e.facts.correlation > 0 {
			r.calls = append(r.calls, call{tid: tid, key: e.facts.correlation, name: callName(e.name), op: e.facts.operator(),
				row: trace.Call{Start: e.start, Dur: e.dur, Kind: trace.Runtime, Correlation: trace.IDOf(e.facts.correlation)}})
			return
		}
		kind, name := trace.OtherKind, e.name
		if at := strings.LastIndexByte(name, ' '); at > 0 && name == e.facts.stepName {
			name = name[:at] // a Chrome trace has the name of the step, with its number
		}
		if e.facts.step >= 0 { // of StepTraceAnnotation, whose name says nothing about its number
			r.marked = true
			kind, name = trace.Annotation, "step "+strconv.FormatInt(e.facts.step, 10)
		}
		r.out.Span(trace.HostSpan{Start: e.start, Dur: e.dur, Kind: kind, Name: r.out.Sym([]byte(name)), Track: r.out.Thread(devicePID, tid)})
	}
}

// callName returns the name of a call. On NVIDIA the profiler names it as the kernel that it launches.
func callName(name string) string {
	if label.IsCall(name) {
		return name
	}
	return "launch"
}

// addCalls adds the calls, and for each the operator to which it belongs: XLA's operators run on the device alone, and
// the call is what they do on the host.
func (r *reader) addCalls() {
	for i := range r.calls {
		c := &r.calls[i]
		op := r.ops[c.key]
		if op == "" {
			op = c.op
		}
		c.row.Track, c.row.Name = r.out.Thread(devicePID, c.tid), r.out.Sym([]byte(c.name))
		if op != "" {
			c.row.External = c.row.Correlation
			name := r.out.Sym([]byte(op))
			r.out.Op(trace.Op{Start: c.row.Start, Dur: c.row.Dur, External: c.row.Correlation, Name: name, Track: c.row.Track, Shape: r.out.Shape(trace.Shape{}, name)})
		}
		r.out.Call(c.row)
	}
}
