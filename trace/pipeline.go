package trace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"

	"assay/internal/diag"
	"assay/internal/eventscan"
)

// chunkSize is the number of bytes of events that are parsed at once: large
// enough to make the handover cheap, small enough for a core's cache.
const chunkSize = 1 << 20

// A pipeline parses the events of an array on several cores.
//
//	input ─► cut into chunks ─► parse (workers) ─► commit in order ─► merger
//
// One goroutine reads, cuts and commits. It cuts before an opening brace that
// looks like an event's start, without checking the bytes before it, so a cut
// is a guess. The worker that parses the chunk before the cut verifies it: the
// chunk's last event must end exactly there. By induction from the array's
// start every committed chunk begins at an event.
//
// If a worker finds anything but a valid event, or a cut is wrong, the chunks
// after it are discarded, and the Reader, which handles such input, continues
// from there.
type pipeline struct {
	chunk   int
	workers []*worker
}

// A chunk is a part of the event array.
type chunk struct {
	buf         []byte
	start, stop int   // the events are buf[start:stop]; the bytes after stop belong to the next chunk
	offset      int64 // of buf[0] in the input

	// The worker's results, valid once done is closed.
	done   chan struct{}
	end    int // where the worker stopped; equal to stop if it read everything
	part   part
	by     int   // the index of its worker
	held   int64 // bytes: see Builder.numberingBytes of its worker
	events int64
	faults []chunkFault
}

// A chunkFault is an unusable event.
type chunkFault struct {
	*fault
	index int64 // of the event, counted from the chunk's first
	at    int   // index of the event in buf
	count int64
}

// A worker parses chunks. Its memo and builder are used for all of them.
type worker struct {
	id    int
	memo  eventscan.Memo
	b     *Builder
	ev    Event
	plans []plan // indexed by the Class of an event
}

// A plan is how a worker handles events of one phase and category if their times are usable.
type plan uint8

const (
	noPlan   plan = iota // not decided yet, or each event needs a check of its own
	ignore               // drop them: their kind is not selected
	arrow                // ends of arrows: drop them unless they are needed
	complete             // complete + k: add a row of kind k
)

// planOf returns the plan for events like e, whose phase and category are known.
func planOf(e *Event, sel *Select) plan {
	switch {
	case e.Phase() == 0, e.Phase() == 'M': // no phase: counted as unusable; M: names tracks
		return noPlan
	case !sel.Kinds.Has(e.kind()):
		return ignore
	case e.Phase() == 'X':
		return complete + plan(e.kind())
	case sel.FlowsIfNeeded && isArrow(e.Phase()):
		return arrow
	}
	return noPlan
}

func newPipeline(workers, chunk int) *pipeline {
	return &pipeline{chunk: chunk, workers: make([]*worker, workers)}
}

// run parses events from the position of rd and commits them to m. It leaves rd
// at the first position that it cannot handle: the end of the array or of the
// input, or input that only rd can read.
func (p *pipeline) run(rd *Reader, m *merger) {
	work := make(chan *chunk, len(p.workers))
	defer close(work)
	for i := range p.workers {
		if p.workers[i] == nil {
			p.workers[i] = &worker{id: i, b: NewBuilder(rd.sel), memo: eventscan.Memo{Wants: rd.sel.fields}}
		}
		go p.workers[i].run(work, rd.sel)
	}
	c := &cutter{src: rd.s.Rest(), offset: rd.s.Offset(), size: p.chunk, most: rd.sel.Limits.Event}
	f := &flight{work: work, c: c, load: newLoad(m, len(p.workers))}
	for f.stopped == nil && rd.state != atEnd {
		next := c.next()
		if next == nil {
			f.land(0)
			break
		}
		f.start(next)
		for f.load.unread > f.load.most() && len(f.queue) > 1 {
			f.land(len(f.queue) - 1)
		}
		f.land(2 * len(p.workers))
		if f.load.tooMuch() {
			if f.land(0); f.stopped == nil {
				p.merge(f, rd, m)
			}
		}
	}
	for _, ahead := range f.queue {
		<-ahead.done
	}
	p.merge(f, rd, m)
	rd.s.Restart(c.leftover(f.stopped, f.queue))
	c.release()
}

// merge commits the finished chunks. The workers must be idle, because merge
// reads their builders.
func (p *pipeline) merge(f *flight, rd *Reader, m *merger) {
	for _, done := range f.ready {
		m.add(done.part)
		done.commit(rd)
		if m.enforce(rd, done.offset+int64(done.end)); rd.state == atEnd {
			break
		}
	}
	for _, w := range p.workers {
		if w.b.numberingBytes() > m.share()/int64(len(p.workers)) {
			m.retire(&w.b)
		}
	}
	f.ready, f.load = nil, newLoad(m, len(p.workers))
}

