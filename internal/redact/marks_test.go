package redact

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestIndex: at each place of a text the index has the marks that begin there, those of
// places first and then those of formats in the order of their table.
func TestIndex(t *testing.T) {
	x := newIndex()
	for i, f := range formats {
		if got, want := x.marks[len(places)+i].text, f.compile().mark; got != want || len(got) < 2 {
			t.Errorf("%s: mark %q, want %q", f.Form, got, want)
		}
	}
	rnd := rand.New(rand.NewPCG(8, 1))
	var parts []string
	for _, k := range x.marks {
		parts = append(parts, k.text, strings.ToUpper(k.text), k.text[:len(k.text)-1])
	}
	parts = append(parts, " ", "-", "_", "a", "\x00", "é", "=", "0")
	for range 3000 {
		s := ""
		for range rnd.IntN(8) {
			s += parts[rnd.IntN(len(parts))]
		}
		for i := 0; i+2 < len(s); i++ {
			var got, want []string
			if n := x.lists[three(s[i], s[i+1], s[i+2])]; n != 0 {
				for at := x.heads[n]; at != 0; at = x.links[at].next {
					if k := &x.marks[x.links[at].mark]; k.begin(s[i:]) {
						got = append(got, k.text)
					}
				}
			}
			for _, k := range x.marks {
				if n := len(k.text); n <= len(s)-i && lowerCase(s[i:i+n]) == lowerCase(k.text) {
					want = append(want, k.text)
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%q at %d: marks %q, want %q", s, i, got, want)
			}
		}
	}
}
