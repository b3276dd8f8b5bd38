package label

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable escapes unprintable characters (control characters, line breaks, marks that change the
// direction of text, invalid UTF-8) as [strconv.Quote] does. It adds no quotes, and does not escape
// quotes and backslashes.
func Printable(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r == utf8.RuneError || !strconv.IsPrint(r) }) {
		return s // nearly always; avoids copies of long names
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

// NoFormula puts an apostrophe before a text that a spreadsheet would take for a formula.
// Such a text can come from the names of a trace, and a formula can send data away. Some spreadsheets drop
// white space before a formula, and some, set to an Asian language, know the wide forms of its first character.
func NoFormula(text string) string {
	first, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(text, unicode.IsSpace))
	if strings.ContainsRune("=+-@＝＋－＠", first) || strings.HasPrefix(text, "\t") || strings.HasPrefix(text, "\r") {
		return "'" + text
	}
	return text
}
