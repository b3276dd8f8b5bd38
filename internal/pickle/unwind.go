package pickle

import (
	"strconv"
	"unicode/utf8"
)

// unwind completes a pickle that ended early: it moves the values on the stack into
// the list or dict below them, until only the first value is left.
func (m *machine) unwind() {
	for len(m.stack) > 0 {
		n := len(m.stack)
		if k := len(m.marks); k > 0 {
			from := m.marks[k-1]
			m.marks = m.marks[:k-1]
			if from > 0 && from <= n {
				m.addRest(m.stack[from-1], m.stack[from:])
				m.stack = m.stack[:from]
			}
			continue
		}
		if n == 1 {
			m.doc.Root = m.stack[0]
			return
		}
		m.addLast()
	}
}

// addRest adds items to a list, or complete pairs of key and value to a dict.
func (m *machine) addRest(to Value, items []Value) {
	switch kind := m.doc.Kind(to); kind {
	case Dict:
		m.add(to, kind, items[:len(items)/2*2]) // beyond the limit the rest is lost
	case List, Set:
		m.add(to, kind, items)
	}
}

// addLast pops the last value and adds it to the list below it, or pops its key, too,
// and adds both to the dict below.
func (m *machine) addLast() {
	n := len(m.stack)
	below := m.stack[n-2]
	switch {
	case m.doc.Kind(below) == List:
		m.addRest(below, m.stack[n-1:])
	case n >= 3 && m.doc.Kind(below) == Text && m.doc.Kind(m.stack[n-3]) == Dict:
		m.addRest(m.stack[n-3], m.stack[n-2:])
		n--
	}
	m.stack = m.stack[:n-1]
}

// unescapeUnicode decodes Python's raw-unicode-escape: the only escapes are \u0041 and
// \U00000041; other bytes are Latin-1 characters.
func unescapeUnicode(b []byte) []byte {
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); i++ {
		if b[i] == '\\' && i+1 < len(b) {
			digits := map[byte]int{'u': 4, 'U': 8}[b[i+1]]
			if r, ok := hex(b, i+2, digits); ok {
				out = utf8.AppendRune(out, r)
				i += 1 + digits
				continue
			}
		}
		out = utf8.AppendRune(out, rune(b[i]))
	}
	return out
}

// hex reads a number with the given number of hexadecimal digits at b[i].
func hex(b []byte, i, digits int) (rune, bool) {
	if digits == 0 || i+digits > len(b) {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[i:i+digits]), 16, 32)
	return rune(n), err == nil
}

// unescapeString decodes the escapes of a Python string.
func unescapeString(b []byte) []byte {
	out := make([]byte, 0, len(b))
	simple := map[byte]byte{'n': '\n', 't': '\t', 'r': '\r', '\\': '\\', '\'': '\'', '"': '"', 'a': 7, 'b': 8, 'f': 12, 'v': 11}
	for i := 0; i < len(b); i++ {
		if b[i] != '\\' || i+1 == len(b) {
			out = append(out, b[i])
			continue
		}
		if c, ok := simple[b[i+1]]; ok {
			out = append(out, c)
			i++
		} else if r, ok := hex(b, i+2, 2); ok && b[i+1] == 'x' {
			out = append(out, byte(r))
			i += 3
		} else {
			out = append(out, '\\')
		}
	}
	return out
}
