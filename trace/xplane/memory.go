package xplane

import (
	"math"
	"strconv"
	"strings"

	"assay/trace"
)

// An allocation is a change of the memory of a device, as the allocators of TensorFlow and XLA log it: what it takes or
// gives back, and what is in use afterwards. The numbers are those of its stats.
type allocation struct {
	allocator        string
	address          int64
	size, use, other int64 // bytes of this allocation, of all, and of what else the allocator keeps
	device           int64 // of a TPU, from 1
}

// set takes a property that is used.
func (a *allocation) set(name string, n int64, text string) {
	switch name {
	case "allocator_name":
		a.allocator = text
	case "addr":
		a.address = n
	case "allocation_bytes":
		a.size = n
	case "bytes_allocated":
		a.use = n
	case "bytes_reserved":
		a.other = n
	case "index_on_host":
		a.device = n + 1
	}
}

// deviceOf returns the device whose memory it is, or -1 if it is that of the host or not known.
func (a *allocation) deviceOf() int32 {
	if a.device > 0 && a.device <= math.MaxInt32 {
		return int32(a.device - 1)
	}
	number, isGPU := strings.CutPrefix(a.allocator, "GPU_") // GPU_0_bfc
	number, _, _ = strings.Cut(number, "_")
	if n, err := strconv.ParseInt(number, 10, 32); isGPU && err == nil && n >= 0 {
		return int32(n)
	}
	return -1
}

// allocated adds a change of the memory of a device.
func (r *reader) allocated(tid int64, e *event) {
	a := &e.facts.memory
	device := a.deviceOf()
	if device < 0 || a.use < 0 || a.size < 0 {
		return
	}
	size := a.size
	if e.name == "MemoryDeallocation" {
		size = -size
	}
	r.out.Memory(trace.MemoryEvent{Start: e.start, Address: a.address, Bytes: size, Allocated: a.use + max(0, a.other), Reserved: -1,
		Track: r.out.Thread(devicePID, tid), Device: device, DeviceType: 1})
}
