package redact

import (
	"hash/maphash"
	"runtime"
	"sync"
)

// A Scanner counts the distinct secrets of a stream, with the code that masks them. It keeps hashes
// of them and not the secrets.
type Scanner struct {
	seed maphash.Seed
	seen map[uint64]bool
	rest []byte // bytes that were not searched yet, after some that were
	done int    // number of bytes of rest that were searched
	size int    // rest is searched when it has this many bytes

	free    chan *novelty // one for each search that may run at the same time
	running sync.WaitGroup
	mu      sync.Mutex // of seen
}

const (
	// overlap is how much of a block is searched again with the next one, and how much text before
	// a secret is searched with it. The end of a block may cut a secret, and the text before a
	// secret may be what identifies it.
	overlap  = 8 << 10
	block    = 256 << 10 // bytes searched at a time
	mostSeen = 1 << 16   // further secrets are not counted
)

// NewScanner returns a Scanner.
func NewScanner() *Scanner {
	s := &Scanner{seed: maphash.MakeSeed(), seen: make(map[uint64]bool), size: block, free: make(chan *novelty, runtime.GOMAXPROCS(0))}
	for range cap(s.free) {
		s.free <- newNovelty(s.seed)
	}
	return s
}

// Write searches the next block. It never fails.
func (s *Scanner) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		k := min(len(p), max(1, s.size-len(s.rest)))
		s.rest, p = append(s.rest, p[:k]...), p[k:]
		if len(s.rest) < s.size {
			break
		}
		end := len(s.rest) - overlap // secrets that begin after it are searched with the next block
		s.look(end)
		keep := max(0, end-overlap)
		s.rest = append(s.rest[:0], s.rest[keep:]...)
		s.done = end - keep
	}
	return n, nil
}

// Count ends the stream and returns how many different secrets it had.
func (s *Scanner) Count() int64 {
	s.look(len(s.rest))
	s.running.Wait()
	s.rest, s.done = nil, 0
	return int64(len(s.seen))
}

// look counts the secrets that begin from s.done on and before end. Blocks are searched during the reading of the
// next ones, because a search takes longer than reading a trace.
func (s *Scanner) look(end int) {
	text, done := string(s.rest), s.done
	seen := <-s.free
	s.running.Go(func() {
		defer func() { s.free <- seen }()
		for _, part := range seen.of(text, end) {
			for _, f := range find(text[part.from:part.to]) {
				if at := part.from + f.from; at >= done && at < end {
					s.count(maphash.String(s.seed, text[at:part.from+f.to]))
				}
			}
		}
	})
}

// count adds a secret, unless there are very many.
func (s *Scanner) count(hash uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.seen) < mostSeen {
		s.seen[hash] = true
	}
}
