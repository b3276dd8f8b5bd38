package redact

import "strings"

// Line returns a line as a screen shows it, so that a reader that splits it does not part a secret
// at something invisible. If the line has escapes, its secrets are masked, because a reader may
// split it at an escape, too. Few lines have either: Line returns any other line itself.
func Line(line []byte) []byte {
	escapes, unseen := false, false
	for i := 0; i < len(line); i++ {
		for i+4 <= len(line) && (coded[line[i]]|coded[line[i+1]]|coded[line[i+2]]|coded[line[i+3]])&^ofRun == 0 {
			i += 4
		}
		if i == len(line) {
			break
		}
		c := line[i]
		class := coded[c]
		if class&^ofRun == 0 {
			continue
		}
		if i+1 == len(line) {
			unseen = unseen || c == 0x1b
			break
		}
		escapes = escapes || class&ofEscape != 0 && mayEscape(c, line[i+1])
		if class&ofHidden != 0 && !unseen && mayHide(c, line[i+1]) {
			unseen = c != '[' || colour(string(line[i:min(len(line), i+longestColour)])) > 0
		}
	}
	if !escapes && !unseen {
		return line
	}
	text := string(line)
	if escapes { // before what looks like a colour is taken out of escapes
		if plain, _ := unescape(text); plain == "" {
			escapes = false
		} else {
			text = Mask(text)
		}
	}
	if unseen {
		text = printed(text)
	}
	if escapes && unseen {
		text = Mask(text) // an escape may have been in two parts
	}
	if text == string(line) {
		return line
	}
	return []byte(text)
}

// printed returns s without what a screen does not show. Characters that separate stay.
func printed(s string) string {
	var out strings.Builder
	done := 0
	for i := 0; i < len(s); {
		n, instead := 0, byte(0)
		if coded[s[i]]&ofHidden != 0 {
			n, instead = hidden(s, i)
		}
		switch {
		case endless(s[i:]):
			return out.String() + s[done:i]
		case n == 0:
			n = 1
		case instead == 0:
			out.WriteString(s[done:i])
			done = i + n
		}
		i += n
	}
	out.WriteString(s[done:])
	return out.String()
}

// visible returns s without what a screen does not show: colour sequences of a terminal, zero-width
// characters, control characters, and line breaks after a backslash. Characters that separate
// become their usual form: a null character between two settings, a lone carriage return, a
// vertical tab and a form feed become line breaks, a no-break space becomes a space, and full-width
// colons and equals signs become ASCII.
//
// It returns "" if s has nothing to remove. At has the offset in s for each byte of the result and
// for its end.
func visible(s string) (plain string, at []int) {
	var out []byte
	done := 0
	for i := 0; i < len(s); {
		n, instead := 0, byte(0)
		if coded[s[i]]&ofHidden != 0 {
			n, instead = hidden(s, i)
		}
		if n == 0 {
			i++
			continue
		}
		if at == nil {
			at = make([]int, 0, len(s)+1)
		}
		for ; done < i; done++ {
			out, at = append(out, s[done]), append(at, done)
		}
		if instead != 0 {
			out, at = append(out, instead), append(at, i)
		}
		i += n
		done = i
	}
	if at == nil {
		return "", nil
	}
	for ; done < len(s); done++ {
		out, at = append(out, s[done]), append(at, done)
	}
	return string(out), append(at, len(s))
}

// endless reports whether s begins with a control sequence of a terminal that its end cuts.
func endless(s string) bool {
	switch {
	case strings.HasPrefix(s, "\x1b["):
		return strings.IndexFunc(s[2:], func(r rune) bool { return '@' <= r && r <= '~' }) < 0
	case strings.HasPrefix(s, "\x1b]"):
		return !strings.ContainsAny(s[2:], "\a\x1b")
	}
	return false
}

