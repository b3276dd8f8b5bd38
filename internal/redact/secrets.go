// Package redact hides what should not leave a machine: secrets always, and on
// demand the names of users.
//
// A secret is what looks like one: the token formats of well-known services,
// values of variables with telling names, passwords in addresses. What is found is
// never kept in the clear longer than it takes to tell one from another, and what
// stands in its place tells only of which kind it was.
package redact

import (
	"bytes"
	"hash/maphash"
	"regexp"
	"strings"

	"assay/internal/lazyregexp"
)

// A format is one form of secrets. The group called "secret" is what is hidden; the
// rest of a match stays.
type format struct {
	name  string   // of the placeholder
	marks []string // one of them is in each match: they are searched first
	match func() *regexp.Regexp
}

// formats are tried in this order. A token begins at a boundary: task-1 is no key
// that begins with sk-.
var formats = []format{
	token("hf", `hf_[A-Za-z0-9]{20,}`, "hf_"),
	token("sk", `sk-[A-Za-z0-9_-]{20,}`, "sk-"),
	token("github", `gh[pousr]_[A-Za-z0-9]{30,}`, "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
	token("github", `github_pat_[A-Za-z0-9_]{22,}`, "github_pat_"),
	token("gitlab", `glpat-[A-Za-z0-9_-]{20,}`, "glpat-"),
	token("aws", `(?:AKIA|ASIA)[A-Z0-9]{16}`, "AKIA", "ASIA"),
	token("slack", `xox[abprs]-[A-Za-z0-9-]{10,}`, "xox"),
	token("google", `AIza[A-Za-z0-9_-]{35}`, "AIza"),
	token("npm", `npm_[A-Za-z0-9]{30,}`, "npm_"),
	token("nvidia", `nvapi-[A-Za-z0-9_-]{40,}`, "nvapi-"),
	token("jwt", `eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}`, "eyJ"),
	{"bearer", []string{"earer "}, lazyregexp.New(`[Bb]earer (?P<secret>[A-Za-z0-9._~+/-]{16,}=*)`)},
	{"password", []string{"://"}, lazyregexp.New(`://[^/\s:@"']{1,64}:(?P<secret>[^/\s@"']{3,128})@`)},
	{"variable", []string{"TOKEN", "SECRET", "PASSW", "KEY", "CREDENTIAL"}, lazyregexp.New(
		`\b(?:[A-Z][A-Z0-9_]*_)?(?:TOKEN|SECRET|PASSWORD|PASSWD|API_?KEY|ACCESS_KEY|SECRET_KEY|PRIVATE_KEY|CREDENTIALS?)(?:_[A-Z0-9_]+)?\\?"?[ ]?[=:][ ]?\\?"?(?P<secret>[^\s"'\\,;&)\]}]{8,256})`)},
	{"private-key", []string{"PRIVATE KEY-----"}, lazyregexp.New(`-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----(?P<secret>[A-Za-z0-9+/=\s\\]{16,})`)},
}

// token is a format that begins at a boundary.
func token(name, expr string, marks ...string) format {
	return format{name, marks, lazyregexp.New(`(?:^|[^A-Za-z0-9_])(?P<secret>` + expr + `)`)}
}

// harmless are values that stand for a secret and are none.
var harmless = lazyregexp.New(`(?i)^(\d+(\.\d+)?|.*redacted.*|.*masked.*|\*+|x+|none|null|true|false|undefined|\$\{?\w+\}?|<.*|\[[a-z-]+(-\d+)?\]?)$`)

// mixed reports whether a value has both letters and digits: words of a language
// that happen to begin like a token have none.
func mixed(s string) bool {
	return strings.ContainsAny(s, "0123456789") && strings.ContainsFunc(s, func(r rune) bool { return 'a' <= r|0x20 && r|0x20 <= 'z' })
}

// hides reports whether what a format matched is a secret.
func (f *format) hides(secret string) bool {
	switch f.name {
	case "variable", "password":
		return !harmless().MatchString(secret)
	}
	return mixed(secret)
}

// marked reports whether text has a mark of the format.
func (f *format) marked(text string) bool {
	for _, m := range f.marks {
		if strings.Contains(text, m) {
			return true
		}
	}
	return false
}

// pairs has the first two bytes of every mark: hardly any name has them, and to
// look for each mark in each name would take most of the time.
var pairs = func() (set [1 << 16 / 64]uint64) {
	for i := range formats {
		for _, mark := range formats[i].marks {
			at := uint16(mark[0])<<8 | uint16(mark[1])
			set[at/64] |= 1 << (at % 64)
		}
	}
	return set
}()

// mayHide reports whether text has the beginning of a mark.
func mayHide(text string) bool {
	for i := 1; i < len(text); i++ {
		at := uint16(text[i-1])<<8 | uint16(text[i])
		if pairs[at/64]&(1<<(at%64)) != 0 {
			return true
		}
	}
	return false
}

// replace returns text with every secret in it replaced by what by returns for its
// kind and itself.
func replace(text string, by func(kind, secret string) string) string {
	if !mayHide(text) {
		return text
	}
	for i := range formats {
		f := &formats[i]
		if !f.marked(text) {
			continue
		}
		var out strings.Builder
		done := 0
		match := f.match()
		at := 2 * match.SubexpIndex("secret")
		for _, m := range match.FindAllStringSubmatchIndex(text, -1) {
			from, to := m[at], m[at+1]
			if !f.hides(text[from:to]) {
				continue
			}
			out.WriteString(text[done:from])
			out.WriteString(by(f.name, text[from:to]))
			done = to
		}
		if done > 0 {
			out.WriteString(text[done:])
			text = out.String()
		}
	}
	return text
}

// Mask returns text without its secrets, each replaced by its kind alone.
func Mask(text string) string {
	return replace(text, func(kind, _ string) string { return "[" + kind + "]" })
}

// A Scanner counts the secrets of a stream, each once. It keeps none: what it has
// seen it knows by a hash.
type Scanner struct {
	seed maphash.Seed
	seen map[uint64]bool
	rest []byte // what was written and not searched yet, behind the end of what was
	on   bool   // something before rest was searched
	size int    // rest is searched when it has so many bytes
	left int64  // how many bytes are still to be searched closely
}

const (
	overlap  = 512       // a secret may be cut by the end of a block
	block    = 128 << 10 // is searched at a time
	mostSeen = 1 << 16   // further secrets are not counted

	// closely is how many bytes around marks are searched closely, which takes a
	// hundred times as long as to find the marks: a file that is nothing but marks
	// ends the search, and what was counted by then stands.
	closely = 32 << 20
)

// NewScanner returns a Scanner.
func NewScanner() *Scanner {
	return &Scanner{seed: maphash.MakeSeed(), seen: make(map[uint64]bool), size: block, left: closely}
}

// Write looks at the next block. It never fails.
func (s *Scanner) Write(p []byte) (int, error) {
	s.rest = append(s.rest, p...)
	if len(s.rest) >= s.size {
		s.look(s.rest, false)
		s.on = s.on || len(s.rest) > overlap
		s.rest = append(s.rest[:0], s.rest[max(0, len(s.rest)-overlap):]...)
	}
	return len(p), nil
}

// Count ends the stream and returns how many different secrets it had.
func (s *Scanner) Count() int64 {
	s.look(s.rest, true)
	s.rest = nil
	return int64(len(s.seen))
}

// look counts what is in a block. Unless it is the last one, what reaches its end
// may go on in the next, which has it again.
func (s *Scanner) look(block []byte, last bool) {
	for i := range formats {
		for _, mark := range formats[i].marks {
			s.lookFor(&formats[i], []byte(mark), block, last)
		}
	}
}

// lookFor searches stretches of the block from each mark on: a block that is all
// marks is not searched from each of them.
func (s *Scanner) lookFor(f *format, mark, block []byte, last bool) {
	const before, stretch = 128, 1024
	for at := 0; len(s.seen) < mostSeen && s.left > 0; {
		n := bytes.Index(block[at:], mark)
		if n < 0 {
			return
		}
		at += n
		if at == 0 && s.on { // what stands before it decides, and the block before has told
			at++
			continue
		}
		from, to := max(0, at-before), min(len(block), at+stretch)
		s.left -= int64(to - from)
		match := f.match()
		group := 2 * match.SubexpIndex("secret")
		for _, m := range match.FindAllSubmatchIndex(block[from:to], -1) {
			start, end := from+m[group], from+m[group+1]
			cut := end == to && (to < len(block) || !last)
			if cut && start > to-overlap {
				continue // it is met again, with what follows
			}
			if secret := block[start:end]; f.hides(string(secret)) {
				s.seen[maphash.Bytes(s.seed, secret)] = true
			}
		}
		if at += len(mark); to < len(block) {
			at = max(at, to-overlap)
		} else {
			return // all of the rest was searched
		}
	}
}
