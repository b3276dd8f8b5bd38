package jsonscan

import (
	"encoding/json"
	"testing"
)

// TestAppendPrintable: what is escaped reads back as it was, and nothing is left
// that a terminal might obey.
func TestAppendPrintable(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{`"plain <T> é 中 😀"`, `"plain <T> é 中 😀"`},
		{"\"del\x7f csi\u009b nel\u0085 rlo\u202e nbsp\u00a0\"", `"del\u007f csi\u009b nel\u0085 rlo\u202e nbsp\u00a0"`},
		{`"already \u001b"`, `"already \u001b"`},
	} {
		got := string(appendPrintable(nil, []byte(tt.in)))
		if got != tt.want {
			t.Errorf("appendPrintable(%q) = %s, want %s", tt.in, got, tt.want)
		}
		var a, b string
		if json.Unmarshal([]byte(tt.in), &a) != nil || json.Unmarshal([]byte(got), &b) != nil || a != b {
			t.Errorf("%s reads back as %q, want %q", got, b, a)
		}
	}
}
