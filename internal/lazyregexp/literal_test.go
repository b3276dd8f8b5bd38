package lazyregexp

import (
	"regexp"
	"testing"
)

func TestLiteral(t *testing.T) {
	for _, text := range []string{"", "a", `Memcpy HtoD (Pinned -> Device)`, `void f<4, int>(a::b*, "x"\y)`, "日本", "a$", "^", `\`} {
		got, ok := Literal("^" + regexp.QuoteMeta(text) + "$")
		if !ok || got != text {
			t.Errorf("%q: %q %t", text, got, ok)
		}
	}
	for _, expr := range []string{"", "^", "$", "^a", "a$", "^a.$", "^a|b$", `^a\$`, `^a\d$`, "^(?i)a$", "^a*$", "^[a]$", "^\xff$"} {
		if got, ok := Literal(expr); ok {
			t.Errorf("%q matches more or other texts than %q", expr, got)
		}
	}
}
