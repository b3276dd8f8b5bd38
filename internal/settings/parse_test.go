package settings

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml/parser"

	"assay/internal/test"
)

// steps returns text of at least n bytes whose lines are indented by one more space
// each.
func steps(n int, line string) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		b.WriteString(strings.Repeat(" ", i) + line + "\n")
	}
	return b.String()
}

// laughs returns ten levels of aliases, each of ten of the level before.
func laughs() string {
	var b strings.Builder
	b.WriteString("a0: &a0 lol\n")
	for i := 1; i <= 10; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [%s*a%d]\n", i, i, strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 9), i-1)
	}
	return b.String()
}

// TestParseBombs parses hostile text of up to 200 KB. Each parse stays under 32 MB
// and a second, and each error is one line with its position.
func TestParseBombs(t *testing.T) {
	cases := map[string]string{
		"billion laughs": laughs(),
		"alias loop":     "a: &a [*a]\n",
		"merge":          "a: &x {b: 1}\nc:\n  <<: *x\n",
	}
	const full = MaxBytes - 8
	for _, size := range []int{40_000, full, 80_000, 200_000} {
		for _, unit := range []string{"[", "{", "- ", "a: ", "? ", "[a, ", "{a: ", "!a ", "!!map ", "&a ", "*a ", "a: b\n", "-\n", "- a\n", "|\n", ">\n", "\"", "'", "\\", "#", "#\n", "---\n", "...\n", "%a\n", ",", ":", ": ", "\r", "\t", " ", "\n", "x", "\"a\": ", "]", "}", "[]", "[],", "{}", "- - ", "-\t", "? - ", "a:\n", "a :\n", "?\n", "<<: ", "\x00", "é: ", "@", "`"} {
			cases[fmt.Sprintf("%d of %q", size, unit)] = strings.Repeat(unit, size/len(unit))
			cases[fmt.Sprintf("%d of %q in a list", size, unit)] = "a: [" + strings.Repeat(unit, size/len(unit))
		}
		for _, line := range []string{"a:", "-", "- a:", "? a", "a: [", "a: |"} {
			cases[fmt.Sprintf("%d in steps of %q", size, line)] = steps(size, line)
		}
	}
	for name, text := range cases {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		_, err := Parse([]byte(text))
		took := time.Since(start)
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 32e6 || took > time.Second {
			t.Errorf("%s: %d MB in %v", name, n/1e6, took)
		}
		over := (*LimitError)(nil)
		if errors.As(err, &over) && (over.Line < 1 || over.Column < 1 || strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), fmt.Sprintf("%d: column %d: ", over.Line, over.Column))) {
			t.Errorf("%s: %q", name, err)
		}
		if len(text) > MaxBytes && over == nil {
			t.Errorf("%s: %v, want an error of the limit", name, err)
		}
	}
}

// TestParseLimits checks that a file over a limit returns an error with the position,
// and that a file at the limit is read.
func TestParseLimits(t *testing.T) {
	nested := func(n int) string { return "a: " + strings.Repeat("[", n-1) + strings.Repeat("]", n-1) }
	for in, want := range map[string]string{
		nested(maxDepth):                                       "",
		nested(maxDepth + 1):                                   "1: column 19: values are nested deeper than 16 levels, the limit for settings",
		strings.Repeat("- ", maxDepth+1) + "a":                 "1: column 33: values are nested deeper than 16 levels, the limit for settings",
		strings.Repeat("- ", maxDepth) + "a":                   "",
		"a:\n  b: &x 1\n":                                      "2: column 6: anchors, aliases and merge keys are not supported in settings; write the value out",
		"a:\n  - *x\n":                                         "2: column 5: anchors, aliases and merge keys are not supported in settings; write the value out",
		"# " + strings.Repeat("x", MaxBytes-2):                 "",
		"a: 1\n# " + strings.Repeat("x", MaxBytes):             "2: column 65532: the file has more than 64 KiB, the limit for settings",
		"a: [" + strings.Repeat("1,", maxTokens/2) + "1]":      "1: column 24578: the file has more than 24576 YAML tokens, the limit for settings",
		"a: '[[[[[[[[[[[[[[[[[[[[[[[' # [[[[[[[[[[[[[[[[[[[\n": "",
	} {
		if _, err := Parse([]byte(in)); text(err) != want {
			t.Errorf("%.40q: %q, want %q", in, text(err), want)
		}
	}
}

// TestParseSame: settings that exist are read as the YAML package reads them.
func TestParseSame(t *testing.T) {
	n := 0
	for _, pattern := range []string{"../../gate/*.yaml", "../../analyze/*/*.yaml", "../../judge/*/*.yaml", "../../judge/rule/rules/*.yaml"} {
		for _, path := range test.Files(t, pattern) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			got, err := Parse(append([]byte("\xef\xbb\xbf"), text...))
			want, wrong := parser.ParseBytes(text, 0)
			if err != nil || wrong != nil || got.String() != want.String() {
				t.Errorf("%s: %v, %v", path, err, wrong)
			}
			n++
		}
	}
	if n < 8 {
		t.Errorf("%d files of settings were found", n)
	}
}
