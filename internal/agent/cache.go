package agent

import (
	"container/list"
	"context"
	"sync"
)

// A cache keeps results by key within a number of bytes; those that were not used for longest go first. Of several
// callers that want one result at the same time, one makes it.
type cache[T any] struct {
	most int64 // bytes

	mu    sync.Mutex
	bytes int64
	byKey map[string]*list.Element // of *entry[T]
	order list.List                // the last used first
	busy  map[string]*making[T]
}

type entry[T any] struct {
	key   string
	value T
	bytes int64
}

// A making is a result that somebody makes now.
type making[T any] struct {
	done  chan struct{}
	value T
	err   error
}

// get returns the result of a key. If there is none, it calls produce, which returns its size in bytes too; a size below
// zero says that it must not be kept.
func (c *cache[T]) get(ctx context.Context, key string, produce func() (T, int64, error)) (value T, err error) {
	c.mu.Lock()
	if c.byKey == nil {
		c.byKey, c.busy = map[string]*list.Element{}, map[string]*making[T]{}
	}
	if at, ok := c.byKey[key]; ok {
		c.order.MoveToFront(at)
		c.mu.Unlock()
		return at.Value.(*entry[T]).value, nil
	}
	if m, ok := c.busy[key]; ok {
		c.mu.Unlock()
		select {
		case <-m.done:
			if m.err == nil || ctx.Err() != nil {
				return m.value, m.err
			}
			return c.get(ctx, key, produce) // the other caller gave up
		case <-ctx.Done():
			return value, ctx.Err()
		}
	}
	m := &making[T]{done: make(chan struct{})}
	c.busy[key] = m
	c.mu.Unlock()
	var bytes int64
	m.value, bytes, m.err = produce()
	c.mu.Lock()
	delete(c.busy, key)
	if m.err == nil && bytes >= 0 {
		c.keep(&entry[T]{key, m.value, bytes})
	}
	c.mu.Unlock()
	close(m.done)
	return m.value, m.err
}

// keep adds an entry and drops old ones. An entry that alone is over the limit is not kept.
func (c *cache[T]) keep(e *entry[T]) {
	if e.bytes > c.most {
		return
	}
	c.byKey[e.key] = c.order.PushFront(e)
	for c.bytes += e.bytes; c.bytes > c.most; {
		old := c.order.Remove(c.order.Back()).(*entry[T])
		delete(c.byKey, old.key)
		c.bytes -= old.bytes
	}
}
