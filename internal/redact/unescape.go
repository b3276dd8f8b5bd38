package redact

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// unescape decodes one layer of escapes in a text: those of URLs (%3D), of strings in programs and
// JSON (\n, \x1b, \033, \u003d, \") and of HTML (&quot;, &#61;). It returns "" if there are none.
// At has the offset in s for each byte of the result and for its end.
func unescape(s string) (plain string, at []int) {
	var out []byte
	done := 0
	for i := 0; i < len(s); {
		var r rune
		n := 0
		switch s[i] {
		case '%':
			r, n = percent(s[i:])
		case '\\':
			r, n = backslash(s[i:])
		case '&':
			r, n = entity(s[i:])
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
		before := len(out)
		if r < utf8.RuneSelf || s[i] == '%' {
			out = append(out, byte(r))
		} else {
			out = utf8.AppendRune(out, r)
		}
		for range len(out) - before {
			at = append(at, i)
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

// number returns the value of the first size digits of a base; ok is false if s has fewer digits.
func number(s string, size, base int) (r rune, ok bool) {
	if len(s) < size {
		return 0, false
	}
	n, err := strconv.ParseUint(s[:size], base, 21)
	return rune(n), err == nil
}

func percent(s string) (r rune, size int) {
	if r, ok := number(s[1:], 2, 16); ok {
		return r, 3
	}
	return 0, 0
}

// letters has the meanings of letters after a backslash.
var letters = map[byte]rune{'n': '\n', 'r': '\r', 't': '\t', 'a': '\a', 'b': '\b', 'f': '\f', 'v': '\v', 'e': '\x1b', '"': '"', '\'': '\'', '\\': '\\', '/': '/'}

func backslash(s string) (r rune, size int) {
	if len(s) < 2 {
		return 0, 0
	}
	if r, n := braced(s); n > 0 {
		return r, n
	}
	switch s[1] {
	case 'x':
		if r, ok := number(s[2:], 2, 16); ok {
			return r, 4
		}
	case 'u':
		if r, ok := number(s[2:], 4, 16); ok {
			return r, 6
		}
	case 'U':
		if r, ok := number(s[2:], 8, 16); ok {
			return r, 10
		}
	case '0', '1', '2', '3':
		if r, ok := number(s[1:], 3, 8); ok {
			return r, 4
		}
	default:
		if r, ok := letters[s[1]]; ok {
			return r, 2
		}
	}
	return 0, 0
}

// braced reads an escape whose digits are in braces: \u{48}, \x{48}.
func braced(s string) (r rune, size int) {
	const most = 6
	if len(s) < 5 || s[1] != 'u' && s[1] != 'x' || s[2] != '{' {
		return 0, 0
	}
	n := strings.IndexByte(s[3:min(len(s), 4+most)], '}')
	if n < 1 {
		return 0, 0
	}
	r, ok := number(s[3:], n, 16)
	if !ok {
		return 0, 0
	}
	return r, n + len(`\u{}`)
}

// entities are the named HTML entities that can be part of values.
var entities = map[string]rune{"quot": '"', "apos": '\'', "amp": '&', "lt": '<', "gt": '>', "equals": '=',
	"colon": ':', "nbsp": ' '}

func entity(s string) (r rune, size int) {
	const longest = 10
	end := strings.IndexByte(s[:min(len(s), longest)], ';')
	if end < 2 {
		return 0, 0
	}
	name, base := s[1:end], 10
	if r, ok := entities[name]; ok {
		return r, end + 1
	}
	if name[0] != '#' {
		return 0, 0
	}
	digits := name[1:]
	if rest, ok := strings.CutPrefix(strings.ToLower(digits), "x"); ok {
		digits, base = rest, 16
	}
	if digits == "" {
		return 0, 0
	}
	if r, ok := number(digits, len(digits), base); ok {
		return r, end + 1
	}
	return 0, 0
}
