package trace

import "math/bits"

// A Keeping selects the events of a trace that [NewCut] keeps: all events that overlap the
// time from Start to before End (ns on the clock of the trace), and the events linked to them.
type Keeping struct {
	Start, End int64

	// Measured is the window in which the result will be measured; nil if it is the same.
	// The events that its measurement needs are kept, too.
	Measured *Window

	Work     Work // the GPUs and streams whose work is kept
	GPUOnly  bool // drop all host events
	NoPython bool // drop calls of Python functions
}

// A Cut is the set of events of an input that are kept. [Cut.Copy] copies them.
type Cut struct {
	index *Index
	keep  Keeping
	kept  [tables]bitset

	// Window is the part of the result that is measured.
	Window *Window
}

// NewCut finds the events of t to keep. The trace must have been read with [Select.Index]
// and must not be the result of [Trace.Within] or [Trace.Only].
func NewCut(t *Trace, keep Keeping) *Cut {
	c := &Cut{index: t.index, keep: keep}
	for i := range c.kept {
		c.kept[i] = newBitset(c.index.rows[i])
	}
	of := t.Only(keep.Work)
	n := narrowingTo(of, keep.Start, keep.End)
	c.add(t, n)
	if c.Window = n.w; keep.Measured != nil {
		inner := narrowingTo(of, keep.Measured.Start, keep.Measured.End)
		c.add(t, inner)
		c.Window = inner.w
	}
	c.keep.Start, c.keep.End = n.w.Start, n.w.End
	return c
}

// add marks the rows that a narrowing selects.
func (c *Cut) add(t *Trace, n *narrowing) {
	of := t.choiceOf(c.keep.Work)
	mark(&c.kept[activityRow], &t.Activities, func(a *Activity) bool { return of.activity(a) && n.activity(a) })
	mark(&c.kept[spanRow], &t.Spans, func(s *HostSpan) bool {
		return of.on(s.Track) && n.span(s) && (!c.keep.GPUOnly || t.Tracks[s.Track].OnDevice)
	})
	if c.keep.GPUOnly {
		return
	}
	mark(&c.kept[callRow], &t.Calls, func(k *Call) bool { return of.call(k) && n.call(k) })
	mark(&c.kept[opRow], &t.Ops, n.op)
	mark(&c.kept[flowRow], &t.Flows, func(f *FlowEnd) bool { return of.flow(f) && n.flow(f) })
	mark(&c.kept[memoryRow], &t.Memory, n.memory)
	if !c.keep.NoPython {
		mark(&c.kept[pythonRow], &t.Python, n.python)
	}
	c.marks(t, n)
}

// marks keeps the begins and ends of kept spans, and marks in the window that have no partner.
func (c *Cut) marks(t *Trace, n *narrowing) {
	paired := newBitset(t.marks.Len())
	i, own := 0, c.index.rows[spanRow]
	see := func(s *HostSpan, wanted bool) {
		for _, at := range t.pairs[i] {
			paired.set(int(at))
			if wanted {
				c.kept[markRow].set(int(at))
			}
		}
		i++
	}
	k := 0
	for s := range t.Spans.All() {
		if k++; k > own {
			see(s, n.span(s))
		}
	}
	for j := range t.Async {
		see(&t.Async[j], n.w.Overlaps(t.Async[j].Start, t.Async[j].Dur))
	}
	k = 0
	for m := range t.marks.All() {
		if !paired.has(k) && n.w.Starts(m.Start) {
			c.kept[markRow].set(k)
		}
		k++
	}
}

// mark sets the bits of the wanted rows. The table may have more rows than b has bits: spans
// that were made of two marks come after all rows that were made of one event.
func mark[T any](b *bitset, t *Table[T], wanted func(*T) bool) {
	i := 0
	for row := range t.All() {
		if i >= b.n {
			return
		}
		if wanted(row) {
			b.set(i)
		}
		i++
	}
}

// wants reports whether any event of a segment is kept. The argument next is the number of
// rows before the segment that follows.
func (c *Cut) wants(s *segment, next *tally) bool {
	if s.others.lasting || s.others.timed && s.others.first < c.keep.End && s.others.last >= c.keep.Start {
		return true
	}
	for r := range c.kept {
		if c.kept[r].any(s.rows[r], next[r]) {
			return true
		}
	}
	return false
}

// keeps reports whether an event is kept. It is row number at in the table of kind r.
func (c *Cut) keeps(e *Event, r row, at int) bool {
	switch {
	case r < tables:
		return c.kept[r].has(at)
	case r == lastingRow || !e.HasStart():
		return true
	}
	return c.timed(e)
}

// timed reports whether an event that is in no table is kept. With GPUOnly, counters are
// kept, because they measure the GPU.
func (c *Cut) timed(e *Event) bool {
	return (!c.keep.GPUOnly || e.Phase() == 'C') && e.Start() >= c.keep.Start && e.Start() < c.keep.End
}

// after returns the number of rows up to the end of segment i.
func (x *Index) after(i int) *tally {
	if i+1 < len(x.segments) {
		return &x.segments[i+1].rows
	}
	return &x.rows
}

// A bitset is a set of numbers below n.
type bitset struct {
	words []uint64
	n     int
}

func newBitset(n int) bitset { return bitset{make([]uint64, (n+63)/64), n} }

func (b *bitset) set(i int) { b.words[i/64] |= 1 << (i % 64) }

func (b *bitset) has(i int) bool { return i < b.n && b.words[i/64]&(1<<(i%64)) != 0 }

// any reports whether a number from a to before b is in the set.
func (b *bitset) any(from, to int) bool {
	for from < to {
		if from%64 == 0 && to-from >= 64 {
			if b.words[from/64] != 0 {
				return true
			}
			from += 64
			continue
		}
		w := b.words[from/64] >> (from % 64)
		n := min(64-from%64, to-from)
		if bits.TrailingZeros64(w) < n {
			return true
		}
		from += n
	}
	return false
}
