package redact

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// alphabets are the sets of characters in runs of forms.
var alphabets = [...]struct{ name, chars string }{
	{"alpha", upper + lower},
	{"alnum", upper + lower + digits},
	{"lower", lower},
	{"lownum", lower + digits},
	{"upnum", upper + digits},
	{"dig", digits},
	{"hex", "0123456789abcdef"},
	{"word", upper + lower + digits + "_"},
	{"dash", upper + lower + digits + "-"},
	{"url", upper + lower + digits + "_-"},
	{"b64", upper + lower + digits + "+/="},
	{"b64url", upper + lower + digits + "_-="},
	{"b64pct", upper + lower + digits + "+/=%"},
	{"jwt", upper + lower + digits + "_-."},
	{"azure", upper + lower + digits + "_-.~"},
}

const (
	upper  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	lower  = "abcdefghijklmnopqrstuvwxyz"
	digits = "0123456789"
)

// members has for each byte the alphabets that contain it: bit i is alphabets[i].
var members = func() (set [256]uint16) {
	for i, a := range alphabets {
		for _, c := range []byte(a.chars) {
			set[c] |= 1 << i
		}
	}
	return set
}()

// A part of a form is constant text or, if text is "", a run of an alphabet.
type part struct {
	text     string
	alphabet int
	min, max int
}

// A form is a compiled Format.
type form struct {
	kind  string
	parts []part
	loose bool
	mark  string // the first constant text, which is searched
	left  *part  // the run before mark, or nil

	glued bool // the mark is unmistakable, so a letter or digit may precede it
}

// longest is the maximum length of a run without a limit.
const longest = 1 << 30

// compile returns the compiled format. The table is part of the program and tested, so a mistake in
// it panics.
func (f Format) compile() form {
	parts, err := parseForm(f.Form)
	if err != nil {
		panic("redact: " + err.Error())
	}
	c := form{kind: f.Kind, loose: f.Loose, parts: parts}
	if parts[0].text == "" {
		c.left, c.parts = &parts[0], parts[1:]
	}
	c.mark = c.parts[0].text
	c.glued = c.unmistakable()
	return c
}

// unmistakable reports whether no word ends like the mark of a form, so that a token is recognized
// even if no separator precedes it.
func (f *form) unmistakable() bool {
	const shortestMark, shortestRun, long, shortest = 3, 30, 5, 20
	if f.loose || f.left != nil || len(f.parts) < 2 || f.mark[0] == '/' {
		return false
	}
	last, run, size := f.mark[len(f.mark)-1], f.parts[1], 0
	for _, p := range f.parts {
		size += p.min
	}
	return len(f.mark) >= long && size >= shortest && strings.ContainsAny(f.mark, "-_.~") ||
		len(f.mark) >= shortestMark && last == '_' && run.min >= shortestRun && alphabets[run.alphabet].name != "hex"
}

// mayBegin reports whether a token of the form may begin at an offset.
func (t *text) mayBegin(f *form, at int) bool { return f.glued || t.boundary(at) }

// parseForm splits the text of a form into its parts.
func parseForm(text string) (parts []part, err error) {
	for rest := text; rest != ""; {
		constant, after, ok := strings.Cut(rest, "{")
		if constant != "" {
			parts = append(parts, part{text: constant})
		}
		if !ok {
			break
		}
		run, next, ok := strings.Cut(after, "}")
		name, length, found := strings.Cut(run, ":")
		i := slices.IndexFunc(alphabets[:], func(a struct{ name, chars string }) bool { return a.name == name })
		if !ok || !found || i < 0 {
			return nil, fmt.Errorf("form %q: %q is not an alphabet and a length", text, run)
		}
		p := part{alphabet: i, max: longest}
		low, high, span := strings.Cut(strings.TrimSuffix(length, "+"), "-")
		if p.min, err = strconv.Atoi(low); err != nil {
			return nil, fmt.Errorf("form %q: %w", text, err)
		}
		if !strings.HasSuffix(length, "+") {
			p.max = p.min
		}
		if span {
			if p.max, err = strconv.Atoi(high); err != nil {
				return nil, fmt.Errorf("form %q: %w", text, err)
			}
		}
		parts = append(parts, p)
		rest = next
	}
	return parts, nil
}

// Example returns a text of the form, drawn from its alphabets. For a loose form it draws until the
// text looks random, as the form demands.
func (f Format) Example(rnd *rand.Rand) string {
	for {
		text := f.draw(rnd)
		if !f.Loose || random(text) {
			return text
		}
	}
}

