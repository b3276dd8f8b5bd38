package memory

import (
	"math"

	"assay/internal/diag"
	"assay/summary"
	"assay/torchprof/memory"
)

// A replay replays the history of a device forward. Entries are referred to by index.
type replay struct {
	m        *memory.Snapshot
	d        *memory.Device
	later    int64 // entries that are left out, because they follow the state of the segments
	owners   *owners
	issues   *diag.Ledger
	complete bool
	bins     int

	// pair maps each allocation to the entry that frees it, and each free to the entry that
	// allocated the block; noPair if that is not in the history.
	pair     []int32
	replaced map[int32]int32 // allocations at the address of a block that is still live
	twice    map[int32]bool  // second frees of a block, which have no effect

	older    []olderBlock // blocks that were live before the first entry
	olderSum int64        // their bytes
	reserved int64        // bytes reserved before the first entry

	rounded bool // sizes of the history are rounded to block sizes
	times   []int64
}

const noPair = int32(-1)

// An olderBlock is a block that was live before the history.
type olderBlock struct {
	holding
	address int64
	freed   int32 // the entry that frees it; the number of entries if it is live at the end
}

func (r *replay) measure(row *summary.Snapshot) []summary.MemoryUse {
	entries := r.d.Entries
	if len(entries) == 0 || len(entries) > math.MaxInt32-1 {
		r.atEnd(row)
		return r.endMoment(row)
	}
	h := r.history()
	row.History = h
	r.failures(row, nil)
	if !r.complete {
		r.issues.Add(diag.Issue{Code: "memory-peak-unknown", Severity: diag.DataLoss})
		r.atEnd(row)
		return r.endMoment(row)
	}
	r.match(h)
	h.RetryFrees, h.RetryFreeBytes = r.retries()
	walk := r.walk()
	row.Peak = r.peakOf(walk)
	r.failures(row, walk)
	t := r.liveAt(int32(walk.peak))
	t.write(row, "peak")
	row.Strip = r.strip(walk, t)
	h.Steps = r.steps(walk)
	h.Growth = r.growth(h.Steps)
	return r.moment(row, walk)
}

// atEnd adds the allocation sites of the memory that is live when the snapshot was taken.
func (r *replay) atEnd(row *summary.Snapshot) {
	t := newTally(r.owners, r.m.Labels)
	r.eachAtEnd(t.add)
	if len(t.byOwner) > 0 {
		t.write(row, "end")
	}
}

func (r *replay) eachAtEnd(f func(holding)) {
	for _, b := range r.d.Blocks {
		if b.State != memory.Inactive {
			f(holding{bytes: b.Size, time: memory.None, stack: b.Stack})
		}
	}
}

// history counts the entries by kind.
func (r *replay) history() *summary.MemoryHistory {
	h := &summary.MemoryHistory{Entries: int64(len(r.d.Entries))}
	known, last := true, int64(0)
	r.times = make([]int64, len(r.d.Entries))
	for i := range r.d.Entries {
		e := &r.d.Entries[i]
		switch e.Action {
		case memory.Alloc:
			h.Allocs++
			h.AllocBytes = summary.Plus(h.AllocBytes, e.Size)
		case memory.FreeCompleted:
			h.Frees++
		case memory.SegmentAlloc, memory.SegmentMap:
			h.SegmentAllocs++
			h.SegmentAllocBytes = summary.Plus(h.SegmentAllocBytes, e.Size)
		case memory.SegmentFree, memory.SegmentUnmap:
			h.SegmentFrees++
			h.SegmentFreeBytes = summary.Plus(h.SegmentFreeBytes, e.Size)
		}
		known = known && e.Time >= 0
		if e.Time < last && e.Time >= 0 {
			r.issues.Add(diag.Issue{Code: "time-backwards", Severity: diag.Info})
		}
		last = max(last, e.Time)
		r.times[i] = last
	}
	if known {
		h.StartNS, h.EndNS = new(r.times[0]), new(last)
	} else {
		r.times = nil
		r.issues.Add(diag.Issue{Code: "memory-times-missing", Severity: diag.Info})
	}
	if r.later > 0 {
		r.issues.AddN(diag.Issue{Code: "memory-entries-later", Severity: diag.Info}, r.later)
	}
	return h
}

