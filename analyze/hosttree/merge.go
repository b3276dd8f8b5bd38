package hosttree

import (
	"iter"
	"math"
	"slices"
)

// The number of events in a batch, the number of batches in flight, and the number of events from
// which a thread is merged on another core. A trace may have a million threads of one event, for
// which a goroutine each would be slow.
const (
	batchSize  = 2048
	ahead      = 4
	longThread = 2 * batchSize
)

// frames returns the events of the thread by start, in batches. A batch is valid until the next
// one is requested. The events of a long thread are merged on another core.
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
		for range full { // drain, so that the goroutine ends
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
	at    [sources]int  // index of the next event of each list
	heads [sources]head // times of the next events
	live  []int         // lists with a next event; of equal events, those of earlier lists are outer
}

// A head is the start and the end of the next event of a list.
type head struct{ start, end int64 }

func newCursor(th *Thread) *cursor {
	c := &cursor{th: th}
	for source := range sources {
		if len(th.rows[source]) > 0 {
			c.live = append(c.live, source)
			c.look(source)
		}
	}
	return c
}

// look sets the head of a list and reports whether there is a next event.
func (c *cursor) look(source int) bool {
	rows := c.th.rows[source]
	if c.at[source] == len(rows) {
		return false
	}
	t := c.th.times(source, rows[c.at[source]])
	c.heads[source] = head{t.start, t.start + t.dur}
	return true
}

// before reports whether x, of list a, comes before y, of list b. Of events with the same start the
// longest comes first.
func (x head) before(y head, a, b int) bool {
	if x.start != y.start {
		return x.start < y.start
	}
	return x.end > y.end || x.end == y.end && a < b
}

// fill fills a batch with the next events.
func (c *cursor) fill(batch []Frame) []Frame {
	for len(batch) < cap(batch) && len(c.live) > 0 {
		first, second := c.live[0], -1
		for _, source := range c.live[1:] {
			switch {
			case c.heads[source].before(c.heads[first], source, first):
				first, second = source, first
			case second < 0 || c.heads[source].before(c.heads[second], source, second):
				second = source
			}
		}
		batch = c.run(batch, first, second)
		if !c.look(first) {
			c.live = slices.DeleteFunc(c.live, func(source int) bool { return source == first })
		}
	}
	return batch
}

// run appends events of list first until the next event of list second comes before; second may be
// -1 for no other list.
func (c *cursor) run(batch []Frame, first, second int) []Frame {
	until := head{math.MaxInt64, math.MinInt64}
	if second >= 0 {
		until = c.heads[second]
	}
	rows, n := c.th.rows[first][c.at[first]:], len(batch)
	batch = batch[:min(cap(batch), n+len(rows))]
	taken := 0
	for _, r := range rows[:len(batch)-n] {
		f := &batch[n+taken]
		c.th.frame(f, first, r)
		if taken > 0 && !(head{f.Start, f.End}).before(until, first, second) {
			break
		}
		taken++
	}
	c.at[first] += taken
	return batch[:n+taken]
}
