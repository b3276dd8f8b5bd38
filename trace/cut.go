package trace

import "math/bits"

// A Keeping says which events of a trace [NewCut] keeps: all that overlap the time from
// Start to before End, and what belongs to them.
type Keeping struct {
	Start, End int64

	// Measured is the window that is measured of the result, if that is not the same. What
	// it needs is kept, too.
	Measured *Window

	Work     Work // of GPUs that is kept
	GPUOnly  bool // nothing of the host is kept
	NoPython bool // no calls of Python functions are kept
}

// A Cut says which events of an input are kept. [Cut.Copy] copies them.
type Cut struct {
	index *Index
	keep  Keeping
	kept  [tables]bitset

	// Window is what is measured of the result.
	Window *Window
}

// NewCut finds the events to keep of a trace, which was read with [Select.Index] and is not
// narrowed.
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

// add keeps what a narrowing wants.
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

// marks keeps the begins and ends of spans, and those without a partner in the window.
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

// mark sets the bits of the rows that are wanted. Rows behind those of the bits are not of
// events.
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

// wants reports whether a segment has anything that is kept. The next one begins with the
// given rows.
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

// keeps reports whether an event is kept that is the row at the given place of its table.
func (c *Cut) keeps(e *Event, r row, at int) bool {
	switch {
	case r < tables:
		return c.kept[r].has(at)
	case r == lastingRow || !e.HasStart():
		return true
	}
	return c.timed(e)
}

// timed reports whether an event without a table is kept. Counters are of the GPU, too.
func (c *Cut) timed(e *Event) bool {
	return (!c.keep.GPUOnly || e.Phase() == 'C') && e.Start() >= c.keep.Start && e.Start() < c.keep.End
}

// after returns the rows before the segment behind segment i.
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
