package memory

import (
	"cmp"
	"slices"

	"assay/torchprof/memory"
)

// A knownSegments has the segments whose allocation the history of a device has, and the
// addresses that were freed and not allocated again. A free of memory that was live
// before the history is normal; one in a segment that is younger than the history, or
// after another free, is not.
type knownSegments struct {
	list  []segmentRange // by start, without overlap
	many  bool           // there were more than mostSegments, and the list is not complete
	freed map[int64]bool
}

// A segmentRange is a range of addresses, end exclusive.
type segmentRange struct{ start, end int64 }

// mostSegments is how many segments are followed, because the list is kept in order. An
// allocator maps at most some thousand parts of 20 MB.
const mostSegments = 8192

// see follows an entry that allocates or frees a segment or a block.
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

// remove removes the segments that overlap the range of an entry. What is left of them is
// no longer known, which only makes fewer frees false.
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

// free follows a free that no allocation of the history belongs to. It reports whether
// the block was freed before, and whether its allocation must be in the history.
func (k *knownSegments) free(e *memory.Entry) (twice, younger bool) {
	twice = k.freed[e.Address]
	k.completed(e)
	at, ok := k.find(e.Address)
	if !ok {
		at--
	}
	return twice, !twice && !k.many && at >= 0 && e.Address < k.list[at].end
}

// completed follows any free.
func (k *knownSegments) completed(e *memory.Entry) {
	if k.freed == nil {
		k.freed = make(map[int64]bool)
	}
	k.freed[e.Address] = true
}
