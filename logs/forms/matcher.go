package forms

import "bytes"

// A matcher finds the first of many literals in a text. It looks at two bytes and
// skips what cannot be the end of a literal's head, as the algorithm of Wu and
// Manber does, so most bytes of a text are never looked at.
type matcher struct {
	literals [][]byte
	least    int            // length of the heads: of the shortest literal
	skip     [1 << 16]uint8 // by the last two bytes of a window, how far it may move; 0 for the end of a head
	ends     [256][]headEnd // the heads, by their last byte
}

// A headEnd is the last two bytes of the head of a literal.
type headEnd struct {
	pair    uint16
	literal int
}

// minLiteral is how long a literal must be, so that a text is searched fast.
const minLiteral = 4

func newMatcher(literals []string) *matcher {
	m := &matcher{least: 255}
	for _, l := range literals {
		m.literals = append(m.literals, []byte(l))
		m.least = min(m.least, len(l))
	}
	for i := range m.skip {
		m.skip[i] = uint8(m.least - 1)
	}
	for n, l := range m.literals {
		for i := 1; i < m.least; i++ {
			pair := uint16(l[i-1])<<8 | uint16(l[i])
			m.skip[pair] = min(m.skip[pair], uint8(m.least-1-i))
			if i == m.least-1 {
				m.ends[l[i]] = append(m.ends[l[i]], headEnd{pair, n})
			}
		}
	}
	return m
}

// next returns where the first literal at or behind a position of b begins, and its
// number, or -1. If several begin there, it is the longest.
func (m *matcher) next(b []byte, from int) (at, literal int) {
	for i := from + m.least - 1; i < len(b); {
		pair := uint16(b[i-1])<<8 | uint16(b[i])
		if n := m.skip[pair]; n > 0 {
			i += int(n)
			continue
		}
		start, found := i-m.least+1, -1
		for _, e := range m.ends[b[i]] {
			if e.pair != pair {
				continue
			}
			if l := m.literals[e.literal]; bytes.HasPrefix(b[start:], l) && (found < 0 || len(l) > len(m.literals[found])) {
				found = e.literal
			}
		}
		if found >= 0 {
			return start, found
		}
		i++
	}
	return -1, -1
}
