package redact

import (
	"strings"
	"sync/atomic"
)

// A mark is a text that begins, or is part of, what may hide a secret. Marks are
// searched without regard to case; what is found decides with regard to it.
type mark struct {
	text   string
	look   func(t *text, from, to int) // nil for the mark of a format
	named  bool                        // a word of the name of a variable
	format int                         // which of the formats it is of
}

// places are the marks that are not those of formats.
var places = []mark{
	{text: "://", look: (*text).address},
	{text: "bearer", look: (*text).bearer},
	{text: "basic", look: (*text).basic},
	{text: "private key", look: (*text).privateKey},
	{text: "login ", look: (*text).login},
	{text: "-u", look: (*text).user},
	{text: "--user", look: (*text).user},
	{text: "--proxy-user", look: (*text).user},
	{text: " -p", look: (*text).option},
	{text: " -a ", look: (*text).option},
	{text: "--password-stdin", look: (*text).piped},
	{text: "sudo -s", look: (*text).piped},
	{text: "@tcp(", look: (*text).driver},
	{text: "@unix(", look: (*text).driver},
	{text: "private-lines:", look: (*text).putty},
	{text: "kty", look: (*text).jwk},
	{text: ":5432:", look: (*text).pgpass},
	{text: ":6432:", look: (*text).pgpass},
	{text: ":*:", look: (*text).pgpass},
	{text: "secretstr(", look: (*text).constructor},
	{text: "secretbytes(", look: (*text).constructor},
	{text: "basicauth(", look: (*text).constructor},
	{text: "digestauth(", look: (*text).constructor},
	{text: "login(", look: (*text).loginCall},
	{text: "token", look: (*text).name, named: true},
	{text: "secret", look: (*text).name, named: true},
	{text: "pass", look: (*text).name, named: true},
	{text: "pwd", look: (*text).name, named: true},
	{text: "key", look: (*text).name, named: true},
	{text: "cred", look: (*text).name, named: true},
	{text: "auth", look: (*text).name, named: true},
	{text: "bearer", look: (*text).name, named: true},
	{text: "sig", look: (*text).name, named: true},
	{text: "cookie", look: (*text).name, named: true},
	{text: "dsn", look: (*text).name, named: true},
	{text: "jwt", look: (*text).name, named: true},
	{text: "_pat", look: (*text).name, named: true},
	{text: "sessionid", look: (*text).name, named: true},
	{text: "sessid", look: (*text).name, named: true},
	{text: "webhook", look: (*text).name, named: true},
}

// markOf returns the first constant text of a form.
func markOf(form string) string {
	if form[0] == '{' {
		_, form, _ = strings.Cut(form, "}")
	}
	text, _, _ := strings.Cut(form, "{")
	return text
}

// An index finds the marks of a text in one pass. It knows by three bytes, without
// their case, whether a mark may begin with them.
//
// Every run searches its names, so the index is built in a few pieces of memory, and a
// format is compiled when a text has its mark.
type index struct {
	lists [1 << 15]uint8 // by the three bytes: a place in heads, or 0
	heads []int16        // where in links the marks begin; the first is unused
	links []link         // the first is unused, so that 0 ends a chain
	marks []mark
	forms []atomic.Pointer[form] // by format
}

// A link leads to a mark, and to the next link with the same three bytes.
type link struct{ mark, next int16 }

// three returns the place of three bytes in an index, of each the five bits that are
// equal in both cases.
func three(a, b, c byte) uint { return uint(a&31)<<10 | uint(b&31)<<5 | uint(c&31) }

// newIndex returns the index of places and of the marks of formats, which have two bytes or
// more.
func newIndex() *index {
	const mostHeads = 256
	x := &index{
		heads: make([]int16, 1, mostHeads),
		links: make([]link, 1, 2*(len(places)+len(formats))),
		marks: make([]mark, 0, len(places)+len(formats)),
		forms: make([]atomic.Pointer[form], len(formats)),
	}
	x.marks = append(x.marks, places...)
	for i, f := range formats {
		x.marks = append(x.marks, mark{text: markOf(f.Form), format: i})
	}
	for i := len(x.marks) - 1; i >= 0; i-- { // the last that is added is looked at first
		text := x.marks[i].text
		if len(text) > 2 {
			x.add(three(text[0], text[1], text[2]), i)
			continue
		}
		for c := range byte(32) {
			x.add(three(text[0], text[1], c), i)
		}
	}
	if len(x.heads) > mostHeads {
		panic("redact: too many marks") // the table is part of the program
	}
	return x
}

// add adds a mark to those at a place, before the others.
func (x *index) add(at uint, mark int) {
	if x.lists[at] == 0 {
		x.lists[at] = uint8(len(x.heads))
		x.heads = append(x.heads, 0)
	}
	head := &x.heads[x.lists[at]]
	x.links = append(x.links, link{int16(mark), *head})
	*head = int16(len(x.links) - 1)
}

// see looks at what is behind a mark of a text.
func (x *index) see(k *mark, t *text, at int) {
	if k.look != nil {
		k.look(t, at, at+len(k.text))
		return
	}
	f := x.forms[k.format].Load()
	if f == nil { // if two goroutines compile it, both are equal
		c := formats[k.format].compile()
		f = &c
		x.forms[k.format].Store(f)
	}
	if from, to, ok := f.match(t, at); ok {
		t.add(span{f.kind, from, to, true})
	}
}

// begin reports whether s begins with the mark, without regard to case.
func (k *mark) begin(s string) bool {
	if len(s) < len(k.text) {
		return false
	}
	for i := range len(k.text) {
		if small(s[i]) != small(k.text[i]) {
			return false
		}
	}
	return true
}

// small returns a letter in lower case, and any other byte as it is.
func small(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
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
