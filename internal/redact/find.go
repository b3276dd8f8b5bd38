package redact

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
	"sync"
)

// A span is the place of a secret in a text.
type span struct {
	kind     string
	from, to int
	token    bool // the secret has a form of the table, which is the best evidence of its kind
}

// A text is searched for secrets. The search reads no byte more than a few times: the ends of runs
// of characters are kept, and a value that was found is not searched for names again.
type text struct {
	s     string
	spans []span
	named int // names before this offset were examined

	bare struct { // the last value without quotes
		from, to int
		query    bool
	}

	nested int // lists and objects before this offset were examined

	keyed int // JSON Web Keys before this offset were examined

	addressed   int // addresses before this offset were examined
	addressEnd  int // the end of the last address
	addressSign int // the last @ of that address

	runs [len(alphabets)]struct{ from, to int } // the last run of each alphabet
}

func newText(s string) *text { return &text{s: s, addressEnd: -1} }

// theIndex is built when the first text is searched.
var theIndex = sync.OnceValue(newIndex)

// deepest is how many layers of encoding are decoded.
const deepest = 3

// find returns the secrets of s in their order. They do not overlap.
func find(s string) []span { return findIn(theIndex(), s, 0) }

func findIn(x *index, s string, depth int) []span {
	const shortest = 4 // no mark with a value is shorter
	if len(s) < shortest {
		return nil
	}
	var t *text
	run, escapes, unseen := 0, false, false
	for i := 0; i < len(s); i++ {
		c := s[i]
		if i+2 < len(s) {
			if n := x.lists[three(c, s[i+1], s[i+2])]; n != 0 {
				for at := x.heads[n]; at != 0; at = x.links[at].next {
					if k := &x.marks[x.links[at].mark]; k.begin(s[i:]) && (!k.named || parted(s, i+len(k.text))) {
						if t == nil {
							t = newText(s)
						}
						x.see(k, t, i)
					}
				}
			}
		}
		if class := coded[c]; class != 0 {
			if class&ofRun != 0 {
				run++
				continue
			}
			escapes = escapes || class&ofEscape != 0
			unseen = unseen || class&ofHidden != 0 && i+1 < len(s) && mayHide(c, s[i+1])
		}
		if run >= shortestCoded && depth < deepest {
			t = t.base64(x, s, i-run, i, depth)
			if c == '.' {
				t = t.bot(s, i-run, i)
			}
		}
		run = 0
	}
	if run >= shortestCoded && depth < deepest {
		t = t.base64(x, s, len(s)-run, len(s), depth)
	}
	if escapes && depth < deepest {
		t = t.escapes(x, s, depth)
	}
	if unseen && depth < deepest {
		t = t.unseen(x, s, depth)
	}
	if t == nil || t.spans == nil {
		return nil
	}
	return joined(t.spans)
}

// parted reports whether a separator of name and value follows the name that continues at an
// offset. It is a cheap filter: most words that look like names are parts of kernel names, without
// a separator.
func parted(s string, at int) bool {
	for end := min(len(s), at+longestName); at < end && isNameByte(s[at]); {
		at++
	}
	return at < len(s) && (isNameByte(s[at]) || parts[s[at]])
}

var parts = func() (set [256]bool) {
	for _, c := range []byte("=:\"'`\\> \t\r\n+?|") {
		set[c] = true
	}
	return set
}()

// The classes of bytes that encodings consist of.
const (
	ofRun    = 1 // of base64
	ofEscape = 2 // begins an escape
	ofHidden = 4 // may begin what a screen does not show
)

var coded = func() (set [256]uint8) {
	for _, c := range []byte(upper + lower + digits + "+/_-") {
		set[c] = ofRun
	}
	for _, c := range []byte(`\%&`) {
		set[c] = ofEscape
	}
	for c := range byte(' ') {
		if c < '\t' || c > '\r' {
			set[c] |= ofHidden
		}
	}
	for _, c := range []byte("\x7f\xc2\xe1\xe2\xef[\\^`\v\f\r") {
		set[c] |= ofHidden
	}
	return set
}()

// mayHide reports whether a byte may begin something that a screen does not show, judging by the
// next byte.
func mayHide(c, next byte) bool {
	switch c {
	case '[':
		return '0' <= next && next <= '9'
	case '\\', '^', '`':
		return next == '\n' || next == '\r'
	case '\r':
		return next != '\n'
	}
	return true
}

// mayEscape reports whether a byte may begin an escape, judging by the next byte.
func mayEscape(c, next byte) bool { return c != '%' || isHex(next) }

// add notes a secret.
func (t *text) add(s span) {
	if s.to > s.from {
		t.spans = append(t.spans, s)
	}
}

// joined sorts spans and makes one of those that overlap. It has the kind of the
// longest, and of equal ones that of a token.
func joined(list []span) []span {
	slices.SortStableFunc(list, func(a, b span) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to)) })
	out := list[:1]
	size := list[0].to - list[0].from
	for _, s := range list[1:] {
		last := &out[len(out)-1]
		if s.from >= last.to {
			out = append(out, s)
			size = s.to - s.from
			continue
		}
		if n := s.to - s.from; n > size || n == size && s.token && !last.token {
			last.kind, last.token, size = s.kind, s.token, n
		}
		last.to = max(last.to, s.to)
	}
	return out
}

