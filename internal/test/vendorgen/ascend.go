// Package vendorgen writes traces in the formats of other profilers, for tests: what a trace of Kineto says, as they
// would.
package vendorgen

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"assay/trace"
)

// A writer writes the events of a Chrome trace.
type writer struct {
	bytes.Buffer
	shift int64
}

func (w *writer) event(format string, args ...any) {
	if w.Len() > 2 {
		w.WriteString(",\n")
	}
	fmt.Fprintf(w, format, args...)
}

// us returns a time in microseconds with three decimals.
func us(ns int64) string { return fmt.Sprintf("%d.%03d", ns/1000, ns%1000) }

func (w *writer) at(ns int64) string { return us(ns + w.shift) }

// aclCalls are the names that calls of CUDA have in CANN. Others keep theirs.
var aclCalls = map[string]string{
	"cudaLaunchKernel": "Node@launch", "cuLaunchKernel": "Node@launch", "cudaLaunchKernelExC": "Node@launch", "hipLaunchKernel": "Node@launch",
	"cudaMemcpyAsync": "AscendCL@aclrtMemcpyAsync", "cudaMemcpy": "AscendCL@aclrtMemcpy", "cudaMemsetAsync": "AscendCL@aclrtMemsetAsync",
	"cudaStreamSynchronize": "AscendCL@aclrtSynchronizeStream", "cudaDeviceSynchronize": "AscendCL@aclrtSynchronizeDevice",
	"cudaEventSynchronize": "AscendCL@aclrtSynchronizeEvent", "cudaMalloc": "AscendCL@aclrtMalloc", "cudaFree": "AscendCL@aclrtFree",
}

// Ascend returns a trace as torch_npu writes it: its times are text, calls are in a process of their own, and arrows link
// them with the work. Times are shifted, because the profiler counts since 1970.
func Ascend(t *trace.Trace, shift int64) []byte {
	w := &writer{shift: shift}
	w.WriteString("[\n")
	pids := make(map[string]bool)
	for i := range t.Tracks {
		if on := &t.Tracks[i]; !on.OnDevice && !pids[on.PID] {
			pids[on.PID] = true
			w.event(`{"name":"process_name","ph":"M","pid":%s,"tid":0,"args":{"name":"Python"}}`, pid(on, ""))
			w.event(`{"name":"process_name","ph":"M","pid":%s,"tid":0,"args":{"name":"CANN"}}`, pid(on, "02"))
		}
	}
	devices := make(map[int64]bool)
	for i := range t.Tracks {
		if on := &t.Tracks[i]; on.OnDevice {
			if !devices[on.Device] {
				devices[on.Device] = true
				w.event(`{"name":"process_name","ph":"M","pid":%d,"tid":0,"args":{"name":"Ascend Hardware"}}`, npu(on))
			}
			w.event(`{"name":"thread_name","ph":"M","pid":%d,"tid":%d,"args":{"name":"Stream %d"}}`, npu(on), on.Stream, on.Stream)
		}
	}
	host := func(start, dur int64, name trace.Sym, on trace.TrackID, category string) {
		track := &t.Tracks[on]
		w.event(`{"ph":"X","name":%q,"pid":%s,"tid":%s,"ts":%q,"dur":%s,"cat":%q,"args":{}}`, t.Name(name), pid(track, ""), tid(track), w.at(start), us(dur), category)
	}
	for o := range t.Ops.All() {
		host(o.Start, o.Dur, o.Name, o.Track, "cpu_op")
	}
	for p := range t.Python.All() {
		host(p.Start, p.Dur, p.Name, p.Track, "python_function")
	}
	for s := range t.Spans.All() {
		if s.Kind == trace.Annotation {
			category := "user_annotation"
			if strings.HasPrefix(t.Name(s.Name), "ProfilerStep#") {
				category = "cpu_op"
			}
			host(s.Start, s.Dur, s.Name, s.Track, category)
		}
	}
	for c := range t.Calls.All() {
		name, ok := aclCalls[t.Name(c.Name)]
		if !ok {
			name = "AscendCL@" + t.Name(c.Name)
		}
		on := &t.Tracks[c.Track]
		w.event(`{"ph":"X","name":%q,"pid":%s,"tid":%s,"ts":%q,"dur":%s,"args":{"connection_id":%d}}`, name, pid(on, "02"), tid(on), w.at(c.Start), us(c.Dur), c.Correlation)
		if c.Correlation != 0 {
			w.event(`{"ph":"s","name":"HostToDevice%d","id":"%d","cat":"HostToDevice","pid":%s,"tid":%s,"ts":%q}`, c.Correlation, int64(c.Correlation)<<32, pid(on, "02"), tid(on), w.at(c.Start))
		}
	}
	for a := range t.Activities.All() {
		name := t.Name(a.Name)
		switch a.Kind {
		case trace.Memcpy:
			name = "MEMCPY_ASYNC"
		case trace.Memset:
			name = "MEMSET_ASYNC"
		}
		on := &t.Tracks[a.Track]
		w.event(`{"ph":"X","name":%q,"pid":%d,"tid":%d,"ts":%q,"dur":%s,"args":{"Task Type":"Other","Stream Id":%d}}`, name, npu(on), on.Stream, w.at(a.Start), us(a.Dur), on.Stream)
		if a.Correlation != 0 {
			w.event(`{"ph":"f","name":"HostToDevice%d","id":"%d","cat":"HostToDevice","pid":%d,"tid":%d,"ts":%q,"bp":"e"}`, a.Correlation, int64(a.Correlation)<<32, npu(on), on.Stream, w.at(a.Start))
		}
	}
	w.WriteString("\n]")
	return w.Bytes()
}

// AscendCSV returns the work of a trace as kernel_details.csv.
func AscendCSV(t *trace.Trace, shift int64) []byte {
	w := &writer{shift: shift}
	w.WriteString("Device_id,Model ID,Task ID,Stream ID,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block Dim\n")
	for a := range t.Activities.All() {
		if a.Kind == trace.Kernel {
			on := &t.Tracks[a.Track]
			fmt.Fprintf(w, "%d,4294967295,1,%d,\"%s\",,AI_CORE,\"%s\t\",%s,0,8\n", on.Device, on.Stream, strings.ReplaceAll(t.Name(a.Name), `"`, `""`), w.at(a.Start), us(a.Dur))
		}
	}
	return w.Bytes()
}

// npu returns the number of the process of a device.
func npu(on *trace.Track) int64 { return 4711<<10 | 8<<5 | on.Device }

// pid returns the number of a process of the host, with an ending. tid returns that of a thread.
func pid(on *trace.Track, ending string) string {
	return digits(on.PID) + ending
}

func tid(on *trace.Track) string { return digits(on.TID) }

// digits returns a number as it is, and any other text as a number.
func digits(text string) string {
	if _, err := strconv.ParseUint(text, 10, 63); err == nil {
		return text
	}
	n := uint64(0)
	for _, c := range text {
		n = n*31 + uint64(c)
	}
	return strconv.FormatUint(n%1_000_000_000, 10)
}
