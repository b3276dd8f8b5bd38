package report

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"assay/internal/samplerun"
	"assay/judge"
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

// cellsOf takes a row of a table apart as GitHub does: a backslash takes the
// meaning of the next character, so only other pipes part cells. Behind the
// last pipe is one more cell, which is empty.
func cellsOf(row string) (cells []string) {
	row = strings.TrimSpace(row)
	var cell strings.Builder
	for i := 0; i < len(row); i++ {
		switch {
		case row[i] == '\\' && i+1 < len(row):
			cell.WriteString(row[i : i+2])
			i++
		case row[i] == '|':
			cells = append(cells, strings.TrimSpace(cell.String()))
			cell.Reset()
		default:
			cell.WriteByte(row[i])
		}
	}
	return append(cells, strings.TrimSpace(cell.String()))[1:] // what is before the first pipe is no cell
}

// outsideCode blanks the code spans of one line: a run of backticks that no
// backslash precedes opens one, the next run of the same length closes it.
func outsideCode(line string) string {
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case '`':
			n := len(line[i:]) - len(strings.TrimLeft(line[i:], "`"))
			fence := line[i : i+n]
			for end := i + n; ; {
				at := strings.Index(line[end:], fence)
				if at < 0 {
					i += n - 1
					break
				}
				at += end
				run := len(line[at:]) - len(strings.TrimLeft(line[at:], "`"))
				if run == n {
					line = line[:i] + strings.Repeat(" ", at+n-i) + line[at+n:]
					break
				}
				end = at + run
			}
		}
	}
	return line
}

var (
	tag  = regexp.MustCompile(`^</?(details|summary)>$|^<summary>[0-9,]+ more rows?</summary>$`)
	link = regexp.MustCompile(`(?i)://|www\.|@|(^|[^\\])\]\(`)
)

// checkMarkdown asserts what no name can break: every table is a grid, and
// outside of code there is no HTML but ours, no link but to our pictures, and
// no character that a terminal obeys.
func checkMarkdown(t *testing.T, name, text string) {
	t.Helper()
	columns := 0
	for n, line := range strings.Split(text, "\n") {
		if strings.ContainsFunc(line, obeyed) {
			t.Errorf("%s:%d: control character in %q", name, n+1, line)
		}
		if strings.HasPrefix(line, "|") {
			got := len(cellsOf(line))
			if columns == 0 {
				columns = got
			}
			if got != columns {
				t.Errorf("%s:%d: %d cells in a table of %d columns: %s", name, n+1, got, columns, line)
			}
			for _, cell := range cellsOf(line) {
				checkPlain(t, name, n+1, cell)
			}
			continue
		}
		columns = 0
		if strings.HasPrefix(line, "![") && strings.HasSuffix(line, ".png)") {
			line = line[2:strings.LastIndex(line, "](")]
		}
		if i := strings.LastIndex(line, " (["); i >= 0 && ownSource(line[i:]) {
			line = line[:i]
		}
		if !tag.MatchString(line) {
			checkPlain(t, name, n+1, line)
		}
	}
}

// ownSource reports whether text is a link to a page that a remedy cites.
func ownSource(text string) bool {
	is := func(s judge.Source) bool {
		return text == " (["+escapeMarkdown(s.Title)+"]("+s.URL+"))"
	}
	return slices.ContainsFunc(judge.DefaultThresholds().Pages(), func(p judge.Page) bool {
		return slices.ContainsFunc(p.Remedies, func(r judge.Remedy) bool { return is(r.Source) })
	})
}

// obeyed reports whether a terminal or viewer may do something on r that no
// one sees.
func obeyed(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }

func checkPlain(t *testing.T, name string, n int, text string) {
	t.Helper()
	plain := outsideCode(text)
	if strings.ContainsAny(plain, "<>") || link.MatchString(plain) {
		t.Errorf("%s:%d: not escaped: %q", name, n, text)
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
			if got := cellsOf(row); len(got) != 3 {
				t.Fatalf("%q makes %d cells of %q", s, len(got), row)
			}
			checkMarkdown(t, "row", row)
			checkPlain(t, "text", 1, cell)
		}
		if code := codeSpan(s); strings.TrimSpace(outsideCode(code)) != "" && code != "(empty)" {
			t.Fatalf("%q set as %q is not one code span", s, code)
		}
	})
}