// match pairs allocations with frees by address, and finds the blocks that were live before the first
// entry.
func (r *replay) match(h *summary.MemoryHistory) {
	entries := r.d.Entries
	r.pair = make([]int32, len(entries))
	open := make(map[int64]int32)
	var known knownSegments
	for i := range entries {
		e := &entries[i]
		r.pair[i] = noPair
		known.see(e)
		switch e.Action {
		case memory.Alloc:
			if before, ok := open[e.Address]; ok {
				r.replace(int32(i), before)
			}
			open[e.Address] = int32(i)
		case memory.FreeCompleted:
			if at, ok := open[e.Address]; ok {
				r.pair[i], r.pair[at] = at, int32(i)
				delete(open, e.Address)
				known.completed(e)
			} else {
				r.unmatched(int32(i), &known)
			}
		}
	}
	r.matchEnd(h, open)
	h.OlderBlocks, h.OlderBytes = int64(len(r.older)), r.olderSum
	for i := range entries {
		r.reserved = summary.Plus(r.reserved, -entries[i].Reserves())
	}
	for _, s := range r.d.Segments {
		r.reserved = summary.Plus(r.reserved, s.Size)
	}
	if r.reserved < 0 {
		r.inconsistent(1)
	}
}

// unmatched processes a free without an allocation in the history: of an older block, or invalid.
func (r *replay) unmatched(i int32, known *knownSegments) {
	e := &r.d.Entries[i]
	twice, younger := known.free(e)
	if twice || younger {
		r.issues.Add(diag.Issue{Code: "memory-frees-unmatched", Severity: diag.Suspect})
	}
	if twice {
		if r.twice == nil {
			r.twice = make(map[int32]bool)
		}
		r.twice[i] = true
		return
	}
	r.addOlder(olderBlock{holding{bytes: e.Size, time: memory.None}, e.Address, i})
}

func (r *replay) addOlder(b olderBlock) {
	r.older = append(r.older, b)
	r.olderSum = summary.Plus(r.olderSum, b.bytes)
}

// replace ends the allocation before, because entry i allocates the same address again.
func (r *replay) replace(i, before int32) {
	if r.replaced == nil {
		r.replaced = make(map[int32]int32)
	}
	r.replaced[i], r.pair[before] = before, i
	r.inconsistent(1)
}

func (r *replay) inconsistent(n int64) {
	r.issues.AddN(diag.Issue{Code: "memory-history-inconsistent", Severity: diag.Suspect}, n)
}

// matchEnd compares the blocks that the history leaves live with those of the snapshot. A block that
// is not in the history is older. If it has a stack, its entry was recorded and then lost.
func (r *replay) matchEnd(h *summary.MemoryHistory, open map[int64]int32) {
	pendingFrees, rounded, found := 0, 0, 0
	for _, b := range r.d.Blocks {
		if b.State == memory.Inactive {
			continue
		}
		at, ok := open[b.Address]
		if ok {
			found++
			switch size := r.d.Entries[at].Size; {
			case b.Requested >= 0 && b.Requested != b.Size && size == b.Requested:
				pendingFrees++
			case b.Requested >= 0 && b.Requested != b.Size && size == b.Size:
				rounded++
			}
			continue
		}
		size := b.Size
		if b.Requested > 0 {
			size = b.Requested
		}
		r.addOlder(olderBlock{holding{bytes: size, time: memory.None, stack: b.Stack}, b.Address, int32(len(r.d.Entries))})
		if b.Stack != 0 {
			h.LostBlocks++
		}
	}
	r.rounded = rounded > pendingFrees
	if over := len(open) - found; over > 0 {
		r.inconsistent(int64(over))
	}
	if h.LostBlocks > 0 {
		r.issues.AddN(diag.Issue{Code: "memory-history-truncated", Severity: diag.DataLoss}, h.LostBlocks)
	}
}

// A walked has the memory in use over the history, in bytes.
type walked struct {
	peak              int     // entry after which the most was live; -1 for before the first
	live, waiting     int64   // at the peak
	reserved          int64   // at the peak
	highest           int64   // highest reserved memory
	highestAt         int     // its entry
	failures          []state // at each failed allocation
	liveAt, reservedA []int64 // after each entry
}

// A state is the memory in use at an entry, in bytes.
type state struct{ entry, live, reserved int64 }

