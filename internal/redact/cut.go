package redact

import (
	"strings"
	"unicode/utf8"
)

// Ahead is how many bytes after a cut [Cut] searches together with the text before it. Few secrets
// are longer.
const Ahead = 8 << 10

// Cut returns the beginning of a text, at most the given number of bytes, cut at the boundary of a
// character. It ends before a secret that would be cut, and before one that can be recognized only
// by the text after the cut, because [Mask] would not find the rest of it, and before an email address, which a
// [Redactor] hides. The search reads at most
// [Ahead] bytes after the cut, and a text that is short enough is not searched.
func Cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	const tries = 8 // each try leaves one more secret out
	list := find(text[:min(len(text), most+Ahead)])
	most = beforeEmail(text, most)
	for range tries {
		end := before(list, text, most)
		if most = whole(list, text, end); most == end {
			return text[:end]
		}
	}
	return text[:before(list, text, list[0].from)]
}

// CutBytes is Cut for bytes. It does not change its argument.
func CutBytes(text []byte, most int) []byte {
	if len(text) <= most {
		return text
	}
	return text[:len(Cut(string(text[:min(len(text), most+Ahead)]), most))]
}

// beforeEmail returns the beginning of the email address that would be cut, or else where it would be cut.
func beforeEmail(text string, most int) int {
	const longest = 320 // bytes of an address
	from := max(0, most-longest)
	around := text[from:min(len(text), most+longest)]
	if strings.Contains(around, "@") {
		for _, at := range emails().FindAllStringIndex(around, -1) {
			if from+at[0] < most && most < from+at[1] {
				return from + at[0]
			}
		}
	}
	return most
}

// before returns where to cut a text so that it has at most the given number of bytes: at a
// boundary of characters, and not within a secret.
func before(list []span, text string, most int) int {
	for _, s := range list {
		if s.from < most && most < s.to {
			most = s.from
		}
	}
	for most > 0 && most < len(text) && !utf8.RuneStart(text[most]) {
		most--
	}
	return most
}

// whole returns where the first secret begins that cannot be found in the beginning of the text of
// the given length. If there is none, it returns that length.
func whole(list []span, text string, most int) int {
	if list == nil {
		return most
	}
	found := find(text[:most])
	for _, s := range list {
		if s.to > most {
			break
		}
		for len(found) > 0 && found[0].to < s.to {
			found = found[1:]
		}
		if len(found) == 0 || found[0].from > s.from {
			return s.from
		}
	}
	return most
}
