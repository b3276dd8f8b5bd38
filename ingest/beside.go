package ingest

import "io"

// A besideWriter passes a text to a writer on a goroutine of its own, so that the writer works while
// more of the text is read, hashed and searched. Few blocks are on their way at a time.
type besideWriter struct {
	full, free chan []byte
	done       chan any // what the writer panicked with, or nil
}

const (
	blocksBeside = 4
	blockBeside  = 256 << 10
)

// beside returns a writer that passes what it gets to w, which nobody else may use until wait has
// returned.
func beside(w io.Writer) *besideWriter {
	b := &besideWriter{full: make(chan []byte, blocksBeside), free: make(chan []byte, blocksBeside), done: make(chan any, 1)}
	for range blocksBeside {
		b.free <- nil
	}
	go b.pass(w)
	return b
}

// pass writes the blocks. After a panic it takes what still comes, so that nobody waits for it.
func (b *besideWriter) pass(w io.Writer) {
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
func (b *besideWriter) write(p []byte) {
	for len(p) > 0 {
		part := p[:min(len(p), blockBeside)]
		p = p[len(part):]
		b.full <- append((<-b.free)[:0], part...)
	}
}

// wait returns when everything is written. A panic of the writer goes on here.
func (b *besideWriter) wait() {
	close(b.full)
	if reason := <-b.done; reason != nil {
		panic(reason)
	}
}
