package hosttree

import (
	"iter"

	"assay/trace"
)

// The number of events in a batch, and the number of batches in flight. The
// events of a thread with fewer than longThread events are merged by the
// caller, because a trace may have a million threads of one event.
const (
	batchSize  = 512
	ahead      = 4
	longThread = 8 * batchSize
)

// frames returns the events of the thread in the order of their starts, in
// batches. A batch is valid until the next one is requested. The events of a
// long thread are merged on another core.
func (th *Thread) frames() iter.Seq[[]Frame] {
	if th.Len() < longThread {
		return func(yield func([]Frame) bool) { yield(newCursor(th).fill(make([]Frame, 0, th.Len()))) }
	}
	return func(yield func([]Frame) bool) {
		full, free := make(chan []Frame, ahead), make(chan []Frame, ahead+2)
		for range cap(free) {
			free <- make([]Frame, 0, batchSize)
		}
		go newCursor(th).fillAll(full, free)
		for batch := range full {
			if !yield(batch) {
				break
			}
			free <- batch
		}
		close(free)
		for range full { // batches that were filled and are not wanted
		}
	}
}

// fillAll fills batches until there are no more events, or no more batches.
func (c *cursor) fillAll(full chan<- []Frame, free <-chan []Frame) {
	defer close(full)
	for batch := range free {
		if batch = c.fill(batch[:0]); len(batch) == 0 {
			return
		}
		full <- batch
	}
}

// A cursor merges a thread's lists.
type cursor struct {
	th    *Thread
	at    [sources]int // the number of loaded events of each list
	heads [sources]head
}

// A head is the next event of a list.
type head struct {
	start, end int64
	ref        trace.Ref
	ok         bool // whether there is one
}

func newCursor(th *Thread) *cursor {
	c := &cursor{th: th}
	for source := range sources {
		c.load(source)
	}
	return c
}

func (c *cursor) load(source int) {
	rows, h := c.th.rows[source], &c.heads[source]
	if h.ok = c.at[source] < len(rows); h.ok {
		h.ref = rows[c.at[source]]
		c.at[source]++
		t := c.th.times(source, h.ref)
		h.start, h.end = t.start, t.start+t.dur
	}
}

// fill fills a batch with the next events. Of several events with the same
// start the longest comes first.
func (c *cursor) fill(batch []Frame) []Frame {
	for len(batch) < cap(batch) {
		best := -1
		for i := range c.heads {
			if h := &c.heads[i]; h.ok && (best < 0 || h.start < c.heads[best].start || h.start == c.heads[best].start && h.end > c.heads[best].end) {
				best = i
			}
		}
		if best < 0 {
			break
		}
		batch = append(batch, c.th.frame(best, c.heads[best].ref))
		c.load(best)
	}
	return batch
}
