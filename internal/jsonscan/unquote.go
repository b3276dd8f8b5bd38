package jsonscan

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Unquote returns the text encoded by raw, the content of a JSON string. It
// returns raw itself if nothing is escaped and otherwise appends to dst. A
// backslash that does not start a known escape is kept, as in the Windows paths
// that some profilers write.
func Unquote(dst, raw []byte) []byte {
	i := bytes.IndexByte(raw, '\\')
	if i < 0 {
		return raw
	}
	dst = append(dst[:0], raw[:i]...)
	for i < len(raw) {
		c := raw[i]
		if c != '\\' || i+1 >= len(raw) {
			dst = append(dst, c)
			i++
			continue
		}
		var n int
		dst, n = unescape(dst, raw[i:])
		i += n
	}
	return dst
}

// unescape appends the text of the escape at the start of s and returns the
// number of bytes of s that it used.
func unescape(dst, s []byte) ([]byte, int) {
	switch s[1] {
	case '"', '\\', '/':
		return append(dst, s[1]), 2
	case 'b':
		return append(dst, '\b'), 2
	case 'f':
		return append(dst, '\f'), 2
	case 'n':
		return append(dst, '\n'), 2
	case 'r':
		return append(dst, '\r'), 2
	case 't':
		return append(dst, '\t'), 2
	case 'u':
		if r, ok := hex4(s); ok {
			if second, ok := hex4(s[6:]); ok && utf16.IsSurrogate(r) {
				if pair := utf16.DecodeRune(r, second); pair != utf8.RuneError {
					return utf8.AppendRune(dst, pair), 12
				}
			}
			return utf8.AppendRune(dst, r), 6
		}
	}
	return append(dst, '\\'), 1
}

// hex4 reads the escape \uXXXX at the start of s.
func hex4(s []byte) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(s[2:6]), 16, 32)
	return rune(n), err == nil
}
