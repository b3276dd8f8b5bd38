package counters

import "unicode/utf8"

// cut returns at most so many bytes of s, at the boundary of a character.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}
