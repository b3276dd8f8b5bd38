package snapgen

import "strings"

// A Truth is what is so in a run, as far as its snapshot can tell.
type Truth struct {
	Entries                            int64
	Reserved, Allocated, Waiting       int64 // at the end
	Split, Cached, LargestFree         int64
	Requested                          int64
	HighestReserved                    int64 // of the history that is left
	Allocs, Frees                      int64
	SegmentAllocs, SegmentFrees        int64
	SegmentAllocBytes, SegmentFreeByte int64
	OlderBlocks, OlderBytes, Lost      int64

	Peak       int64
	PeakEntry  int64            // of the history that is left; -1 if before it
	PeakOwners map[string]int64 // by "file:line function"; "" where no stack is known
}

// window returns the events that the ring buffer still has: from this one on.
func (r *Run) window() int {
	if most := r.opt.MaxEntries; most > 0 {
		return max(0, len(r.events)-most)
	}
	return 0
}

// Truth adds everything up. The peak takes time by the square of the history:
// each moment asks every allocation.
func (r *Run) Truth() Truth {
	var t Truth
	from := r.window()
	t.Entries = int64(len(r.events) - from)
	r.truthOfEnd(&t)
	reserved := t.Reserved
	t.HighestReserved = reserved
	for i := len(r.events) - 1; i >= from; i-- {
		e := r.events[i]
		switch e.action {
		case "alloc":
			t.Allocs++
		case "free_completed":
			t.Frees++
		case "segment_alloc":
			t.SegmentAllocs, t.SegmentAllocBytes, reserved = t.SegmentAllocs+1, t.SegmentAllocBytes+e.size, reserved-e.size
		case "segment_free":
			t.SegmentFrees, t.SegmentFreeByte, reserved = t.SegmentFrees+1, t.SegmentFreeByte+e.size, reserved+e.size
		}
		t.HighestReserved = max(t.HighestReserved, reserved)
	}
	end := len(r.events)
	for _, l := range r.lives {
		if l.endsAt(end) < from || l.from >= from {
			continue
		}
		t.OlderBlocks++
		t.OlderBytes += l.size
		if l.endsAt(end) == end && l.from >= 0 {
			t.Lost++
		}
	}
	r.truthOfPeak(&t, from)
	return t
}

// endsAt returns the event after which an allocation is gone: all of them if it
// is live at the end.
func (l life) endsAt(end int) int {
	if l.to == 0 {
		return end
	}
	return l.to
}

func (r *Run) truthOfEnd(t *Truth) {
	for _, s := range r.segments {
		free, used := int64(0), false
		for _, b := range s.blocks {
			switch b.state {
			case "inactive":
				free += b.size
				t.LargestFree = max(t.LargestFree, b.size)
			case "active_allocated":
				t.Allocated += b.size
				t.Requested += b.requested
				used = true
			default:
				t.Waiting += b.size
				used = true
			}
		}
		t.Reserved += s.size
		if used {
			t.Split += free
		} else {
			t.Cached += free
		}
	}
}

// truthOfPeak asks at every moment of the window every allocation whether it was
// live.
func (r *Run) truthOfPeak(t *Truth, from int) {
	end := len(r.events)
	live := func(at int) (sum int64) {
		for _, l := range r.lives {
			if l.from <= at && l.endsAt(end) > at {
				sum += l.size
			}
		}
		return sum
	}
	t.PeakEntry, t.Peak = -1, live(from-1)
	for at := from; at < end; at++ {
		if n := live(at); n > t.Peak {
			t.Peak, t.PeakEntry = n, int64(at-from)
		}
	}
	t.PeakOwners = map[string]int64{}
	moment := from + int(t.PeakEntry)
	for _, l := range r.lives {
		if l.from > moment || l.endsAt(end) <= moment {
			continue
		}
		name := ""
		// Where the entry that allocated is gone, only what is live at the end tells.
		if l.stack >= 0 && (l.from >= from || l.endsAt(end) == end) {
			name = r.owner(l.stack)
		}
		t.PeakOwners[name] += l.size
	}
}

// owner is the first frame that is not PyTorch's.
func (r *Run) owner(stack int) string {
	for _, f := range r.stacks[stack] {
		if !strings.Contains(f.file, "/torch/") {
			return f.text()
		}
	}
	return ""
}
