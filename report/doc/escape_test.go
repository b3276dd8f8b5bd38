package doc

import (
	"strings"
	"testing"

	"assay/internal/test/marktest"
	"assay/internal/test/samplerun"
)

func TestEscapeMarkdown(t *testing.T) {
	for in, want := range map[string]string{
		"idle time is 40.0%":   "idle time is 40.0%",
		"a|b":                  `a\|b`,
		"x<y> & z":             "x&lt;y&gt; &amp; z",
		"snake_case_name":      "snake_case_name",
		"_emphasis_ __init__":  `\_emphasis\_ \_\_init\_\_`,
		"*b* `c` [d](e)":       "\\*b\\* \\`c\\` \\[d\\](e)",
		"see https://x.y/a*b":  "see `https://x.y/a*b`",
		"WWW.x.y":              "`WWW.x.y`",
		"by @user":             "by `@user`",
		"::error::x.json":      `\::error::x.json`,
		"std::move a::b":       "std::move a::b",
		"- no bullet":          `\- no bullet`,
		"1. no number":         `1\. no number`,
		"12) no number":        `12\) no number`,
		"--- no rule":          `\--- no rule`,
		"a - b":                "a - b",
		"two\nlines\ttogether": "two lines together",
		"":                     "",
	} {
		if got := escapeMarkdown(in); got != want {
			t.Errorf("%q is escaped as %q, want %q", in, got, want)
		}
	}
}

func TestCodeSpan(t *testing.T) {
	for in, want := range map[string]string{
		"gemm<f, 2>": "`gemm<f, 2>`",
		"a`b``c":     "``` a`b``c ```",
		"a|b":        "`a\\|b`",
		`a\|b`:       "`a\\ \\|b`",
		`ends in \`:  "`ends in \\`",
		"":           "(empty)",
		" \n ":       "(empty)",
	} {
		if got := codeSpan(in); got != want {
			t.Errorf("%q is set as %q, want %q", in, got, want)
		}
	}
}

// FuzzEscape: no text leaves its line, its cell or its paragraph.
func FuzzEscape(f *testing.F) {
	for _, name := range samplerun.HostileNames() {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, cell := range []string{escapeMarkdown(s), codeSpan(s)} {
			row := "| " + cell + " | x |"
			if got := marktest.Cells(row); len(got) != 3 {
				t.Fatalf("%q makes %d cells of %q", s, len(got), row)
			}
			marktest.Check(t, "row", row)
			marktest.CheckPlain(t, "text", 1, cell)
		}
		if code := codeSpan(s); strings.TrimSpace(marktest.OutsideCode(code)) != "" && code != "(empty)" {
			t.Fatalf("%q set as %q is not one code span", s, code)
		}
	})
}