func (f Format) draw(rnd *rand.Rand) string {
	parts, err := parseForm(f.Form)
	if err != nil {
		panic("redact: " + err.Error()) // the table is part of the program
	}
	var b strings.Builder
	for i, p := range parts {
		b.WriteString(p.text)
		if p.text != "" {
			continue
		}
		chars := strings.Trim(alphabets[p.alphabet].chars, "=%")
		n := p.min + rnd.IntN(min(p.max, p.min+8)-p.min+1)
		for k := range n {
			c := chars[rnd.IntN(len(chars))]
			// No token begins or ends with punctuation.
			if edge := k == 0 || k == n-1 && i == len(parts)-1; edge && members[c]&alnum == 0 {
				c = chars[rnd.IntN(26)]
			}
			b.WriteByte(c)
		}
	}
	return b.String()
}

// alnum is the bit of that alphabet in members.
const alnum = 1 << 1

// isAlnum reports whether c is an ASCII letter or digit.
func isAlnum(c byte) bool { return members[c]&alnum != 0 }

// match returns the token of the form whose mark begins at at. It may contain line breaks.
func (f *form) match(t *text, at int) (from, to int, ok bool) {
	if from, to, ok = f.whole(t, at); ok {
		return from, f.wrapped(t, to), true
	}
	to, ok = f.broken(t, at)
	return at, to, ok
}

// whole returns the token of the form whose mark begins at at, on one line.
func (f *form) whole(t *text, at int) (from, to int, ok bool) {
	from, to = at, at
	if f.left != nil {
		for from > 0 && at-from < min(f.left.max, 128) && members[t.s[from-1]]&(1<<f.left.alphabet) != 0 {
			from--
		}
		if at-from < f.left.min {
			return 0, 0, false
		}
	}
	glued := !t.boundary(from)
	if glued && !f.glued {
		return 0, 0, false
	}
	for i, p := range f.parts {
		if p.text != "" {
			if !strings.HasPrefix(t.s[to:], p.text) {
				return 0, 0, false
			}
			to += len(p.text)
			continue
		}
		n := t.runEnd(p.alphabet, to) - to
		// Punctuation of the alphabet ends a token of maximum length.
		if n > p.max && i == len(f.parts)-1 && !isAlnum(t.s[to+p.max]) {
			n = p.max
		}
		if n < p.min || n > p.max {
			return 0, 0, false
		}
		to += n
	}
	if to < len(t.s) && isAlnum(t.s[to]) {
		return 0, 0, false
	}
	if f.loose && !random(t.s[from:to]) || glued && !varied(t.s[from:to]) {
		return 0, 0, false
	}
	return from, to, true
}

// random reports whether a text looks random and not like words: upper case, lower case and digits
// often alternate in it.
func random(s string) bool {
	const most = 256 // a prefix is enough
	s = s[:min(len(s), most)]
	digit, pairs, changes := false, 0, 0
	for i := range len(s) {
		digit = digit || '0' <= s[i] && s[i] <= '9'
		if i == 0 || !isAlnum(s[i]) || !isAlnum(s[i-1]) {
			continue
		}
		pairs++
		if kindOf(s[i]) != kindOf(s[i-1]) {
			changes++
		}
	}
	if digit {
		return changes*100 >= pairs*18 && changes >= 3
	}
	return changes*100 >= pairs*35 && changes >= 5
}

// varied reports whether upper case, lower case and digits alternate in a text several times. They
// do not in words in one case with a number.
func varied(s string) bool {
	const enough = 4
	changes, last := 0, byte(0)
	for i := 0; i < len(s) && changes < enough; i++ {
		if strings.IndexByte(" \t\r\n", s[i]) >= 0 {
			continue // a token over several lines
		}
		if isAlnum(s[i]) && isAlnum(last) && kindOf(s[i]) != kindOf(last) {
			changes++
		}
		last = s[i]
	}
	return changes >= enough
}

// kindOf distinguishes lower case, upper case and digits.
func kindOf(c byte) int {
	switch {
	case c >= 'a':
		return 0
	case c >= 'A':
		return 1
	}
	return 2
}

// Unmistakable reports whether no word resembles the beginning of a token, so that tokens are found
// after a letter, and with line breaks in them.
func (f Format) Unmistakable() bool {
	c := f.compile()
	return c.glued
}
