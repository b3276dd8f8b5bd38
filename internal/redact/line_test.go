package redact

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// TestLine: a line is as a screen shows it, and what hides a secret from a reader that splits the
// line does not reach the reader.
func TestLine(t *testing.T) {
	token := "ghp_" + fake(36)
	first, rest := token[:20], token[20:]
	for _, between := range []string{
		"\x1bPq\x1b\\", "\x1b]8;;https://h/x\x1b\\", "\x1b]0;t\a", "\x1b[1;31m", "[0m", "\u200b", "\u00ad", "\x01", "\x1b(B", "\x7f",
	} {
		if got := string(Line([]byte("timing/a_" + first + between + rest + ":1.0"))); got != "timing/a_"+token+":1.0" {
			t.Errorf("%q became %q", between, got)
		}
	}
	for _, c := range []byte(rest[:1]) {
		for _, form := range []string{"%%%02X", `\x%02x`, `\u%04x`, `\u{%x}`, `\%03o`, "&#%d;"} {
			got := string(Line([]byte("timing/" + first + fmt.Sprintf(form, c) + rest[1:] + ":1.0")))
			if strings.Contains(got, rest[1:]) || strings.Contains(got, first) || !strings.HasPrefix(got, "timing/[") {
				t.Errorf("%q became %q", form, got)
			}
		}
	}
	value := fake(13)
	if got := string(Line([]byte(`g{a="\\x1b[36mapi_key\\x1b[0m=\\x1b[35m` + value + `\\x1b[0m"} 4`))); strings.Contains(got, value) {
		t.Errorf("a setting in escaped colours became %q", got)
	}
	for line, want := range map[string]string{
		"\x1b[36m(TaskRunner pid=7)\x1b[0m step:1 - loss:2": "(TaskRunner pid=7) step:1 - loss:2",
		"\u009b36m(TaskRunner pid=7)\u009b0m step:1\u0084":  "(TaskRunner pid=7) step:1",
		"a\x1b[":              "a",
		"a\x1b":               "a",
		"\x1b]8;;https://cut": "",
		"x：1\x00=2":           "x：1=2",
		`45%| C:\new [0] a&b`: `45%| C:\new [0] a&b`,
	} {
		if got := string(Line([]byte(line))); got != want {
			t.Errorf("%q became %q, want %q", line, got, want)
		}
	}
	plain := []byte("token usage: 0.50, #queue-req: 2, 45%| [3] a^b")
	if got := Line(plain); &got[0] != &plain[0] || !bytes.Equal(got, plain) {
		t.Errorf("%q was copied", plain)
	}
}