// change returns the change of the live bytes by entry i.
func (r *replay) change(i int) int64 {
	e := &r.d.Entries[i]
	switch e.Action {
	case memory.Alloc:
		n := e.Size
		if before, ok := r.replaced[int32(i)]; ok {
			n -= r.d.Entries[before].Size
		}
		return n
	case memory.FreeCompleted:
		if at := r.pair[i]; at != noPair {
			return -r.d.Entries[at].Size
		}
		if r.twice[int32(i)] {
			return 0
		}
		return -e.Size
	}
	return 0
}

func (r *replay) walk() *walked {
	n := len(r.d.Entries)
	w := &walked{peak: -1, live: r.olderSum, reserved: r.reserved, highest: r.reserved, highestAt: -1,
		liveAt: make([]int64, n), reservedA: make([]int64, n)}
	live, reserved, waiting := r.olderSum, r.reserved, int64(0)
	pendingFrees := make(map[int64]int64) // bytes of blocks whose free was requested and not completed, by address
	for i := range r.d.Entries {
		e := &r.d.Entries[i]
		live = summary.Plus(live, r.change(i))
		reserved = summary.Plus(reserved, e.Reserves())
		switch e.Action {
		case memory.FreeRequested:
			pendingFrees[e.Address] = e.Size
			waiting = summary.Plus(waiting, e.Size)
		case memory.FreeCompleted:
			waiting = summary.Plus(waiting, -pendingFrees[e.Address])
			delete(pendingFrees, e.Address)
		case memory.OutOfMemory:
			w.failures = append(w.failures, state{int64(i), live, reserved})
		}
		w.liveAt[i], w.reservedA[i] = live, reserved
		if live > w.live {
			w.peak, w.live, w.waiting, w.reserved = i, live, waiting, reserved
		}
		if reserved > w.highest {
			w.highest, w.highestAt = reserved, i
		}
	}
	return w
}

func (r *replay) peakOf(w *walked) *summary.MemoryPeak {
	p := &summary.MemoryPeak{Entry: int64(w.peak), Live: w.live, Waiting: w.waiting, Reserved: w.reserved,
		Sizes: "requested", HighestReserved: w.highest}
	if r.rounded {
		p.Sizes = "rounded"
	}
	p.NS, p.HighestReservedNS = r.timeOf(w.peak), r.timeOf(w.highestAt)
	return p
}

// timeOf returns the time of an entry, or of the first entry for -1.
func (r *replay) timeOf(entry int) *int64 {
	if r.times == nil {
		return nil
	}
	return new(r.times[max(0, entry)])
}

// liveAt sums the blocks that were live after an entry.
func (r *replay) liveAt(entry int32) *tally {
	t := newTally(r.owners, r.m.Labels)
	r.eachLive(entry, t.add)
	return t
}

func (r *replay) eachLive(entry int32, f func(holding)) {
	for _, b := range r.older {
		if b.freed > entry {
			f(b.holding)
		}
	}
	for i := int32(0); i <= entry; i++ {
		if e := &r.d.Entries[i]; e.Action == memory.Alloc && (r.pair[i] == noPair || r.pair[i] > entry) {
			f(holding{bytes: e.Size, time: e.Time, stack: e.Stack, label: e.Label})
		}
	}
}

// failures adds the allocations that failed. Without w, the memory in use at that time is unknown.
func (r *replay) failures(row *summary.Snapshot, w *walked) {
	row.OutOfMemory, row.Failed, row.Capacity = nil, 0, nil
	for i := range r.d.Entries {
		e := &r.d.Entries[i]
		if e.Action != memory.OutOfMemory {
			continue
		}
		at := state{live: memory.None, reserved: memory.None}
		if w != nil {
			at = w.failures[row.Failed]
		}
		if at.reserved >= 0 && e.Address >= 0 {
			row.Capacity = new(summary.Plus(at.reserved, e.Address))
		}
		if row.Failed++; row.Failed <= summary.MaxOwners {
			row.OutOfMemory = append(row.OutOfMemory, r.failure(i, at))
		}
	}
}

func (r *replay) failure(i int, at state) summary.OutOfMemory {
	e := &r.d.Entries[i]
	key := r.owners.list[r.owners.owner(e.Stack)]
	o := summary.OutOfMemory{NS: r.timeOf(i), Wanted: e.Size, Kind: key.kind, Frame: key.frame,
		Stack: r.owners.stackText(e.Stack)}
	if e.Address >= 0 {
		o.Free = new(e.Address)
	}
	if at.reserved >= 0 {
		o.Live, o.Reserved = new(at.live), new(at.reserved)
	}
	return o
}
