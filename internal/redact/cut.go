package redact

import "unicode/utf8"

// Ahead is how many bytes behind a cut [Cut] searches with what precedes it. Few
// secrets are longer.
const Ahead = 8 << 10

// Cut returns at most the given number of bytes of a text, from its beginning to the
// boundary of a character. It ends before a secret that would be cut, or that is known
// only by what follows: [Mask] would not find the rest of it. The search looks at no
// more than [Ahead] bytes behind the cut, and a text that is not cut is not searched.
func Cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	const tries = 8 // each leaves a secret out
	list := find(text[:min(len(text), most+Ahead)])
	for range tries {
		end := before(list, text, most)
		if most = whole(list, text, end); most == end {
			return text[:end]
		}
	}
	return text[:before(list, text, list[0].from)]
}

// CutBytes returns what [Cut] does of a text in bytes, which it does not change.
func CutBytes(text []byte, most int) []byte {
	if len(text) <= most {
		return text
	}
	return text[:len(Cut(string(text[:min(len(text), most+Ahead)]), most))]
}

// before returns where a text is cut that is to have at most the given number of bytes:
// at a boundary of characters, and not within a secret.
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

// whole returns where the first secret of a text begins that is not found in its
// beginning of the given length, or that length.
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
