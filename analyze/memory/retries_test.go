package memory_test

import (
	"testing"

	"assay/torchprof/memory"
)

// TestRetries: releases before an allocation that did not fit are told from those that the program asked for. The
// driver has 100 bytes in each history.
func TestRetries(t *testing.T) {
	entry := func(a memory.Action, address, size int64) memory.Entry {
		return memory.Entry{Action: a, Address: address, Size: size, Time: 1000}
	}
	reserve := func(address, size int64) memory.Entry { return entry(memory.SegmentAlloc, address, size) }
	release := func(address, size int64) memory.Entry { return entry(memory.SegmentFree, address, size) }
	failure := func(size int64) memory.Entry { return entry(memory.OutOfMemory, memory.None, size) }
	for name, tt := range map[string]struct {
		entries      []memory.Entry
		count, bytes int64
	}{
		"before a failure":     {[]memory.Entry{reserve(0, 40), reserve(40, 50), release(40, 50), failure(70)}, 1, 50},
		"and it fits then":     {[]memory.Entry{reserve(0, 40), reserve(40, 50), release(40, 50), reserve(40, 60), failure(20)}, 1, 50},
		"the program asks":     {[]memory.Entry{reserve(0, 40), release(0, 40), reserve(0, 60), reserve(60, 30), failure(20)}, 0, 0},
		"nothing fails":        {[]memory.Entry{reserve(0, 40), reserve(40, 50), release(40, 50), reserve(40, 60)}, 0, 0},
		"asks, then it is due": {[]memory.Entry{reserve(0, 90), release(0, 90), reserve(0, 10), reserve(10, 80), release(10, 80), failure(100)}, 1, 80},
		"the last entry":       {[]memory.Entry{reserve(0, 90), failure(20), release(0, 90)}, 0, 0},
	} {
		end := int64(0)
		for i := range tt.entries {
			end += tt.entries[i].Reserves()
		}
		d := memory.Device{Entries: tt.entries, Segments: []memory.Segment{{Size: end}}}
		h := measure(&memory.Snapshot{Labels: []string{""}, Complete: true, Devices: []memory.Device{d}}).Snapshots[0].History
		if h.RetryFrees != tt.count || h.RetryFreeBytes != tt.bytes {
			t.Errorf("%s: %d releases of %d bytes, want %d of %d", name, h.RetryFrees, h.RetryFreeBytes, tt.count, tt.bytes)
		}
	}
}
