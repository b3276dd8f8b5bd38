package redact

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"assay/internal/test"
)

// TestNamesOfLogs: no name that a benchmark, server or trainer prints, with the numbers and words that such names
// have, is taken for a secret; many of them have the word "token".
func TestNamesOfLogs(t *testing.T) {
	names, lines := map[string]bool{}, 0
	word := regexp.MustCompile(`[A-Za-z_*][\w.*/-]{3,}`)
	for _, pattern := range []string{"forms/*.yaml", "bench/producers.txt", "bench/testdata/*", "config/settings.txt", "monitor/columns.txt", "metrics.txt"} {
		for _, path := range test.Files(t, filepath.Join("..", "..", "logs", filepath.FromSlash(pattern))) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(text)) {
				lines++
				if got := Mask(line); got != line {
					t.Errorf("%s: %q became %q", path, line, got)
				}
				for _, name := range word.FindAllString(line, -1) {
					names[strings.ReplaceAll(name, "*", "p99")] = true
				}
			}
		}
	}
	delete(names, "token") // a flag of that name is a secret
	delete(names, "Token")
	for name := range names {
		for _, value := range []string{"0.020813957", "128", "16384", "-1.5e-05", "1234567.8", "auto", "inf", "True"} {
			for _, form := range []string{`"%s": %s`, `"%s": "%s"`, "results_%[1]s_quantiles_%[1]s=%[2]s", "%s: %s", "%s=%s, ", "--%s=%s", "timing/%s:%s"} {
				text := fmt.Sprintf(form, name, value)
				if got := Mask(text); got != text {
					t.Errorf("%q became %q", text, got)
				}
			}
		}
	}
	if len(names) < 1000 || lines < 2000 {
		t.Errorf("%d names, %d lines", len(names), lines)
	}
}
