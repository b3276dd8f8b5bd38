// Package marktest reads Markdown as GitHub does, for tests of what assay writes. It has
// no code of the writer.
package marktest

import (
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"assay/judge/rule"
)

// Cells takes a row of a table apart as GitHub does: a backslash takes the
// meaning of the next character, so only other pipes part cells. Behind the
// last pipe is one more cell, which is empty.
func Cells(row string) (cells []string) {
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

// OutsideCode blanks the code spans of one line: a run of backticks that no
// backslash precedes opens one, the next run of the same length closes it.
func OutsideCode(line string) string {
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
	tag  = regexp.MustCompile(`^</?(details|summary)>$|^<summary>([^<>@]|<code>[^<>]*</code>)*</summary>$`)
	link = regexp.MustCompile(`(?i)://|www\.|@|(^|[^\\])\]\(`)
)

// Check asserts what no name can break: every table is a grid, and
// outside of code there is no HTML but ours, no link but to our pictures, and
// no character that a terminal obeys.
func Check(t testing.TB, name, text string) {
	t.Helper()
	columns := 0
	for n, line := range strings.Split(text, "\n") {
		if strings.ContainsFunc(line, Obeyed) {
			t.Errorf("%s:%d: control character in %q", name, n+1, line)
		}
		if strings.HasPrefix(line, "|") {
			got := len(Cells(line))
			if columns == 0 {
				columns = got
			}
			if got != columns {
				t.Errorf("%s:%d: %d cells in a table of %d columns: %s", name, n+1, got, columns, line)
			}
			for _, cell := range Cells(line) {
				CheckPlain(t, name, n+1, cell)
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
			CheckPlain(t, name, n+1, line)
		}
	}
}

// ownSource reports whether text is a link to a page that a remedy cites.
func ownSource(text string) bool {
	is := func(s rule.Source) bool {
		return html.UnescapeString(strings.ReplaceAll(text, `\`, "")) == " (["+s.Title+"]("+s.URL+"))"
	}
	return slices.ContainsFunc(rule.DefaultThresholds().Pages(), func(p rule.Page) bool {
		return slices.ContainsFunc(p.Remedies, func(r rule.Remedy) bool { return is(r.Source) })
	})
}

// Obeyed reports whether a terminal or viewer may do something on r that no
// one sees.
func Obeyed(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }

// lessThan is a sign before a number, which begins no element.
var lessThan = regexp.MustCompile(`<(\d)`)

// CheckPlain asserts that a line has no HTML and no link outside of code.
func CheckPlain(t testing.TB, name string, n int, text string) {
	t.Helper()
	plain := lessThan.ReplaceAllString(OutsideCode(text), "$1")
	if strings.ContainsAny(plain, "<>") || link.MatchString(plain) {
		t.Errorf("%s:%d: not escaped: %q", name, n, text)
	}
}