// A flight is the state of one run of the pipeline.
type flight struct {
	work    chan<- *chunk
	c       *cutter
	queue   []*chunk // handed out and not finished, in order
	ready   []*chunk // finished and not merged, in order
	stopped *chunk   // the chunk that was not read to its end
	load    load
}

func (f *flight) start(next *chunk) {
	f.work <- next
	f.queue = append(f.queue, next)
	f.load.unread += int64(len(next.buf))
}

// land waits for chunks until at most the given number is in progress.
func (f *flight) land(most int) {
	for f.stopped == nil && len(f.queue) > most {
		head := f.queue[0]
		f.queue = f.queue[1:]
		<-head.done
		f.load.done(head)
		f.ready = append(f.ready, head)
		if head.end != head.stop {
			f.stopped = head
		} else {
			f.c.reuse(head)
		}
	}
}

// A load is the memory use of one run of the pipeline.
type load struct {
	limits Limits
	merged int64
	unread int64   // bytes of chunks that are handed out
	parts  int64   // charged for parts that are not merged
	held   []int64 // bytes, for each worker: see Builder.numberingBytes
}

func newLoad(m *merger, workers int) load {
	return load{limits: m.limits, merged: m.charge(), held: make([]int64, workers)}
}

func (l *load) done(c *chunk) {
	l.unread -= int64(len(c.buf))
	l.parts += c.part.charge()
	l.held[c.by] = c.held
}

// tooMuch reports whether the finished chunks must be merged, so that the data
// of the workers' builders can be freed and the limit enforced. It is true only
// after the trace has doubled, because then the merging costs no extra time. The
// moment of merging does not affect the trace, because the limit is checked
// after each chunk.
func (l *load) tooMuch() bool {
	held := int64(0)
	for _, h := range l.held {
		held += h
	}
	return held > l.limits.Memory/8 || l.parts > max(l.merged, l.limits.Memory/16) || l.merged+l.parts > l.limits.Memory
}

// most returns the maximum number of bytes of chunks in progress.
func (l *load) most() int64 { return l.limits.Memory / 16 }

// smallRest is the number of bytes below which the rest of a chunk is copied, so that its
// buffer can be used again. Mostly the rest is the closing bracket of the events.
const smallRest = 16 << 10

// leftover returns the input that was not committed, and its offset.
func (c *cutter) leftover(stopped *chunk, ahead []*chunk) (io.Reader, int64) {
	if stopped == nil {
		return io.MultiReader(bytes.NewReader(c.carry), c.src), c.offset
	}
	rest := stopped.buf[stopped.end:stopped.stop]
	if len(rest) < smallRest {
		rest = bytes.Clone(rest)
		c.reuse(stopped)
	}
	parts := []io.Reader{bytes.NewReader(rest)}
	for _, a := range ahead {
		parts = append(parts, bytes.NewReader(a.buf[a.start:a.stop]))
	}
	parts = append(parts, bytes.NewReader(c.carry), c.src)
	return io.MultiReader(parts...), stopped.offset + int64(stopped.end)
}

// commit counts the chunk's events and the unusable ones among them.
func (c *chunk) commit(rd *Reader) {
	for _, f := range c.faults {
		at := diag.Pos{File: rd.file, Offset: c.offset + int64(f.at), Path: fmt.Sprintf("traceEvents[%d]", rd.n+f.index)}
		rd.count(at, f.fault, f.count)
	}
	if rd.n += c.events; c.events > 0 {
		rd.unclosed = 0
	}
}

func (w *worker) run(work <-chan *chunk, sel Select) {
	for c := range work {
		w.parse(c, &sel)
		close(c.done)
	}
}

// parse reads the chunk's events up to its stop or to the first that is not
// valid.
func (w *worker) parse(c *chunk, sel *Select) {
	b, i := c.buf, c.start
	for {
		end, ok := w.memo.Scan(b, i, &w.ev.Fields)
		var err error
		if !ok || end > c.stop {
			if i = eventscan.Gap(b, i); i >= c.stop || b[i] != '{' {
				break
			}
			end, err = eventscan.Decode(b, i, &w.ev.Fields)
			if err != nil && !isTimeError(err) || end > c.stop {
				break // the event is broken, or the chunk was cut inside it
			}
		}
		if err != nil || !w.ev.Empty() {
			w.take(c, sel, i, err)
		}
		c.events++
		i = end
	}
	c.end, c.part, c.by, c.held = i, w.b.cut(), w.id, w.b.numberingBytes()
	c.part.from, c.part.to = c.offset+int64(c.start), c.offset+int64(c.end)
}

