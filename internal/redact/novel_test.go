package redact

import (
	"hash/maphash"
	"math/rand/v2"
	"strings"
	"testing"

	"assay/internal/test"
)

// TestQuoted compares with the search by single bytes: strings of few characters, so that quotes and backslashes are
// at every place of a word. Equal strings have equal hashes, and others of the same test never.
func TestQuoted(t *testing.T) {
	n, rnd := newNovelty(maphash.MakeSeed()), rand.New(rand.NewPCG(test.Seed(t), 1))
	texts := make(map[uint64]string)
	for range 50_000 {
		var b strings.Builder
		for range rnd.IntN(40) {
			b.WriteByte(`aaaab\"  :`[rnd.IntN(10)])
		}
		// Bytes that differ from a quote or a backslash by one bit, and after them the end.
		text := b.String() + "#!\x5d\xdc\"\x00\x01\xa2:\"\\"
		for from := range len(text) {
			end, plain := closing(text, from)
			gotEnd, gotPlain, hash := n.quoted(text, from)
			if gotEnd != end || gotPlain != plain {
				t.Fatalf("%q from %d ends at %d, plain %v, want %d, %v", text, from, gotEnd, gotPlain, end, plain)
			}
			if other, ok := texts[hash]; ok && other != text[from:end] {
				t.Fatalf("%q and %q have one hash", other, text[from:end])
			}
			texts[hash] = text[from:end]
			if got, want := quote(text[from:]), strings.IndexByte(text[from:], '"'); got != want {
				t.Fatalf("the first quote of %q is at %d, want %d", text[from:], got, want)
			}
		}
	}
	for _, text := range []string{"", "a", "12345678", "123456789", strings.Repeat("name", 20)} {
		_, _, one := n.quoted(text+`", "ts": 12345`, 0)
		_, _, two := n.quoted("xyz\""+text+`"}, {"ph": "X"}`, 4)
		if one != two {
			t.Errorf("%q has two hashes", text)
		}
	}
}