// runEnd returns where the run of an alphabet that has the offset at ends.
func (t *text) runEnd(alphabet, at int) int {
	r := &t.runs[alphabet]
	if r.from <= at && at < r.to {
		return r.to
	}
	end := at
	for end < len(t.s) && members[t.s[end]]&(1<<alphabet) != 0 {
		end++
	}
	r.from, r.to = at, end
	return end
}

// boundary reports whether a token may begin at an offset: not within a word. A
// sequence that colours a terminal ends with a letter and is no word.
func (t *text) boundary(at int) bool {
	if at == 0 || !isAlnum(t.s[at-1]) {
		return true
	}
	const most = 16
	for i := at - 2; i >= max(1, at-most); i-- {
		switch c := t.s[i]; {
		case '0' <= c && c <= '9' || c == ';' || c == ':' || c == '?':
		default: // a reader may have taken the control character away
			return c == '[' && (t.s[i-1] == '\x1b' || i < at-2 && t.s[at-1] == 'm')
		}
	}
	return false
}

// shortestCoded is the length of the shortest base64 that is decoded: that of 12
// bytes.
const shortestCoded = 16

// base64 looks for secrets in what s[from:to], of base64 or hexadecimal digits, decodes to. It returns t, or a
// new text if t is nil and there is a secret. The run may begin with a path, because
// base64 has its letters, too; the code then begins after punctuation.
func (t *text) base64(x *index, s string, from, to, depth int) *text {
	const starts = 4
	for try := 0; try < starts && to-from >= shortestCoded; try++ {
		kind := "hex"
		end, ok := secretHex(x, s, from, to, depth)
		if !ok {
			kind = "base64"
			end, ok = secretCode(x, s, from, to, depth)
		}
		if ok {
			if t == nil {
				t = newText(s)
			}
			t.add(span{kind, from, end, false})
			return t
		}
		next := strings.IndexFunc(s[from:to], func(r rune) bool { return r == '/' || r == '+' || r == '-' || r == '_' })
		if next < 0 {
			break
		}
		from += next + 1
	}
	return t
}

// secretHex reports whether hexadecimal digits that s[from:to] begins with are text
// with a secret, and where they end.
func secretHex(x *index, s string, from, to, depth int) (end int, ok bool) {
	const most, head, shortest = 64 << 10, 12, 24
	if s[from] == '0' && (s[from+1] == 'x' || s[from+1] == 'X') {
		from += 2
	}
	end = from
	for end < min(to, from+most) && isHex(s[end]) {
		if end++; end == from+head {
			var first [head / 2]byte
			if _, err := hex.Decode(first[:], []byte(s[from:end])); err != nil || !legible(first[:]) {
				return 0, false
			}
		}
	}
	if end-from < shortest {
		return 0, false
	}
	plain, err := hex.DecodeString(s[from : end-(end-from)%2])
	if err != nil || findIn(x, string(plain), depth+1) == nil {
		return 0, false
	}
	return end, true
}

// isHex reports whether c is a hexadecimal digit.
func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// secretCode reports whether s[from:to] is base64 of text with a secret, and where
// it ends: with its padding and, if it is broken into lines, with the last of them.
func secretCode(x *index, s string, from, to, depth int) (end int, ok bool) {
	const most, head = 64 << 10, 8
	code := base64.RawStdEncoding
	if strings.ContainsAny(s[from:to], "-_") {
		code = base64.RawURLEncoding
	}
	var first [6]byte
	if _, err := code.Decode(first[:], []byte(s[from:from+head])); err != nil || !legible(first[:]) {
		return 0, false
	}
	size := min(to-from, most)
	if size%4 == 1 {
		size--
	}
	plain, err := code.DecodeString(s[from : from+size])
	if err != nil && len(plain) < shortestCoded/2 {
		return 0, false
	}
	if findIn(x, string(plain), depth+1) == nil {
		return 0, false
	}
	for line := to - from; ; {
		for to < len(s) && s[to] == '=' {
			to++
		}
		next := to
		for next < len(s) && (s[next] == '\n' || s[next] == '\r') {
			next++
		}
		after := next
		for after < len(s) && coded[s[after]] == ofRun {
			after++
		}
		if next == to || after == next || after-next > line || line < 60 {
			return to, true
		}
		to, line = after, after-next
	}
}

// legible reports whether bytes are text.
func legible(b []byte) bool {
	for _, c := range b {
		if c >= 0x7f || c < ' ' && c != '\n' && c != '\t' && c != '\r' && c != 0x1b {
			return false
		}
	}
	return true
}

// escapes looks for secrets in s without its escapes. It returns t, or a new text
// if t is nil and there are some.
func (t *text) escapes(x *index, s string, depth int) *text {
	plain, at := unescape(s)
	if plain == "" {
		return t
	}
	for _, f := range findIn(x, plain, depth+1) {
		if t == nil {
			t = newText(s)
		}
		t.add(span{f.kind, at[f.from], at[f.to], f.token})
	}
	return t
}
