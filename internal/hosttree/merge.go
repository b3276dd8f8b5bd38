package hosttree

import (
	"iter"
	"slices"
)

// The number of events in a batch, and the number of batches in flight. The
// events of a thread with fewer than longThread events are merged by the
// caller, because a trace may have a million threads of one event.
const (
	batchSize  = 2048
	ahead      = 4
	longThread = 2 * batchSize
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
	heads [sources]Frame
	live  []int // the lists that have a next event, in the order in which equal events are nested
}

func newCursor(th *Thread) *cursor {
	c := &cursor{th: th}
	for source := range sources {
		if len(th.rows[source]) > 0 {
			c.live = append(c.live, source)
			c.load(source)
		}
	}
	return c
}

// load makes the next event of a list its head, and reports whether there is one.
func (c *cursor) load(source int) bool {
	rows := c.th.rows[source]
	if c.at[source] == len(rows) {
		return false
	}
	c.heads[source] = c.th.frame(source, rows[c.at[source]])
	c.at[source]++
	return true
}

// before reports whether the head of a list comes before that of another. Of several events
// with the same start the longest comes first.
func (c *cursor) before(a, b int) bool {
	x, y := &c.heads[a], &c.heads[b]
	if x.Start != y.Start {
		return x.Start < y.Start
	}
	return x.End > y.End || x.End == y.End && a < b
}

// fill fills a batch with the next events.
func (c *cursor) fill(batch []Frame) []Frame {
	for len(batch) < cap(batch) && len(c.live) > 0 {
		first, second := c.live[0], -1
		for _, source := range c.live[1:] {
			switch {
			case c.before(source, first):
				first, second = source, first
			case second < 0 || c.before(source, second):
				second = source
			}
		}
		for more := true; more && len(batch) < cap(batch) && (second < 0 || c.before(first, second)); {
			batch = append(batch, c.heads[first])
			if more = c.load(first); !more {
				c.live = slices.DeleteFunc(c.live, func(source int) bool { return source == first })
			}
		}
	}
	return batch
}
