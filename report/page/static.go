package page

import (
	"html/template"
	"strings"
	"sync"
)

// shell has the parts of the file around its style, its data and its script. The body is what a reader
// without scripts sees. Styles may be forbidden as well, so it must be readable without them.
var shell = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{"cut": cut}).Parse(`{{define "head"}}<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{{.Policy}}">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>{{cut .Title}} · assay</title>
{{end}}{{define "body"}}</head>
<body>
<div id="app"><main class="static">
<p>{{cut .Title}}</p>
<p class="eyebrow">{{.Page.Head.Kind}}</p>
<h1>{{cut .Page.Head.Headline}}</h1>
{{with .Page.Head.Sentence}}<p class="lede">{{cut .}}</p>
{{end}}{{range .Page.Head.Warnings}}<p>{{cut .}}</p>
{{end}}{{with .Page.Head.Cause}}<p>Cause: {{cut .}}</p>
{{end}}{{with .Page.Head.First}}<p>What to do first:</p>
<ol>{{range .}}
<li>{{cut .}}</li>{{end}}
</ol>
{{end}}{{range .Text}}<section>
{{with .Title}}<h2>{{cut .}}</h2>
{{end}}{{with .Lead}}<p>{{cut .}}</p>
{{end}}{{range .Blocks}}{{with .Text}}<p>{{cut .}}</p>
{{end}}{{with .List}}{{template "list" .}}{{end}}{{with .Table}}{{template "table" .}}{{end}}{{end}}</section>
{{end}}<noscript><p>Scripts are off here, so this is the text of the report. Download the file and open it in a browser for the
timeline, the tables and the flame graph.</p></noscript>
</main></div>
{{end}}{{define "list"}}<ul>{{range .}}
<li>{{with .Mark}}<b>{{cut .}}</b> {{end}}{{cut .Text}}{{with .Code}} <code>{{cut .}}</code>{{end}}{{with .Source}} ({{cut .}}){{end}}{{with .Sub}}
{{template "list" .}}{{end}}</li>{{end}}
</ul>
{{end}}{{define "table"}}<table>
<thead><tr>{{range .Columns}}<th>{{cut .Title}}</th>{{end}}</tr></thead>
<tbody>{{range .Rows}}
<tr>{{range .}}<td>{{cut .}}</td>{{end}}</tr>{{end}}
</tbody>
</table>
{{with .More}}<p>{{cut .}}</p>
{{end}}{{with .Note}}<p>{{cut .}}</p>
{{end}}{{end}}`))
})

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
