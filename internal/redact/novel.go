package redact

import (
	"hash/maphash"
	"math/bits"
	"strings"
)

// A novelty knows which strings of a JSON text were seen, each together with the string before it. A trace has a
// few thousand such pairs and repeats them millions of times: only what is new can have a secret that was not
// counted yet. Pairs and not strings, because a name such as "token" makes a secret of the value after it.
//
// It is a cache of fixed size: a pair that another one replaced is searched again.
type novelty struct {
	seed          maphash.Seed
	start, factor uint64          // random, for hashes of short strings
	seen          [1 << 15]uint64 // hashes of pairs, each at the place of its first bits
}

const (
	context = 512         // what is searched before a new pair
	behind  = 512         // and at least after it
	longGap = 256         // bytes between two strings that are searched as well
	little  = 4 * context // a shorter text is searched whole
)

// A stretch is a part of a text.
type stretch struct{ from, to int }

func newNovelty(seed maphash.Seed) *novelty {
	return &novelty{seed: seed, start: maphash.String(seed, "start"), factor: maphash.String(seed, "factor")}
}

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
		open := quote(text[at:])
		if open < 0 || open > longGap {
			now, list = now.with(at, min(len(text), at+max(open, 0)+behind), list)
		}
		if open < 0 {
			break
		}
		from := at + open + 1
		end, plain, hash := n.quoted(text, from)
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

// The eight bytes of a word are compared with a character at once.
const (
	ones    = 0x0101010101010101
	quotes  = '"' * ones
	escapes = '\\' * ones
)

// word returns the first eight bytes of a text.
func word(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// zeros has the highest bit of the first byte of w that is 0. What it has of later bytes means nothing.
func zeros(w uint64) uint64 { return (w - ones) &^ w & (ones << 7) }

// quote returns the offset of the first quote in a text, or -1. It is mostly near.
func quote(text string) int {
	if len(text) >= 8 {
		if found := zeros(word(text) ^ quotes); found != 0 {
			return bits.TrailingZeros64(found) / 8
		}
	}
	return strings.IndexByte(text, '"')
}

// quoted returns where the string ends that begins at an offset, whether it has no escape, and its hash. Most strings
// are shorter than a call of the functions that search and hash long ones is worth.
func (n *novelty) quoted(text string, from int) (end int, plain bool, hash uint64) {
	for end, hash = from, n.start; len(text)-end >= 8; end += 8 {
		w := word(text[end:])
		found, escaped := zeros(w^quotes), zeros(w^escapes)
		if found == 0 && escaped == 0 {
			hash = n.mix(hash, w)
			continue
		}
		shift := bits.TrailingZeros64(found) &^ 7
		if bits.TrailingZeros64(escaped) < shift {
			break
		}
		return end + shift/8, true, n.mix(n.mix(hash, w&(1<<shift-1)), uint64(shift))
	}
	end, plain = closing(text, from)
	return end, plain, maphash.String(n.seed, text[from:end])
}

// mix adds eight bytes to a hash. A text cannot be made to collide, because the factors are random.
func (n *novelty) mix(hash, w uint64) uint64 {
	high, low := bits.Mul64(hash^n.factor, w^n.start)
	return high ^ low
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
