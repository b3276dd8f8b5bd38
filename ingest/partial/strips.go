package partial

import "sync"

// fullStrips is the maximum number of parts whose strips keep their full resolution.
const fullStrips = 1024

// halvings returns the number of times that strips are halved if there are this many parts.
func halvings(parts int) (n int) {
	for ; parts > fullStrips<<n; n++ {
	}
	return n
}

// coarsen halves the resolution of the strips of a part until it was halved the given number
// of times. It does not change the summary of a run.
func (p *Part) coarsen(times int) {
	for ; p.halved < times && p.isMeasured(); p.halved++ {
		p.Summary.HalveStrips()
	}
}

// Strips bounds the memory of the strips of many parts while they are measured. Their
// resolution depends only on the number of parts.
type Strips struct {
	mu    sync.Mutex
	parts []*Part
	names map[string]bool
	n     int // different parts
	times int
}

// Add adds a part, which must stay where it is.
func (s *Strips) Add(p *Part) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parts = append(s.parts, p)
	if p.name == "" || !s.names[p.name] {
		s.n++
	}
	if p.name != "" {
		if s.names == nil {
			s.names = make(map[string]bool)
		}
		s.names[p.name] = true
	}
	if more := halvings(s.n); more > s.times {
		s.times = more
		for _, p := range s.parts {
			p.coarsen(more)
		}
	}
	p.coarsen(s.times)
}
