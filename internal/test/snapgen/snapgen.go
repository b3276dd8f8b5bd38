// Package snapgen makes memory snapshots whose truth is known. It plays a small
// caching allocator and a training run on it, records all events, and computes
// the truth from them by brute force. The readers and analyses of this module
// are checked against it.
//
// Equal options give equal bytes.
package snapgen

import (
	"math/rand/v2"
	"slices"
)

// Options define the program. The zero value of a field disables its feature.
type Options struct {
	Seed   uint64
	Steps  int
	Layers int
	Depth  int // frames that every stack has in addition to its own

	MaxEntries int  // of the ring buffer; 0 for no limit
	RecordLate bool // the history begins after the model was built
	EmptyCache bool // the cache is emptied after every step
	Scatter    bool // small allocations that stay are placed between large ones that are freed
	Exhaust    bool // the last allocation fails
	Streams    bool // some frees wait for a stream
	Bare       bool // nothing is recorded
	Expandable bool // segments are expandable
	Base       int64
}

const (
	mib = 1 << 20

	startTime = 1_760_000_000_000_000 // µs
	wanted    = 300 * mib             // size of the allocation that fails, in bytes
	left      = 256 * mib             // free memory of the driver when an allocation fails, in bytes
)

// A block is a part of a segment.
type block struct {
	addr, size int64
	requested  int64
	state      string
	stack      int // index into the stacks; -1 if it was not recorded
}

type segment struct {
	addr, size int64
	small      bool
	stack      int
	blocks     []block
}

// An event is one entry of the history.
type event struct {
	action     string
	addr, size int64
	us         int64
	stack      int
	free       int64 // of an oom
}

// A life is an allocation, as the indexes of the events that begin and end it.
// An allocation from before the recording begins at -1; one that is still
// allocated at the end ends at the number of events.
type life struct {
	from, to int
	size     int64
	stack    int
}

// A Run is a played program.
type Run struct {
	opt      Options
	rnd      *rand.Rand
	segments []*segment
	events   []event
	lives    []life
	lifeOf   map[int64]int // by address
	stacks   [][]frame
	index    map[string]int
	marks    []mark
	next     int64 // address of the next segment
	us       int64
	recorded bool
}

type frame struct {
	file, function string
	line           int
}

type mark struct {
	stage, name string
	us          int64
}

// Play runs the program that the options describe.
func Play(opt Options) *Run {
	r := &Run{opt: opt, rnd: rand.New(rand.NewPCG(opt.Seed, 1)), lifeOf: map[int64]int{}, index: map[string]int{},
		next: 0x7f00_0000_0000, us: startTime + opt.Base, recorded: !opt.RecordLate && !opt.Bare}
	r.train()
	if !opt.Bare {
		r.record(event{action: "snapshot"})
	}
	return r
}

func (r *Run) record(e event) {
	r.us += 1 + r.rnd.Int64N(20)
	e.us = r.us
	r.events = append(r.events, e)
}

// malloc allocates memory and returns its address.
func (r *Run) malloc(size int64, stack int) int64 {
	rounded := (size + 511) / 512 * 512
	small := rounded <= mib
	s, i := r.fit(rounded, small)
	if s == nil {
		s, i = r.grow(rounded, small, stack), 0
	}
	b := s.blocks[i]
	if rest := b.size - rounded; small && rest >= 512 || !small && rest > mib {
		s.blocks = slices.Insert(s.blocks, i+1, block{addr: b.addr + rounded, size: rest, state: "inactive", stack: -1})
		b.size = rounded
	}
	b.requested, b.state, b.stack = size, "active_allocated", -1
	from := -1
	if r.recorded {
		b.stack = stack
		r.record(event{action: "alloc", addr: b.addr, size: size, stack: stack})
		from = len(r.events) - 1
	}
	s.blocks[i] = b
	r.lifeOf[b.addr] = len(r.lives)
	r.lives = append(r.lives, life{from: from, size: size, stack: b.stack})
	return b.addr
}

// fit returns the smallest free block that is large enough.
func (r *Run) fit(size int64, small bool) (best *segment, at int) {
	least := int64(1 << 62)
	for _, s := range r.segments {
		if s.small != small {
			continue
		}
		for i, b := range s.blocks {
			if b.state == "inactive" && b.size >= size && b.size < least {
				best, at, least = s, i, b.size
			}
		}
	}
	return best, at
}

func (r *Run) grow(size int64, small bool, stack int) *segment {
	total := int64(2 * mib)
	switch {
	case small:
	case size < 10*mib:
		total = 20 * mib
	default:
		total = (size + 2*mib - 1) / (2 * mib) * (2 * mib)
	}
	s := &segment{addr: r.next, size: total, small: small, stack: -1}
	r.next += total + 2*mib
	s.blocks = []block{{addr: s.addr, size: total, state: "inactive", stack: -1}}
	r.segments = append(r.segments, s)
	if r.recorded {
		s.stack = stack
		action := "segment_alloc"
		if r.opt.Expandable {
			action = "segment_map"
		}
		r.record(event{action: action, addr: s.addr, size: total, stack: stack})
	}
	return s
}

// free frees a block. Its life ends when the free is completed; wait delays
// that.
func (r *Run) free(addr int64, stack int, wait bool) {
	s, i := r.find(addr)
	b := &s.blocks[i]
	if r.recorded {
		r.record(event{action: "free_requested", addr: addr, size: b.requested, stack: stack})
	}
	if wait {
		b.state = "active_pending_free"
		return
	}
	r.complete(addr, stack)
}

func (r *Run) complete(addr int64, stack int) {
	s, i := r.find(addr)
	b := &s.blocks[i]
	if r.recorded {
		r.record(event{action: "free_completed", addr: addr, size: b.requested, stack: stack})
	}
	l := &r.lives[r.lifeOf[addr]]
	l.to = max(0, len(r.events)-1)
	if !r.recorded {
		l.to = -1 // before any recorded event
	}
	delete(r.lifeOf, addr)
	*b = block{addr: b.addr, size: b.size, state: "inactive", stack: -1}
	if i+1 < len(s.blocks) && s.blocks[i+1].state == "inactive" {
		s.blocks[i].size += s.blocks[i+1].size
		s.blocks = slices.Delete(s.blocks, i+1, i+2)
	}
	if i > 0 && s.blocks[i-1].state == "inactive" {
		s.blocks[i-1].size += s.blocks[i].size
		s.blocks = slices.Delete(s.blocks, i, i+1)
	}
}

func (r *Run) find(addr int64) (*segment, int) {
	for _, s := range r.segments {
		if addr >= s.addr && addr < s.addr+s.size {
			return s, slices.IndexFunc(s.blocks, func(b block) bool { return b.addr == addr })
		}
	}
	panic("snapgen: an address that was never allocated")
}

// emptyCache releases the segments without allocations.
func (r *Run) emptyCache(stack int) {
	r.segments = slices.DeleteFunc(r.segments, func(s *segment) bool {
		if len(s.blocks) != 1 || s.blocks[0].state != "inactive" {
			return false
		}
		if r.recorded {
			r.record(event{action: "segment_free", addr: s.addr, size: s.size, stack: stack})
		}
		return true
	})
}
