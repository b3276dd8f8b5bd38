package tracegen

import (
	"strconv"
	"strings"
)

// An emitter writes trace events in a dialect.
type emitter struct {
	jsonWriter
	dialect Dialect
	base    int64
	pid     int64 // of the host process
	events  int64
	records int64 // record functions so far
}

// category returns the dialect's name of a category.
func (d Dialect) category(modern string) string {
	if d.Era != Era2022 {
		return modern
	}
	switch modern {
	case "kernel":
		return "Kernel"
	case "cuda_runtime", "cuda_driver":
		return "Runtime"
	case "gpu_memcpy":
		return "Memcpy"
	case "gpu_memset":
		return "Memset"
	case "cpu_op":
		return "Operator"
	}
	return modern
}

// time writes a point in time, or a duration.
func (e *emitter) time(key string, ns int64) {
	e.key(key)
	if e.dialect.Era.unit() == 1 {
		e.thousandths(ns)
		return
	}
	e.buf = strconv.AppendInt(e.buf, ns/1000, 10)
}

// start begins an element of traceEvents.
func (e *emitter) start() {
	if len(e.buf) >= bufferSize {
		e.flush()
	}
	e.events++
	e.br()
	e.next()
	e.open('{')
	e.br()
}

func (e *emitter) end() {
	e.br()
	e.close('}')
}

func (e *emitter) args() {
	e.br()
	e.object("args")
	e.br()
}

func (e *emitter) endArgs() {
	e.br()
	e.close('}')
	e.end()
}

// A track is the pid and tid of an event.
type track struct {
	pid, tid int64
	label    string // precedes the pid, which is a text then
}

func (e *emitter) track(at track) {
	e.key("pid")
	if at.label == "" {
		e.buf = strconv.AppendInt(e.buf, at.pid, 10)
	} else {
		e.quoted(at.label + strconv.FormatInt(at.pid, 10))
	}
	e.int("tid", at.tid)
}

// slice begins a complete event and leaves it open for its arguments.
func (e *emitter) slice(category, name string, at track, ts, dur int64) {
	e.start()
	e.str("ph", "X")
	e.str("cat", e.dialect.category(category))
	e.str("name", name)
	e.track(at)
	e.br()
	e.time("ts", ts)
	e.time("dur", dur)
}

// flow writes one end of an arrow: ph is "s" or "f".
func (e *emitter) flow(category, ph, name string, id int64, at track, ts int64) {
	e.start()
	e.str("ph", ph)
	e.int("id", id)
	e.track(at)
	e.time("ts", ts)
	e.br()
	e.str("cat", category)
	e.str("name", name)
	if ph == "f" {
		e.str("bp", "e")
	}
	e.end()
}

// launchFlow writes one end of the arrow from a launch to its work.
func (e *emitter) launchFlow(ph, call string, id int64, at track, ts int64) {
	if e.dialect.Era == Era2022 {
		e.flow("async_gpu", ph, call, id, at, ts)
		return
	}
	e.flow("ac2g", ph, "ac2g", id, at, ts)
}

// metadata writes a metadata event with one argument.
func (e *emitter) metadata(name string, at track, ts int64, key, text string, number int64) {
	e.start()
	e.str("name", name)
	e.str("ph", "M")
	e.time("ts", ts)
	e.track(at)
	e.args()
	if text != "" {
		e.str(key, text)
	} else {
		e.int(key, number)
	}
	e.endArgs()
}

// instant writes a global instant event of the profiler.
func (e *emitter) instant(name, pid, tid string, ts int64) {
	e.start()
	e.str("name", name)
	e.str("ph", "i")
	e.str("s", "g")
	e.br()
	e.str("pid", pid)
	e.str("tid", tid)
	e.time("ts", ts)
	e.end()
}

// recordID writes the fields that identify a record function.
func (e *emitter) recordID() {
	e.records++
	switch e.dialect.Era {
	case Era2022:
		e.int("Profiler Event Index", e.records)
	case Era2023:
		e.int("Ev Idx", e.records)
	default:
		e.int("Record function id", e.records)
		e.int("Ev Idx", e.records)
	}
}

// An allocation is a change of allocated memory, by bytes, and the state after it.
type allocation struct{ address, bytes, allocated, reserved int64 }

// memoryEvent writes a change of the memory of a device, or of the host, which
// is device -1. Kind is PyTorch's number of the type of device.
func (e *emitter) memoryEvent(at track, ts int64, device int, kind int64, a allocation) {
	e.start()
	e.str("ph", "i")
	e.str("cat", "cpu_instant_event")
	e.str("s", "t")
	e.str("name", "[memory]")
	e.br()
	e.track(at)
	e.time("ts", ts)
	e.args()
	e.int("Total Reserved", a.reserved)
	e.int("Total Allocated", a.allocated)
	e.int("Bytes", a.bytes)
	e.int("Addr", a.address)
	e.int("Device Id", int64(device))
	e.int("Device Type", kind)
	e.recordID()
	e.endArgs()
}

// A call is a runtime or driver call: its name, category, and number in the
// tables of CUPTI or roctracer.
type call struct {
	name, category string
	number         int64
}

// callOf returns the call that launches op.
func (d Dialect) callOf(op *Op) call {
	name := op.Call
	switch {
	case name != "":
	case op.Graph != 0:
		name = "cudaGraphLaunch"
	case op.Kind == Comm:
		name = "cudaLaunchKernelExC"
	case op.Kind == Copy:
		name = "cudaMemcpyAsync"
	case op.Kind == Memset:
		name = "cudaMemsetAsync"
	case op.Kind == Compute:
		name = "cudaLaunchKernel"
	default:
		return call{}
	}
	if d.Vendor == ROCm {
		return hipCall(name)
	}
	c := call{name: name, category: "cuda_runtime"}
	if !strings.HasPrefix(name, "cuda") {
		c.category = "cuda_driver"
	}
	switch name {
	case "cudaLaunchKernel":
		c.number = 211
	case "cudaLaunchKernelExC":
		c.number = 430
	case "cudaMemcpyAsync":
		c.number = 41
	case "cudaMemsetAsync":
		c.number = 51
	case "cudaGraphLaunch":
		c.number = 311
	case "cudaDeviceSynchronize":
		c.number = 165
	case "cudaStreamSynchronize":
		c.number = 131
	case "cuLaunchKernelEx":
		c.number = 652
	}
	return c
}

// hipCall returns HIP's counterpart of a CUDA call. Kineto writes HIP's calls
// with category cuda_runtime.
func hipCall(cuda string) call {
	c := call{category: "cuda_runtime"}
	switch cuda {
	case "cudaMemcpyAsync":
		c.name, c.number = "hipMemcpyWithStream", 153
	case "cudaLaunchKernelExC", "cuLaunchKernelEx":
		c.name, c.number = "hipExtModuleLaunchKernel", 65
	case "cudaLaunchKernel":
		c.name, c.number = "hipLaunchKernel", 107
	default:
		c.name, c.number = "hip"+strings.TrimPrefix(cuda, "cuda"), 370
	}
	return c
}
