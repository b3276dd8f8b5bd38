package bench

import (
	"strings"
	"testing"
)

// TestEscapes: characters that are written as numbers are those characters, so that secrets
// among them are found. A lone surrogate stands for no character.
func TestEscapes(t *testing.T) {
	for text, want := range map[string]string{
		`h\u0066_AbC`:                "hf_AbC",
		`https\u003a//bob\u003Ax@y`:  "https://bob:x@y",
		`Qwen\u6a21\u578b`:           "Qwen模型",
		`\ud83d\ude80 go`:            "🚀 go",
		`\ud83d go`:                  "\uFFFD go",
		`a\u001b[31mb\nc`:            "a\x1b[31mb\nc",
		`\uzzzz.`:                    "\uFFFD.",
		strings.Repeat(`\u4e2d`, 90): strings.Repeat("中", 86), // up to the limit of 256 bytes and one character
	} {
		var got []value
		if err := flatten(strings.NewReader(`{"model_id":"`+text+`"}`), func(values []value, _ int64) { got = values }); err != nil || len(got) != 1 || got[0].text != want {
			t.Errorf("%s is %+v, %v; want %q", text, got, err, want)
		}
	}
}
