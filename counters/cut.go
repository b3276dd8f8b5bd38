package counters

import "unicode/utf8"

// cut returns at most the given number of bytes of s, ending at the boundary of
// a character.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}
