package report

import (
	"strings"
	"testing"

	"assay/internal/test/samplerun"
)

// TestProfile compares the section of a profile with the comment of samplerun.Profile:
// functions by their totals, then by their own time, and the picture.
func TestProfile(t *testing.T) {
	s := samplerun.Profile()
	md := markdownOf(t, s)
	wantText(t, md, "\n## Verdict: hot function\n", "](flame.png)", "](table-functions.png)",
		"Hot function: \"verify\" (judge.py), 70.0% of total time (700 ms of 1 s); limit 50%",
		"- **evidence** callee \"parse\": 92.9% of it (650 ms)",
		"By total (self plus callees):", "By self:")
	totals, self, ok := strings.Cut(md, "By self:")
	if !ok {
		t.Fatal("no table by self time")
	}
	order := func(text string, names ...string) {
		t.Helper()
		last := -1
		for _, name := range names {
			at := strings.Index(text, "| `"+name+"`")
			if at <= last {
				t.Errorf("%s is at %d, the one before it at %d", name, at, last)
			}
			last = at
		}
	}
	order(totals, "main", "serve", "verify", "parse")
	order(self, "parse", "main", "verify")
	if strings.Contains(md, "caller") {
		t.Error("the calls, which are for findings, are a table of the report")
	}
	screen := text(t, Build(s, judged(s)), 80)
	wantText(t, screen, "Verdict: hot function\n", "Functions: % of 1 s time in functions\n")
	if strings.Index(screen, "main.py") > 0 || strings.Count(screen, "  function\n") != 2 {
		t.Errorf("the screen has not two tables of functions:\n%s", screen)
	}
}
