package forms

import "bytes"

// A matcher finds the first of many literals in a text with the algorithm of Wu and
// Manber: it looks at two bytes of a window, and moves the window as far as they permit,
// so it never looks at most bytes of a text. The window is as long as the shortest literal;
// that many first bytes of each literal are its head.
type matcher struct {
	literals [][]byte
	least    int            // length of the heads: of the shortest literal
	skip     [1 << 16]uint8 // by the last two bytes of the window: how far it may move; 0 if they end a head
	ends     [256][]headEnd // the heads, by their last byte
}

// A headEnd is the last two bytes of the head of a literal.
type headEnd struct {
	pair    uint16
	literal int
}

// minLiteral is the minimum length of a literal. Shorter ones would make the search slow.
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

// next returns the position of the first literal in b at or after a position, and its number,
// or -1. If several literals begin there, it returns the longest.
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
