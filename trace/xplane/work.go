package xplane

import (
	"strconv"
	"strings"

	"assay/internal/lazyregexp"
	"assay/trace"
)

var streamLine = lazyregexp.New(`^Stream #(\d{1,9})`)

// devicePID is the process of the work of devices, and of the threads of the host: a file has one process.
const devicePID = 1

// add adds the work of a stream.
func (r *reader) add(e *event, device, stream int64) {
	name := strings.TrimSuffix(e.name, ".kd") // of AMD: kernel descriptor
	d := trace.Detail{Registers: -1, SharedMemory: -1, Bytes: -1, GraphID: e.facts.graph,
		Collective: trace.Collective{In: -1, Out: -1, GroupSize: -1}}
	launch(e.facts.details, &d)
	sym := r.out.Sym([]byte(name))
	id := trace.ID(0)
	if e.facts.correlation > 0 {
		id = trace.IDOf(e.facts.correlation)
		if op := e.facts.operator(); op != "" {
			r.ops[e.facts.correlation] = op
		}
	}
	r.out.Activity(trace.Activity{Start: e.start, Dur: e.dur, Correlation: id, External: id, Name: sym, Kind: workKind(name),
		Track: r.out.Stream(devicePID, device, stream), Detail: r.out.Detail(d, sym)})
}

// workKind returns the kind of work by its name.
func workKind(name string) trace.Kind {
	switch lower := strings.ToLower(name); {
	case strings.HasPrefix(lower, "memset"), strings.HasPrefix(lower, "fillbuffer"):
		return trace.Memset
	case strings.HasPrefix(lower, "memcpy"), strings.HasPrefix(lower, "copydevicetodevice"), strings.HasPrefix(lower, "copyhosttodevice"),
		strings.HasPrefix(lower, "copydevicetohost"), strings.HasPrefix(lower, "memorycopy"):
		return trace.Memcpy
	}
	return trace.Kernel
}

// launch takes the properties of a launch from a text such as "regs:16 shm:0 grid:1,1,1 block:1024,1,1".
func launch(text string, d *trace.Detail) {
	shared := int64(-1)
	for word := range strings.FieldsSeq(text) {
		key, value, _ := strings.Cut(word, ":")
		switch n, err := strconv.ParseInt(value, 10, 64); {
		case key == "grid":
			d.Grid = sizes(value)
		case key == "block":
			d.Block = sizes(value)
		case err != nil || n < 0:
		case key == "regs":
			d.Registers = n
		case key == "shm", key == "static_shared", key == "dynamic_shared", key == "group_mem":
			shared = max(shared, 0) + n
		case key == "size" && n > 0:
			d.Bytes = n
		}
	}
	d.SharedMemory = shared
}

// sizes reads three numbers that commas separate.
func sizes(text string) (out [3]int64) {
	i := 0
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.ParseInt(part, 10, 64)
		if err != nil || n < 0 || i == len(out) {
			return [3]int64{}
		}
		out[i] = n
		i++
	}
	return out
}

// hardware takes what the plane says about its GPU.
func (r *reader) hardware(p *plane, device int64) {
	var h trace.Hardware
	vendor, name := "", ""
	for _, s := range p.own {
		switch key, n, text := p.stat(s); key {
		case "device_vendor":
			vendor = text
		case "gpu_device_name", "device_type_string":
			name = text
		case "clock_rate":
			h.ClockHz = clamp(n, 1<<32) * 1000
		case "core_count":
			h.SMs = clamp(n, 1<<16)
		case "memory_bandwidth":
			h.Bandwidth = clamp(n, 1<<52)
		case "memory_size":
			if n > 0 {
				r.meta.Capacity[device] = n
			}
		case "peak_hbm_bw_gigabytes_per_second": // of a TPU
			h.Bandwidth = clamp(n, 1<<20) * 1e9
		case "peak_teraflops_per_second": // of a TPU
			h.HalfRate = clamp(n, 1<<20) * 1e12
		case "compute_cap_major":
			h.Major = clamp(n, 1<<10)
		case "compute_cap_minor":
			h.Minor = clamp(n, 1<<10)
		}
	}
	if vendor == "AMD" { // its numbers are those of the architecture, not of CUDA
		h.Major, h.Minor = 0, 0
		if name == "" {
			name = "AMD GPU"
		}
	}
	r.meta.Hardware[device] = h
	if name != "" && len(name) <= 256 {
		r.meta.Devices[device] = name
	}
}

// clamp returns n, or 0 if it is implausible.
func clamp(n, most int64) int64 {
	if n < 0 || n > most {
		return 0
	}
	return n
}
