package label

import "testing"

func TestPrintable(t *testing.T) {
	for s, want := range map[string]string{
		"plain é 漢 \"q\" \\":       "plain é 漢 \"q\" \\",
		"\x1b[31m\x00\x7f":         `\x1b[31m\x00\x7f`,
		"a\nb\r\tc":                `a\nb\r\tc`,
		"\u0085\u009b":             `\u0085\u009b`,
		"\x9b31m\xff":              `\x9b31m\xff`,
		"\u202a\u202e\u2066\u2069": `\u202a\u202e\u2066\u2069`,
		"\u2028\ufeff\ufffd":       `\u2028\ufeff` + "\ufffd",
	} {
		if got := Printable(s); got != want {
			t.Errorf("Printable(%q) = %s, want %s", s, got, want)
		}
	}
}
