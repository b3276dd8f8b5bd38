package partial

import "sync"

// fullStrips is how many parts keep their strips as they were measured.
const fullStrips = 1024

// halvings returns how often the strips of so many parts are halved.
func halvings(parts int) (n int) {
	for ; parts > fullStrips<<n; n++ {
	}
	return n
}

// coarsen halves the strips of a part until that was done so often. The summary of a run
// stays as it is.
func (p *Part) coarsen(times int) {
	for ; p.halved < times && p.isMeasured(); p.halved++ {
		p.Summary.HalveStrips()
	}
}

// Strips bounds the memory of the strips of many parts while they are measured. How often
// they are halved depends on the number of parts only.
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
