package ingest

import "io"

// An asyncWriter passes a text to a writer on a separate goroutine, so that the writer works
// while more of the text is read, hashed and searched. It buffers at most asyncBlocks blocks.
type asyncWriter struct {
	full, free chan []byte
	done       chan any // the value of the writer's panic, or nil
}

const (
	asyncBlocks    = 4
	asyncBlockSize = 256 << 10
)

// newAsyncWriter returns a writer that passes its input to w. The caller must not use w until
// wait has returned.
func newAsyncWriter(w io.Writer) *asyncWriter {
	b := &asyncWriter{
		full: make(chan []byte, asyncBlocks), free: make(chan []byte, asyncBlocks), done: make(chan any, 1),
	}
	for range asyncBlocks {
		b.free <- nil
	}
	go b.pass(w)
	return b
}

// pass writes the blocks to w. If w panics, pass drops the further blocks, so that write does
// not block forever.
func (b *asyncWriter) pass(w io.Writer) {
	defer func() {
		reason := recover()
		for block := range b.full {
			b.free <- block
		}
		b.done <- reason
	}()
	for block := range b.full {
		w.Write(block)
		b.free <- block
	}
}

// write passes on a copy of p.
func (b *asyncWriter) write(p []byte) {
	for len(p) > 0 {
		part := p[:min(len(p), asyncBlockSize)]
		p = p[len(part):]
		b.full <- append((<-b.free)[:0], part...)
	}
}

// wait returns when everything is written. If the writer panicked, wait panics with the same
// value.
func (b *asyncWriter) wait() {
	close(b.full)
	if reason := <-b.done; reason != nil {
		panic(reason)
	}
}
