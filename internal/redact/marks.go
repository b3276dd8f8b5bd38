package redact

import (
	"strings"
	"sync/atomic"
)

// A mark is a text that begins a possible secret or is part of one. Marks are searched ignoring
// case; the functions that examine them decide about case.
type mark struct {
	text   string
	look   func(t *text, from, to int) // nil for the mark of a format
	named  bool                        // a word in the name of a variable
	format int                         // index of its format
}

// places are the marks that do not belong to formats.
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

// An index finds the marks of a text in one pass. For each three bytes, ignoring case, it has the
// marks that begin with them.
//
// Every run of assay searches names, so the index is built with few allocations, and a format is
// compiled only when a text has its mark.
type index struct {
	lists [1 << 15]uint8 // by three bytes: an index into heads, or 0
	heads []int16        // index into links of the first mark; element 0 is unused
	links []link         // element 0 is unused, so that 0 ends a chain
	marks []mark
	forms []atomic.Pointer[form] // by format
}

// A link has a mark, and the next link for the same three bytes.
type link struct{ mark, next int16 }

// three returns the index of three bytes, made of the five bits that are equal in both cases.
func three(a, b, c byte) uint { return uint(a&31)<<10 | uint(b&31)<<5 | uint(c&31) }

// newIndex returns the index of places and of the marks of formats. Marks have at least two bytes.
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
	for i := len(x.marks) - 1; i >= 0; i-- { // the one added last is tried first
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

// add puts a mark before the others with the same bytes.
func (x *index) add(at uint, mark int) {
	if x.lists[at] == 0 {
		x.lists[at] = uint8(len(x.heads))
		x.heads = append(x.heads, 0)
	}
	head := &x.heads[x.lists[at]]
	x.links = append(x.links, link{int16(mark), *head})
	*head = int16(len(x.links) - 1)
}

// see examines the text after a mark.
func (x *index) see(k *mark, t *text, at int) {
	if k.look != nil {
		k.look(t, at, at+len(k.text))
		return
	}
	f := x.forms[k.format].Load()
	if f == nil { // two goroutines may both compile it, with equal results
		c := formats[k.format].compile()
		f = &c
		x.forms[k.format].Store(f)
	}
	if from, to, ok := f.match(t, at); ok {
		t.add(span{f.kind, from, to, true})
	}
}

// begin reports whether s begins with the mark, ignoring case.
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

// small returns an ASCII letter in lower case, and any other byte unchanged.
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
