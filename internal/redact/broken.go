package redact

import "strings"

// lineBreak returns the offset of the first byte of the next line that is not a blank, if there is
// a line break at an offset, else 0.
func (t *text) lineBreak(at int) int {
	if at < len(t.s) && t.s[at] == '\r' {
		at++
	}
	if at >= len(t.s) || t.s[at] != '\n' {
		return 0
	}
	return t.skip(at+1, " \t")
}

// broken returns the end of the token of the form whose mark begins at an offset, if the token
// contains line breaks. Only forms that no word resembles are joined over lines.
func (f *form) broken(t *text, at int) (to int, ok bool) {
	if f.loose || f.left != nil || !t.mayBegin(f, at) {
		return 0, false
	}
	to = at
	breaks := 0
	for part, p := range f.parts {
		last := part == len(f.parts)-1
		for i := range len(p.text) {
			if next := t.lineBreak(to); next > 0 && to > at+len(f.mark) {
				to = next
				breaks++
			}
			if to >= len(t.s) || t.s[to] != p.text[i] {
				return 0, false
			}
			to++
		}
		if p.text != "" {
			continue
		}
		for n := 0; ; {
			k := min(t.runEnd(p.alphabet, to)-to, p.max-n)
			n, to = n+k, to+k
			next := t.lineBreak(to)
			if next == 0 || k == 0 && n > 0 || n >= p.max || last && n >= p.min {
				if n < p.min {
					return 0, false
				}
				break
			}
			to = next
			breaks++
		}
	}
	return to, breaks > 0 && (to >= len(t.s) || !isAlnum(t.s[to])) && varied(t.s[at:to])
}

// wrapped returns the end of a token at the end of a line that continues on the next lines: each of
// them begins with a run that looks random.
func (f *form) wrapped(t *text, to int) int {
	const shortestRest, mostLines = 8, 8
	last := f.parts[len(f.parts)-1]
	if f.loose || last.max != longest {
		return to
	}
	for range mostLines {
		next := t.lineBreak(to)
		if next == 0 || next >= len(t.s) {
			break
		}
		end := t.runEnd(last.alphabet, next)
		if end-next < shortestRest || end < len(t.s) && strings.IndexByte(" \t\r\n\"',;)]}", t.s[end]) < 0 ||
			!random(t.s[next:end]) {
			break
		}
		to = end
	}
	return to
}

// nextLine returns where a value begins if nothing follows the separator on its line: on the next
// line, if that has a quoted text, or one word that resembles neither a name nor prose. Otherwise
// it returns that offset.
func (t *text) nextLine(at int) int {
	const shortest = 6
	next := t.lineBreak(at)
	if next == 0 || next >= len(t.s) || t.s[next] == '\n' || t.quoteAt(next) > 0 {
		return max(at, next)
	}
	end := t.unquoted(next, false)
	word := t.s[next:end]
	if t.proseValue(next) == next && strings.HasSuffix(word, ":") && !strings.Contains(word, "=") {
		return next // a message continues after it
	}
	after := t.skip(end, " \t,\r")
	alone := after == len(t.s) || t.s[after] == '\n' || t.quoteAt(end) > 0
	if len(word) < shortest || !alone || setsName(word) || wordy(word) || shown(word) ||
		strings.ContainsAny(word, "()<>[]{}\\") || strings.Contains(word, "://") {
		return at
	}
	return next
}

// setsName reports whether a word sets a variable or opens a block: NAME=value, name:.
func setsName(word string) bool {
	i := 0
	for i < len(word) && isNameByte(word[i]) {
		i++
	}
	if i == len(word) || word[i] != '=' && word[i] != ':' {
		return false
	}
	rest := strings.TrimLeft(word[i:], "=")
	return word[i] == ':' || rest != "" || word[:i] == strings.ToUpper(word[:i]) && len(word)-i == 1
}
