package redact

import "strings"

// lineBefore returns the part of a line that precedes an offset, at most some hundred bytes, and
// where it begins.
func (t *text) lineBefore(at int) (line string, start int) {
	const most = 256
	start = max(0, at-most)
	if i := strings.LastIndexByte(t.s[start:at], '\n'); i >= 0 {
		start += i + 1
	}
	return t.s[start:at], start
}

// piped masks the password that a command reads from its input: echo PASSWORD | docker login
// --password-stdin.
func (t *text) piped(from, _ int) {
	line, start := t.lineBefore(from)
	pipe := strings.LastIndexByte(line, '|')
	if pipe < 0 {
		return
	}
	for _, command := range []string{"echo ", "echo -n ", "printf "} {
		i := strings.LastIndex(line[:pipe], command)
		if i < 0 {
			continue
		}
		at := start + i + len(command)
		at += t.quoteAt(at)
		end := min(t.unquoted(at, false), start+pipe)
		if word := t.s[at:max(at, end)]; word != "" && word[0] != '-' && word[0] != '$' &&
			!placeholders().MatchString(word) && !shown(word) {
			t.add(span{"password", at, end, false})
		}
	}
}

// driver masks the password of a data source: user:password@tcp(host).
func (t *text) driver(from, _ int) {
	line, start := t.lineBefore(from)
	if i := strings.LastIndexAny(line, " \t\"'`=/"); i >= 0 {
		line, start = line[i+1:], start+i+1
	}
	user, secret, ok := strings.Cut(line, ":")
	if ok && user != "" && secret != "" && !placeholders().MatchString(secret) && !shown(secret) {
		t.add(span{"password", start + len(user) + 1, from, false})
	}
}
