package lazyregexp

import (
	"strings"
	"unicode/utf8"
)

// special has the characters that [regexp.QuoteMeta] quotes.
const special = `\.+*?()|[]{}^$`

// Literal returns the only text that an expression such as ^a\.b$ matches, and whether it has that form. To compare the
// names of kernels, which are long, takes less time than to compile them.
func Literal(expr string) (text string, ok bool) {
	inner, begins := strings.CutPrefix(expr, "^")
	inner, ends := strings.CutSuffix(inner, "$")
	if !begins || !ends || !utf8.ValidString(inner) {
		return "", false
	}
	out := make([]byte, 0, len(inner))
	for i := 0; i < len(inner); i++ {
		if inner[i] == '\\' && i+1 < len(inner) && strings.IndexByte(special, inner[i+1]) >= 0 {
			i++
		} else if strings.IndexByte(special, inner[i]) >= 0 {
			return "", false
		}
		out = append(out, inner[i])
	}
	return string(out), true
}
