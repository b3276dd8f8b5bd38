package redact

import "hash/maphash"

// A Scanner counts the secrets of a stream, each once, by the code that masks them.
// It keeps none: what it has seen it knows by a hash.
type Scanner struct {
	seed maphash.Seed
	seen map[uint64]bool
	rest []byte // what was written and not searched yet, behind some that was
	done int    // so much of rest was searched
	size int    // rest is searched when it has so many bytes
}

const (
	// overlap is how much of a block is searched again with the next one, and how
	// much before a secret is looked at with it. A secret may be cut by the end of
	// a block, and what precedes it may tell that it is one.
	overlap  = 8 << 10
	block    = 256 << 10 // is searched at a time
	mostSeen = 1 << 16   // further secrets are not counted
)

// NewScanner returns a Scanner.
func NewScanner() *Scanner {
	return &Scanner{seed: maphash.MakeSeed(), seen: make(map[uint64]bool), size: block}
}

// Write looks at the next block. It never fails.
func (s *Scanner) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		k := min(len(p), max(1, s.size-len(s.rest)))
		s.rest, p = append(s.rest, p[:k]...), p[k:]
		if len(s.rest) < s.size {
			break
		}
		end := len(s.rest) - overlap // what begins behind it is searched with more
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
