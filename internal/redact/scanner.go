package redact

import "hash/maphash"

// A Scanner counts the distinct secrets of a stream, with the code that masks them. It keeps hashes
// of them and not the secrets.
type Scanner struct {
	seed maphash.Seed
	seen map[uint64]bool
	rest []byte // bytes that were not searched yet, after some that were
	done int    // number of bytes of rest that were searched
	size int    // rest is searched when it has this many bytes
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
	return &Scanner{seed: maphash.MakeSeed(), seen: make(map[uint64]bool), size: block}
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
	s.rest, s.done = nil, 0
	return int64(len(s.seen))
}

// look counts the secrets that begin from s.done on and before end.
func (s *Scanner) look(end int) {
	if len(s.seen) >= mostSeen {
		return
	}
	for _, f := range find(string(s.rest)) {
		if f.from >= s.done && f.from < end {
			s.seen[maphash.Bytes(s.seed, s.rest[f.from:f.to])] = true
		}
	}
}
