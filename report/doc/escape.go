package doc

import (
	"html"
	"strings"
	"unicode/utf8"

	"assay/internal/label"
)

// markdownSpecial has the characters that a backslash escapes. The pipe is one of them,
// so escaped text may be in a table. Angle brackets and the ampersand are written as
// entities, because some viewers allow HTML.
const markdownSpecial = "\\`*_[]|~#!{}$"

// escapeMarkdown returns text that a Markdown reader shows as s, in one line. It cannot create emphasis,
// links, HTML or table cells. GitHub makes links and mentions from words with "://", "www." or "@", so
// these are set as code.
func escapeMarkdown(s string) string {
	var out []string
	for _, word := range strings.Fields(label.Clean(s)) {
		if isLinked(word) {
			out = append(out, codeSpan(word))
			continue
		}
		out = append(out, escapeWord(word))
	}
	switch {
	case len(out) == 0:
	case startsBlock(out[0]):
		out[0] = escapeFirst(out[0])
	case strings.HasPrefix(out[0], "::"): // a command of a workflow, if the text is printed in one
		out[0] = `\` + out[0]
	}
	return strings.Join(out, " ")
}

// markTicks returns text whose backticks enclose code: the code as code, and the rest
// escaped.
func markTicks(text string) string {
	var b strings.Builder
	for i, part := range strings.Split(text, "`") {
		if i%2 == 1 {
			b.WriteString(codeSpan(part))
			continue
		}
		space := func(at bool) string {
			if at {
				return " "
			}
			return ""
		}
		b.WriteString(space(strings.HasPrefix(part, " ")) + escapeMarkdown(part) + space(len(part) > 1 &&
			strings.HasSuffix(part, " ")))
	}
	return b.String()
}

// escapeHTML returns text that a Markdown reader shows as s inside an HTML element.
// Words that GitHub would make links or mentions of are set as code.
func escapeHTML(s string) string {
	words := strings.Fields(label.Clean(s))
	for i, word := range words {
		words[i] = html.EscapeString(word)
		if isLinked(word) {
			words[i] = "<code>" + words[i] + "</code>"
		}
	}
	return strings.Join(words, " ")
}

// isLinked reports whether GitHub makes a link or a mention of a word.
func isLinked(word string) bool {
	lower := strings.ToLower(word)
	return strings.Contains(lower, "://") || strings.Contains(lower, "www.") || strings.Contains(word, "@")
}

func escapeWord(word string) string {
	var b strings.Builder
	for i, r := range word {
		switch {
		case r == '<' && i+1 < len(word) && word[i+1] >= '0' && word[i+1] <= '9':
			b.WriteByte('<') // no element begins with a digit
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case r == '&':
			b.WriteString("&amp;")
		case r == '_' && isInner(word, i):
			b.WriteByte('_')
		case strings.ContainsRune(markdownSpecial, r):
			b.WriteByte('\\')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// isInner reports whether the underscore at i is in a run of underscores between letters or
// digits. Then it is not emphasis and needs no backslash.
func isInner(word string, i int) bool {
	plain := func(c byte) bool { return label.IsWord(c) && c < utf8.RuneSelf && c != '_' && c != '$' }
	const longest = 8 // characters of a run that are examined
	before, after := i-1, i+1
	for before >= 0 && i-before < longest && word[before] == '_' {
		before--
	}
	for after < len(word) && after-i < longest && word[after] == '_' {
		after++
	}
	return before >= 0 && after < len(word) && plain(word[before]) && plain(word[after])
}

// startsBlock reports whether a first word could be a list's bullet or number
// or a heading's line. Quotes and headings are escaped by their characters.
func startsBlock(word string) bool {
	digits := strings.TrimLeft(word, "0123456789")
	return strings.Trim(word, "-+=") == "" || digits != word && (digits == "." || digits == ")")
}

// escapeFirst puts a backslash before the last character of a word of ASCII
// punctuation.
func escapeFirst(word string) string {
	if last := len(word) - 1; strings.Trim(word, "-+=") != "" {
		return word[:last] + "\\" + word[last:]
	}
	return "\\" + word
}

// codeSpan returns s as code in one line, for a table too. Markdown has no empty code, so
// an empty name becomes "(empty)".
func codeSpan(s string) string {
	s = strings.TrimSpace(label.Clean(s))
	if s == "" {
		return "(empty)"
	}
	// In a table a pipe needs its backslash even within code. A backslash of
	// the name before it would pair with ours, so a space separates them.
	s = strings.ReplaceAll(s, `\|`, `\ |`)
	s = strings.ReplaceAll(s, "|", `\|`)
	longest, run := 0, 0
	for _, r := range s {
		if r != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	if longest > 0 {
		return fence + " " + s + " " + fence
	}
	return fence + s + fence
}
