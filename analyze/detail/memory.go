package detail

import (
	"cmp"
	"math"
	"slices"

	"assay/analyze/gpu"
	"assay/summary"
	"assay/trace"
)

// allocated returns the peak of the allocated memory of a device, in bytes, in each bin of its
// window. It returns nil if the profiler wrote no totals.
func allocated(t *trace.Trace, d *gpu.Device, bin int64) []int64 {
	var list []*trace.MemoryEvent
	for e := range t.Memory.All() {
		if e.DeviceType != trace.HostMemory && int64(e.Device) == d.Ordinal && e.Allocated >= 0 {
			list = append(list, e)
		}
	}
	if len(list) == 0 {
		return nil
	}
	slices.SortStableFunc(list, func(a, b *trace.MemoryEvent) int { return cmp.Compare(a.Start, b.Start) })
	now := max(0, summary.Plus(list[0].Allocated, -max(list[0].Bytes, -math.MaxInt64))) // before the first event
	out := make([]int64, (d.Window.Len()-1)/bin+1)
	at := 0
	for i := range out {
		start, end := d.Window.Start+int64(i)*bin, d.Window.Start+int64(i+1)*bin
		for ; at < len(list) && list[at].Start < start; at++ {
			now = list[at].Allocated
		}
		for out[i] = now; at < len(list) && list[at].Start < end; at++ {
			now = list[at].Allocated
			out[i] = max(out[i], now)
		}
	}
	return out
}
