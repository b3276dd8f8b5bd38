package redact

// A mark is a text that begins, or is part of, what may hide a secret. Marks are
// searched without regard to case; what is found decides with regard to it.
type mark struct {
	text string // in lower case
	look func(t *text, from, to int)
}

// marks are all that is searched: those of the token formats, and those of other
// places of secrets.
func marks() []mark {
	list := []mark{
		{"://", (*text).address},
		{"bearer", (*text).bearer},
		{"basic", (*text).basic},
		{"private key", (*text).privateKey},
		{"login ", (*text).login},
		{"-u", (*text).user},
		{"--user", (*text).user},
		{"--proxy-user", (*text).user},
		{"sshpass -p", (*text).sshpass},
	}
	for _, word := range []string{"token", "secret", "pass", "pwd", "key", "cred", "auth", "sig", "cookie", "dsn", "jwt"} {
		list = append(list, mark{word, (*text).name})
	}
	for i := range forms {
		f := &forms[i]
		list = append(list, mark{lowerCase(f.mark), func(t *text, at, _ int) {
			if from, to, ok := f.match(t, at); ok {
				t.add(span{f.kind, from, to, true})
			}
		}})
	}
	return list
}

// A machine finds all marks in one pass (Aho and Corasick). State 0 is the start.
type machine struct {
	class   [256]uint8 // of bytes that no mark tells apart
	classes int
	next    []uint16 // by state and class
	found   [][]mark // by state: the marks that end there
}

// newMachine builds the machine of a list of marks.
func newMachine(list []mark) *machine {
	m := &machine{classes: 1}
	for _, k := range list {
		for i := range len(k.text) {
			if c := k.text[i]; m.class[c] == 0 {
				m.class[c] = uint8(m.classes)
				m.classes++
			}
		}
	}
	for c := byte('a'); c <= 'z'; c++ {
		m.class[c-'a'+'A'] = m.class[c]
	}
	grow := func() { m.next, m.found = append(m.next, make([]uint16, m.classes)...), append(m.found, nil) }
	grow()
	for _, k := range list {
		at := 0
		for i := range len(k.text) {
			edge := at*m.classes + int(m.class[k.text[i]])
			if m.next[edge] == 0 {
				m.next[edge] = uint16(len(m.found))
				grow()
			}
			at = int(m.next[edge])
		}
		m.found[at] = append(m.found[at], k)
	}
	m.close()
	return m
}

// close gives each state the moves of the longest of its endings that is a state,
// in the order of their lengths.
func (m *machine) close() {
	fall := make([]int, len(m.found))
	var queue []int
	for _, to := range m.next[:m.classes] {
		if to != 0 {
			queue = append(queue, int(to))
		}
	}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		m.found[at] = append(m.found[at], m.found[fall[at]]...)
		for c := range m.classes {
			edge, other := at*m.classes+c, m.next[fall[at]*m.classes+c]
			if to := m.next[edge]; to != 0 {
				fall[to] = int(other)
				queue = append(queue, int(to))
			} else {
				m.next[edge] = other
			}
		}
	}
}

func lowerCase(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c - 'A' + 'a'
		}
	}
	return string(b)
}
