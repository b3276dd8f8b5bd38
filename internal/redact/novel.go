package redact

import (
	"hash/maphash"
	"strings"
)

// A novelty knows which strings of a JSON text were seen, each together with the string before it. A trace has a
// few thousand such pairs and repeats them millions of times: only what is new can have a secret that was not
// counted yet. Pairs and not strings, because a name such as "token" makes a secret of the value after it.
//
// It is a cache of fixed size: a pair that another one replaced is searched again.
type novelty struct {
	seed maphash.Seed
	seen [1 << 15]uint64 // hashes of pairs, each at the place of its first bits
}

const (
	context = 512         // what is searched before a new pair
	behind  = 512         // and at least after it
	longGap = 256         // bytes between two strings that are searched as well
	little  = 4 * context // a shorter text is searched whole
)

// A stretch is a part of a text.
type stretch struct{ from, to int }

// of returns the stretches of a text that must be searched, in order. It is the whole text if that is no JSON. Strings
// that end after an offset are not remembered, because the text after it comes again with the next one.
func (n *novelty) of(text string, again int) (list []stretch) {
	at := firstKey(text)
	if at < 0 || len(text) < little {
		return []stretch{{0, len(text)}}
	}
	now := stretch{0, at + behind}
	last, previous := uint64(0), 0 // the string before: its hash and its offset
	for at < len(text) {
		open := strings.IndexByte(text[at:], '"')
		if open < 0 || open > longGap {
			now, list = now.with(at, min(len(text), at+max(open, 0)+behind), list)
		}
		if open < 0 {
			break
		}
		from := at + open + 1
		end, plain := closing(text, from)
		hash := maphash.String(n.seed, text[from:end])
		pair := hash ^ (last<<13 | last>>51)
		if slot := &n.seen[pair>>(64-15)]; *slot != pair || !plain {
			if end < again {
				*slot = pair
			}
			now, list = now.with(previous-context, end+behind, list)
		} else if now.to < end && now.to > from {
			now.to = end // a secret is not cut
		}
		last, previous, at = hash, from, end+1
	}
	now.to = min(now.to, len(text))
	return append(list, now)
}

// with adds a part to the last stretch if they touch, and otherwise begins another one.
func (s stretch) with(from, to int, list []stretch) (stretch, []stretch) {
	if from <= s.to {
		s.to = max(s.to, to)
		return s, list
	}
	return stretch{from, to}, append(list, s)
}

// firstKey returns the offset behind the first key of an object, or -1. A text that was cut may begin within a
// string, so that only the colon after a quote tells where strings end.
func firstKey(text string) int {
	for at := 0; ; {
		i := strings.IndexByte(text[at:], '"')
		if i < 0 {
			return -1
		}
		if at += i + 1; at < len(text) && text[at] == ':' && (at < 2 || text[at-2] != '\\') {
			return at
		}
	}
}

// closing returns where the string ends that begins at an offset, and whether it has no escape.
func closing(text string, from int) (end int, plain bool) {
	plain = true
	for end = from; ; end++ {
		i := strings.IndexByte(text[end:], '"')
		if i < 0 {
			return len(text), false
		}
		end += i
		escapes := 0
		for end-1-escapes >= from && text[end-1-escapes] == '\\' {
			escapes++
		}
		plain = plain && escapes == 0
		if escapes%2 == 0 {
			return end, plain
		}
	}
}
