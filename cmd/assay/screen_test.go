package main

import (
	"bytes"
	"strings"
	"testing"

	"assay/internal/label"
)

// TestWidth: text has the columns of --width, and 80 in a pipe, whatever COLUMNS and TERM are. Sentences are no
// longer than 120 columns; tables may be.
func TestWidth(t *testing.T) {
	t.Setenv("COLUMNS", "200")
	t.Setenv("TERM", "xterm-256color")
	const trace = "../../testdata/gen/llm_train_step.json.gz"
	longest := func(args ...string) (n int, text string) {
		text = string(outputOf(t, append([]string{"summary", trace}, args...)...))
		for line := range strings.Lines(text) {
			n = max(n, label.Width(strings.TrimSuffix(line, "\n")))
		}
		return n, text
	}
	n, usual := longest()
	if n > 80 || n < 70 || strings.Contains(usual, "\x1b") {
		t.Errorf("a pipe has %d columns", n)
	}
	if _, same := longest("--width", "80"); same != usual {
		t.Error("80 columns differ from a pipe")
	}
	for _, width := range []string{"80", "100", "120", "200"} {
		most := map[string]int{"80": 80, "100": 100, "120": 120, "200": 200}[width]
		n, text := longest("--width", width)
		if n > most || most > 80 && n <= 80 {
			t.Errorf("--width %s has %d columns", width, n)
		}
		if most > 80 && strings.Count(text, "\n") > strings.Count(usual, "\n") {
			t.Errorf("--width %s has more lines than 80 columns", width)
		}
	}
	var stdout, stderr bytes.Buffer
	if status := run(env{strings.NewReader(""), &stdout, &stderr}, []string{"summary", trace, "--width", "10"}); status != exitUsage ||
		!strings.Contains(stderr.String(), "--width is 10, want 80 or more") {
		t.Errorf("--width 10: %d, %s", status, stderr.String())
	}
}

// TestColors: colors change nothing but titles, levels and results.
func TestColors(t *testing.T) {
	const plain = "Verdict: host-bound\n  Cause: x\n\nFindings\n  warning  GPU idle: 20%\n           Fix: y\n  critical z\n\nGates: fail\n  pass a\n  passage b\n"
	const want = "\x1b[1mVerdict\x1b[0m: host-bound\n  Cause: x\n\n\x1b[1mFindings\x1b[0m\n  \x1b[33mwarning\x1b[0m  GPU idle: 20%\n           Fix: y\n" +
		"  \x1b[31mcritical\x1b[0m z\n\n\x1b[1mGates\x1b[0m: fail\n  \x1b[32mpass\x1b[0m a\n  passage b\n"
	if got := colors(plain); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