// hidden returns the number of bytes at s[i:] that a screen does not show, and the byte that
// replaces them (0 for none).
func hidden(s string, i int) (size int, instead byte) {
	c := s[i]
	switch {
	case c == 0x1b:
		return sequence(s[i:]), 0
	case c == '[':
		return colour(s[i:]), 0
	case c == 0:
		return null(s, i)
	case c == '\\' || c == '^' || c == '`':
		return continued(s[i:]), 0
	case c == '\r' && i+1 < len(s) && s[i+1] == '\n':
		return 0, 0
	case c == '\v' || c == '\f' || c == '\r':
		return 1, '\n'
	case c < ' ' || c == 0x7f:
		return 1, 0
	}
	switch rest := s[i:]; {
	case strings.HasPrefix(rest, "："):
		return len("："), ':'
	case strings.HasPrefix(rest, "＝"):
		return len("＝"), '='
	case strings.HasPrefix(rest, "\u00a0"):
		return 2, ' '
	case strings.HasPrefix(rest, "\u00ad"):
		return 2, 0
	case strings.HasPrefix(rest, "\u0085"):
		return 2, '\n'
	case len(rest) > 1 && c == 0xc2 && rest[1] < 0xa0: // a control character of 8 bits is an escape and a letter
		return max(2, sequence("\x1b"+string(rest[1]-0x40)+rest[2:min(len(rest), longestText)])), 0
	case len(rest) < 3:
		return 0, 0
	case rest[:2] == "\xe2\x80" && (0x8b <= rest[2] && rest[2] <= 0x8f || 0xaa <= rest[2] && rest[2] <= 0xae),
		rest[:2] == "\xe2\x81" && 0xa0 <= rest[2] && rest[2] <= 0xaf,
		rest[:2] == "\xef\xb8" && 0x80 <= rest[2] && rest[2] <= 0x8f,
		strings.HasPrefix(rest, "\ufeff"), strings.HasPrefix(rest, "\u180e"):
		return 3, 0
	}
	return 0, 0
}

// sequence returns the length of the control sequence of a terminal that s begins
// with, or of its first character alone.
func sequence(s string) int {
	if len(s) < 2 {
		return 1
	}
	switch s[1] {
	case '[':
		for i := 2; i < len(s); i++ {
			if c := s[i]; 0x40 <= c && c <= 0x7e {
				return i + 1
			} else if c < 0x20 || c > 0x7e {
				break
			}
		}
	case ']', 'P', '^', '_', 'X': // a title, a link and others that have a text
		if end := strings.IndexAny(s[2:min(len(s), longestText)], "\a\x1b\n"); end >= 0 && s[2+end] == '\a' {
			return 2 + end + 1
		} else if end >= 0 && strings.HasPrefix(s[2+end:], "\x1b\\") {
			return 2 + end + 2
		}
	case '(', ')':
		return min(len(s), 3)
	case '=', '>', '7', '8', 'c', 'M':
		return 2
	}
	return 1
}

const (
	longestColour = 20
	longestText   = 2048 // of a sequence
)

// colour returns the length of the sequence of colours that s begins with, whose
// control character a reader has taken away, or 0.
func colour(s string) int {
	for i := 1; i < min(len(s), longestColour); i++ {
		switch c := s[i]; {
		case '0' <= c && c <= '9' || c == ';':
		case c == 'm' && i > 1:
			return i + 1
		default:
			return 0
		}
	}
	return 0
}

// null returns the length of a null character and what replaces it. Lists of
// variables and of arguments separate their entries by it; text of 16 bits has one in
// each character.
func null(s string, i int) (size int, instead byte) {
	if i > 1 && s[i-2] == 0 || i+2 < len(s) && s[i+2] == 0 {
		return 1, 0
	}
	if i+1 < len(s) && s[i+1] == '-' {
		return 1, '\n'
	}
	flag := i
	for low := max(0, i-longestName); flag > low && isNameByte(s[flag-1]); {
		flag--
	}
	if flag < i && s[flag] == '-' {
		return 1, ' '
	}
	k := i + 1
	for end := min(len(s), k+longestName); k < end && (isAlnum(s[k]) || s[k] == '_'); {
		k++
	}
	if k > i+1 && k < len(s) && s[k] == '=' {
		return 1, '\n'
	}
	return 1, 0
}

// continued returns the length of the mark by which a shell continues a line, with
// the line break, or 0.
func continued(s string) int {
	switch {
	case strings.HasPrefix(s[1:], "\n"):
		return 2
	case strings.HasPrefix(s[1:], "\r\n"):
		return 3
	}
	return 0
}

// unseen looks for secrets in s without what a screen does not show. It returns t, or
// a new text if t is nil and there are some.
func (t *text) unseen(x *index, s string, depth int) *text {
	plain, at := visible(s)
	if plain == "" {
		return t
	}
	for _, f := range findIn(x, plain, depth+1) {
		if t == nil {
			t = newText(s)
		}
		t.add(span{f.kind, at[f.from], at[f.to-1] + 1, f.token})
	}
	return t
}
