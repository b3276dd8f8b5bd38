package label

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Printable replaces what does not print (control characters, line breaks, marks
// that change the direction of text, bytes that are not UTF-8) as
// [strconv.Quote] does. It adds no quotes, and leaves quotes and backslashes.
func Printable(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r == utf8.RuneError || !strconv.IsPrint(r) }) {
		return s // as nearly all are, and one long name can be in many rows
	}
	var b strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		if strconv.IsPrint(r) && (r != utf8.RuneError || size > 1) {
			b.WriteString(s[:size])
		} else {
			quoted := strconv.Quote(s[:size])
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		s = s[size:]
	}
	return b.String()
}
