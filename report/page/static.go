package page

import (
	"html"
	"io"
	"strings"
)

// The file around its style, its data and its script is written without html/template: that package finds
// methods by name, so the linker would keep every exported method of every type, a tenth of the command.

// head writes the beginning of the file, up to its style.
func (p *Page) head(w *htmlWriter) {
	w.raw(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="` + html.EscapeString(policy()) + `">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
`)
	w.text("<title>", p.Title, " · assay</title>\n")
}

// body writes what a reader without scripts sees. Styles may be forbidden as well, so it must be readable
// without them.
func (p *Page) body(w *htmlWriter) {
	head := &p.Head
	w.raw("</head>\n<body>\n<div id=\"app\"><main class=\"static\">\n")
	w.text("<p>", p.Title, "</p>\n")
	w.text(`<p class="eyebrow">`, head.Kind, "</p>\n")
	w.text("<h1>", head.Headline, "</h1>\n")
	w.some(`<p class="lede">`, head.Sentence, "</p>\n")
	w.each("<p>", head.Warnings, "</p>\n")
	w.some("<p>Cause: ", head.Cause, "</p>\n")
	if len(head.First) > 0 {
		w.raw("<p>What to do first:</p>\n<ol>")
		w.each("\n<li>", head.First, "</li>")
		w.raw("\n</ol>\n")
	}
	for _, s := range sections(p.Text, staticRows) {
		w.section(&s)
	}
	w.raw(`<noscript><p>Scripts are off here, so this is the text of the report. Download the file and open it in a browser for the
timeline, the tables and the flame graph.</p></noscript>
</main></div>
`)
}

func (w *htmlWriter) section(s *section) {
	w.raw("<section>\n")
	w.some("<h2>", s.Title, "</h2>\n")
	w.some("<p>", s.Lead, "</p>\n")
	for _, b := range s.Blocks {
		w.some("<p>", b.Text, "</p>\n")
		if len(b.List) > 0 {
			w.list(b.List)
		}
		if b.Table != nil {
			w.table(b.Table)
		}
	}
	w.raw("</section>\n")
}

func (w *htmlWriter) list(list []item) {
	w.raw("<ul>")
	for _, it := range list {
		w.raw("\n<li>")
		w.some("<b>", it.Mark, "</b> ")
		w.text("", it.Text, "")
		w.some(" <code>", it.Code, "</code>")
		w.some(" (", it.Source, ")")
		if len(it.Sub) > 0 {
			w.raw("\n")
			w.list(it.Sub)
		}
		w.raw("</li>")
	}
	w.raw("\n</ul>\n")
}

func (w *htmlWriter) table(g *grid) {
	w.raw("<table>\n<thead><tr>")
	for _, c := range g.Columns {
		w.text("<th>", c.Title, "</th>")
	}
	w.raw("</tr></thead>\n<tbody>")
	for _, row := range g.Rows {
		w.raw("\n<tr>")
		w.each("<td>", row, "</td>")
		w.raw("</tr>")
	}
	w.raw("\n</tbody>\n</table>\n")
	w.some("<p>", g.More, "</p>\n")
	w.some("<p>", g.Note, "</p>\n")
}

// An htmlWriter writes markup, and texts that it cuts and escapes. It keeps the first error and then writes
// nothing.
type htmlWriter struct {
	w   io.Writer
	err error
}

func (w *htmlWriter) raw(markup ...string) {
	for _, part := range markup {
		if w.err == nil {
			_, w.err = io.WriteString(w.w, part)
		}
	}
}

func (w *htmlWriter) text(open, text, end string) { w.raw(open, html.EscapeString(cut(text)), end) }

// some writes a text if there is one.
func (w *htmlWriter) some(open, text, end string) {
	if text != "" {
		w.text(open, text, end)
	}
}

func (w *htmlWriter) each(open string, texts []string, end string) {
	for _, text := range texts {
		w.text(open, text, end)
	}
}

// staticRunes is the maximum length of a text in the static text.
const staticRunes = 400

// cut returns the beginning of a text from the input.
func cut(text string) string {
	text = prose(text)
	n := 0
	for i := range text {
		if n++; n > staticRunes {
			return strings.TrimSpace(text[:i]) + "…"
		}
	}
	return text
}

// link returns a URL if it is safe to follow, or "".
func link(url string) string {
	if !strings.HasPrefix(url, "https://") {
		return ""
	}
	return url
}
