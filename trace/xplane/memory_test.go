package xplane_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/trace"
)

// TestMemory: changes of the memory of GPUs and TPUs are read with their totals. Memory of the host, and changes without
// their numbers, are not.
func TestMemory(t *testing.T) {
	stats := func(allocator string, size, use int) map[string]any {
		return map[string]any{"allocator_name": allocator, "addr": 4096, "allocation_bytes": size, "bytes_allocated": use, "bytes_reserved": 0}
	}
	tpu := map[string]any{"index_on_host": 2, "addr": 512, "allocation_bytes": 1024, "bytes_allocated": 9000, "bytes_reserved": 1000}
	host := onPlane("/host:CPU").line(7, "main", 1000,
		at{"MemoryAllocation", 1_000_000, 0, stats("GPU_1_bfc", 256, 1256)},
		at{"MemoryDeallocation", 2_000_000, 0, stats("GPU_1_bfc", 256, 1000)},
		at{"MemoryAllocation", 3_000_000, 0, stats("xla_gpu_host_bfc", 256, 256)},
		at{"MemoryAllocation", 4_000_000, 0, stats("GPU_x_bfc", 256, 256)},
		at{"MemoryAllocation", 5_000_000, 0, nil},
		at{"MemoryAllocation", 6_000_000, 0, tpu})
	tr := read(t, space(host.end()))
	var got []trace.MemoryEvent
	for e := range tr.Memory.All() {
		e := *e
		e.Track = 0
		got = append(got, e)
	}
	want := []trace.MemoryEvent{
		{Start: 2000, Address: 4096, Bytes: 256, Allocated: 1256, Reserved: -1, Device: 1, DeviceType: 1},
		{Start: 3000, Address: 4096, Bytes: -256, Allocated: 1000, Reserved: -1, Device: 1, DeviceType: 1},
		{Start: 7000, Address: 512, Bytes: 1024, Allocated: 10000, Reserved: -1, Device: 2, DeviceType: 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
