package label

import (
	"math/rand/v2"
	"testing"
)

// slowEdits is the definition: the first bytes are equal, or one of three edits is made.
func slowEdits(a, b string) int {
	switch {
	case a == "" || b == "":
		return len(a) + len(b)
	case a[0] == b[0]:
		return slowEdits(a[1:], b[1:])
	}
	return 1 + min(slowEdits(a[1:], b), slowEdits(a, b[1:]), slowEdits(a[1:], b[1:]))
}

// TestEdits compares with the definition, on random texts of few letters.
func TestEdits(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	text := func() string {
		b := make([]byte, r.IntN(7))
		for i := range b {
			b[i] = "abc"[r.IntN(3)]
		}
		return string(b)
	}
	for range 2000 {
		a, b := text(), text()
		if got, want := Edits(a, b), slowEdits(a, b); got != want {
			t.Errorf("Edits(%q, %q) = %d, want %d", a, b, got, want)
		}
		want := len(a)
		for i := range len(b) + 1 {
			want = min(want, slowEdits(a, b[:i]))
		}
		if got := EditsOfStart(a, b); got != want {
			t.Errorf("EditsOfStart(%q, %q) = %d, want %d", a, b, got, want)
		}
	}
}