// take adds the event just read, or counts its fault.
func (w *worker) take(c *chunk, sel *Select, at int, read error) {
	if class := w.ev.Class(); class > 0 && read == nil {
		for class >= len(w.plans) {
			w.plans = append(w.plans, noPlan)
		}
		p := w.plans[class]
		if p == noPlan {
			p = planOf(&w.ev, sel)
			w.plans[class] = p
		}
		switch {
		case p == ignore, p == arrow && w.b.redundantArrow(&w.ev):
			return
		case p >= complete && w.ev.usable():
			w.ev.Kind = Kind(p - complete)
			w.b.addComplete(&w.ev)
			return
		}
	}
	f := w.ev.check(read)
	if !sel.wants(&w.ev, f) {
		return
	}
	if f == nil {
		w.b.Add(&w.ev)
		return
	}
	for i := range c.faults {
		if c.faults[i].code == f.code {
			c.faults[i].count++
			return
		}
	}
	c.faults = append(c.faults, chunkFault{f, c.events, eventscan.Gap(c.buf, at), 1})
}

func isTimeError(err error) bool {
	var t *eventscan.TimeError
	return errors.As(err, &t)
}

// A cutter reads the input and cuts it into chunks.
type cutter struct {
	src    io.Reader
	size   int
	most   int    // bytes after which the search for a cut ends
	offset int64  // in the input, of the first byte not handed out
	carry  []byte // bytes read and not yet handed out
	ended  bool   // src has ended or failed; the Reader will see that again
	free   [][]byte
}

// next returns the next chunk, or nil if there is none: at the end of the
// input, or if no cut was found in a long part of it.
func (c *cutter) next() *chunk {
	if c.ended && len(c.carry) == 0 {
		return nil
	}
	buf := append(c.buffer(), c.carry...)
	n := len(buf)
	buf = buf[:cap(buf)]
	for want := c.size; ; want *= 2 {
		if len(buf) < n+want {
			buf = append(buf[:n], make([]byte, want)...)
		}
		n = c.fill(buf, n)
		if n == 0 {
			c.free = append(c.free, buf)
			return nil
		}
		stop := n
		if !c.ended {
			if stop = lastEvent(buf[:n]); stop <= 0 {
				if n > c.most {
					c.carry = buf[:n]
					return nil
				}
				continue
			}
		}
		out := &chunk{buf: buf[:n], stop: stop, offset: c.offset, done: make(chan struct{})}
		c.carry = append(c.carry[:0:0], buf[stop:n]...)
		c.offset += int64(stop)
		return out
	}
}

// buffer returns an empty buffer for a chunk.
func (c *cutter) buffer() []byte {
	if k := len(c.free); k > 0 {
		buf := c.free[k-1]
		c.free = c.free[:k-1]
		return buf[:0]
	}
	if buf, ok := chunkBuffers.Get().(*[]byte); ok && cap(*buf) == c.bufferSize() {
		return (*buf)[:0]
	}
	return make([]byte, 0, c.bufferSize())
}

// bufferSize returns the size of a new buffer. A chunk fills its buffer, so the size decides
// where chunks end.
func (c *cutter) bufferSize() int { return c.size + c.size/8 }

// chunkBuffers keeps buffers of chunks for the next trace. A run with many traces mostly
// has traces that are much smaller than a buffer, so allocating one for each would be slow.
var chunkBuffers sync.Pool

// release keeps the buffers of finished chunks for the next trace. It drops buffers that
// have grown: they would change where the next trace is cut, and therefore where a limit
// ends it. It drops all buffers of a long trace, because the analysis needs their memory and
// the next long trace can allocate others at little cost.
func (c *cutter) release() {
	if c.offset > maxPooled {
		c.free = nil
	}
	for _, buf := range c.free {
		if cap(buf) == c.bufferSize() {
			chunkBuffers.Put(&buf)
		}
	}
	c.free = nil
}

// maxPooled is the number of bytes of events above which a trace is long for release.
const maxPooled = 8 << 20

// reuse keeps the buffer of a finished chunk if it has the usual size.
func (c *cutter) reuse(done *chunk) {
	if cap(done.buf) <= 4*c.size {
		c.free = append(c.free, done.buf)
	}
	done.buf = nil
}

// fill reads until buf is full or the input ends, and returns the number of
// bytes in buf.
func (c *cutter) fill(buf []byte, n int) int {
	for n < len(buf) && !c.ended {
		k, err := c.src.Read(buf[n:])
		n += k
		if err != nil {
			c.ended = true
			c.src = failing{err}
		}
	}
	return n
}

// A failing is an io.Reader that always returns err.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
