package page_test

import (
	"bytes"
	"encoding/json"
	"html"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"assay/report/doc"
	"assay/report/page"
	"assay/report/plot"
	"assay/summary"
)

// Every tag of the text that a reader without scripts gets, and of the head. What a name
// adds is none of them.
var staticTags = regexp.MustCompile(`^(</?(html|head|body|main|div|title|p|h1|h2|ol|ul|li|b|code|section|table|thead|tbody|tr|th|td|noscript)>|<!doctype html>|<html lang="en">|<div id="app">|<main class="static">|<p class="(eyebrow|lede)">` +
	`|<meta (charset="utf-8"|name="(viewport|referrer|color-scheme)" content="[a-z0-9=,. -]*")>|<meta http-equiv="Content-Security-Policy" content="[^"<>]*">)$`)

var entity = regexp.MustCompile(`^&(#[0-9]{1,7}|lt|gt|amp|quot);`)

// checkStatic checks that a page has no markup but its own. It reads the file as a browser
// does: style and scripts end at their end tags, and any other "<" begins a tag.
func checkStatic(t testing.TB, text []byte) {
	t.Helper()
	rest := string(text)
	for _, raw := range []string{"style", `script type="application/octet-stream" id="data"`, "script"} {
		open := strings.Index(rest, "<"+raw+">")
		if open < 0 {
			t.Fatalf("the page has no <%s>", raw)
		}
		name, _, _ := strings.Cut(raw, " ")
		length := strings.Index(rest[open:], "</"+name+">")
		if length < 0 {
			t.Fatalf("<%s> has no end", raw)
		}
		checkMarkup(t, rest[:open])
		rest = rest[open+length+len("</"+name+">"):]
	}
	checkMarkup(t, rest)
}

func checkMarkup(t testing.TB, s string) {
	t.Helper()
	for s != "" {
		i := strings.IndexAny(s, "<&")
		if i < 0 {
			return
		}
		if s = s[i:]; s[0] == '&' {
			if !entity.MatchString(s) {
				t.Fatalf("an & that begins no character: %.60q", s)
			}
			s = s[1:]
			continue
		}
		end := strings.IndexByte(s, '>')
		if end < 0 || !staticTags.MatchString(s[:end+1]) {
			t.Fatalf("a tag that the page does not write: %.80q", s)
		}
		s = s[end+1:]
	}
}

// namedPage is a page that has a name in every place that takes one.
func namedPage(name string) *page.Page {
	list := doc.List{{Mark: name, Text: name, Code: name, Ticks: true, Source: doc.Source{Title: name, URL: name}, Sub: doc.List{{Text: name}}}}
	table := doc.Table{Title: name, Columns: []doc.Column{doc.Col(name, doc.Name), doc.Col("n", doc.Number)}, Rows: []doc.Row{{Cells: []string{name, name}}}, Note: name}
	sections := []doc.Section{{Title: name, Lead: name, Blocks: []doc.Block{doc.Paragraph{Text: name}, list, table}}}
	scatter := plot.Scatter{X: plot.Axis{Title: name}, Dots: []plot.Dot{{Label: name, Key: name, Name: name}}, Curves: []plot.Curve{{Label: name}}}
	return &page.Page{
		Summary: &summary.Summary{Schema: summary.Schema},
		Title:   name, Head: page.Head{Kind: "Verdict", Headline: name, Sentence: name, Cause: name, First: []string{name}, Warnings: []string{name}},
		Facts: []page.Fact{{Value: name, Name: name}}, Findings: []page.Finding{{Rule: name, Level: "info", Title: name, Cause: name, Fixes: []page.Fix{{Text: name}}}},
		Text: sections, Sections: sections, Capture: sections, Charts: []plot.Chart{{Title: name, Subtitle: name, Body: scatter}},
	}
}

// FuzzStaticText puts a name into every place of a page. It adds no element, and is still
// there as text.
func FuzzStaticText(f *testing.F) {
	for _, name := range hostile {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		var b bytes.Buffer
		if err := namedPage(name).Write(&b); err != nil {
			t.Fatal(err)
		}
		checkStatic(t, b.Bytes())
		_, after, _ := strings.Cut(b.String(), "<h1>")
		shown, _, _ := strings.Cut(after, "</h1>")
		shown = html.UnescapeString(shown)
		if strings.ContainsFunc(shown, hidden) {
			t.Errorf("%q is shown as %q, with characters that hide something", name, shown)
		}
		if plain := onlyLetters(name); plain == name && len(name) < 300 && shown != name {
			t.Errorf("%q is shown as %q", name, shown)
		}
		checkData(t, b.Bytes())
	})
}

// hidden reports whether a character is not seen: a control character, or one that turns
// text around.
func hidden(r rune) bool {
	return unicode.IsControl(r) && r != '\n' || unicode.Is(unicode.Bidi_Control, r)
}

func onlyLetters(s string) string {
	return strings.Map(func(r rune) rune {
		if r < unicode.MaxASCII && (unicode.IsLetter(r) || strings.ContainsRune("<>&'\"/=(){}", r)) {
			return r
		}
		return -1
	}, s)
}

// checkData decodes the data of a page and looks for characters in it that hide something.
func checkData(t testing.TB, text []byte) {
	t.Helper()
	var all any
	if err := json.Unmarshal(dataOf(t, text), &all); err != nil {
		t.Fatal(err)
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			if strings.ContainsFunc(v, hidden) {
				t.Errorf("a text of the data hides something: %.60q", v)
			}
		case []any:
			for _, x := range v {
				walk(x)
			}
		case map[string]any:
			for k, x := range v {
				walk(k)
				if s, ok := x.(string); ok && k == "url" && !strings.HasPrefix(s, "https://") {
					t.Errorf("a link to %q", s)
				}
				walk(x)
			}
		}
	}
	walk(all)
}
