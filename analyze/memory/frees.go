package memory

import (
	"cmp"
	"slices"

	"assay/torchprof/memory"
)

// knownSegments finds invalid frees. A free without an allocation in the history is normal if the
// memory was allocated before the history. It is invalid if the segment was allocated within the
// history, or if the block was freed already.
type knownSegments struct {
	list  []segmentRange // segments allocated within the history, by start, without overlap
	many  bool           // there were more than mostSegments, so the list is incomplete
	freed map[int64]bool // addresses that were freed and not allocated again
}

// A segmentRange is a range of addresses, end exclusive.
type segmentRange struct{ start, end int64 }

// mostSegments is the maximum length of the list, because insertions keep it sorted. An allocator
// maps at most some thousand segments of 20 MB.
const mostSegments = 8192

// see processes an entry that allocates or frees a segment or a block.
func (k *knownSegments) see(e *memory.Entry) {
	switch e.Action {
	case memory.Alloc:
		delete(k.freed, e.Address)
	case memory.SegmentAlloc, memory.SegmentMap:
		k.remove(e)
		at, _ := k.find(e.Address)
		if k.many = k.many || len(k.list) >= mostSegments; !k.many && e.Size > 0 && e.Address+e.Size > e.Address {
			k.list = slices.Insert(k.list, at, segmentRange{e.Address, e.Address + e.Size})
		}
	case memory.SegmentFree, memory.SegmentUnmap:
		k.remove(e)
	}
}

// find returns the index of the first segment that starts at or after an address.
func (k *knownSegments) find(address int64) (int, bool) {
	return slices.BinarySearchFunc(k.list, address, func(s segmentRange, a int64) int { return cmp.Compare(s.start, a) })
}

// remove removes the segments that overlap the range of an entry. It drops them as a whole, which
// can only hide invalid frees.
func (k *knownSegments) remove(e *memory.Entry) {
	end := e.Address + max(e.Size, 1)
	from, _ := k.find(e.Address)
	if from > 0 && k.list[from-1].end > e.Address {
		from--
	}
	to := from
	for to < len(k.list) && k.list[to].start < end {
		to++
	}
	k.list = slices.Delete(k.list, from, to)
}

// free processes a free without an allocation in the history. It reports whether the block was freed
// before, and whether its allocation should be in the history.
func (k *knownSegments) free(e *memory.Entry) (twice, younger bool) {
	twice = k.freed[e.Address]
	k.completed(e)
	at, ok := k.find(e.Address)
	if !ok {
		at--
	}
	return twice, !twice && !k.many && at >= 0 && e.Address < k.list[at].end
}

// completed processes any free.
func (k *knownSegments) completed(e *memory.Entry) {
	if k.freed == nil {
		k.freed = make(map[int64]bool)
	}
	k.freed[e.Address] = true
}
