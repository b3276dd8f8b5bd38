package memory

import (
	"testing"

	"assay/torchprof/memory"
)

// TestKnownSegments: of segments that are freed, or that another one replaces in part,
// nothing is known, and neither where there are too many.
func TestKnownSegments(t *testing.T) {
	entry := func(a memory.Action, address, size int64) *memory.Entry {
		return &memory.Entry{Action: a, Address: address, Size: size}
	}
	var k knownSegments
	young := func(address int64) bool {
		_, young := k.free(entry(memory.FreeCompleted, address, 1))
		delete(k.freed, address)
		return young
	}
	k.see(entry(memory.SegmentAlloc, 100, 50))
	k.see(entry(memory.SegmentMap, 200, 50))
	for address, want := range map[int64]bool{99: false, 100: true, 149: true, 150: false, 200: true, 249: true, 250: false} {
		if got := young(address); got != want {
			t.Errorf("%d: %v", address, got)
		}
	}
	k.see(entry(memory.SegmentFree, 100, 50))
	k.see(entry(memory.SegmentMap, 240, 20))
	for address, want := range map[int64]bool{100: false, 200: false, 240: true, 259: true} {
		if got := young(address); got != want {
			t.Errorf("%d, later: %v", address, got)
		}
	}
	for i := range int64(mostSegments + 1) {
		k.see(entry(memory.SegmentAlloc, 1000+10*i, 10))
	}
	if young(1000) {
		t.Error("too many segments are taken to be known")
	}
}
