package report

import (
	"strconv"
	"strings"

	"assay/internal/label"
	"assay/judge"
	"assay/summary/view"
)

const (
	// maxSentence is the longest statement, in columns. A longer statement is cut: it may
	// contain names of any length.
	maxSentence = 500

	// briefColumns is the longest statement on the screen: four lines.
	briefColumns = 280

	// briefQuote is how many columns a quoted name has on the screen, and
	// briefWord any other word. In Markdown a name has nameColumns.
	briefQuote = 60
	briefWord  = 64

	// settingWord is the longest word of a fix, in columns. The longest names of
	// frameworks' settings have about 90.
	settingWord = 120
)

// sentence prepares a statement of a finding for Markdown.
func sentence(text string) string {
	return label.Clip(label.Clean(shortenQuoted(text, nameColumns)), maxSentence)
}

// brief prepares a statement for the screen: it shortens names and drops the last
// sentences if there is no room. It keeps the first sentence. The report has all of it.
func brief(text string) string { return briefly(text, briefWord) }

// briefly is brief with words of up to so many columns.
func briefly(text string, word int) string {
	text = shortenWords(label.Clean(shortenQuoted(text, briefQuote)), word)
	for label.Width(text) > briefColumns {
		end := strings.LastIndex(text, ". ")
		if end < 0 {
			break
		}
		text = text[:end+1]
	}
	return label.Clip(text, maxSentence)
}

// shortenWords shortens paths and other words that would be broken over lines.
func shortenWords(text string, columns int) string {
	words := strings.Fields(text)
	for i, w := range words {
		words[i] = label.Clip(w, columns)
	}
	return strings.Join(words, " ")
}

// brief prepares a statement of a finding for the screen. Its paths are those of the
// list of inputs.
func (b *builder) brief(text string) string { return brief(b.below(text)) }

// step prepares a fix for the screen. It keeps names of settings in full.
func (b *builder) step(s judge.Step) string { return briefly(b.below(s.Text()), settingWord) }

// below cuts the directory of all inputs off the paths in text, where one
// begins a word.
func (b *builder) below(text string) string {
	_, dir := view.ShortPaths(b.Summary)
	if dir == "" {
		return text
	}
	text = strings.TrimPrefix(text, dir)
	return strings.NewReplacer(" "+dir, " ", `"`+dir, `"`).Replace(text)
}

// shortenQuoted shortens the names that text quotes, as Go does, to the given
// number of columns.
func shortenQuoted(text string, columns int) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(text, '"')
		if i < 0 {
			break
		}
		b.WriteString(text[:i])
		text = text[i:]
		quoted, err := strconv.QuotedPrefix(text)
		if err != nil {
			b.WriteByte('"')
			text = text[1:]
			continue
		}
		text = text[len(quoted):]
		if name, err := strconv.Unquote(quoted); err == nil && label.Width(name) > columns {
			quoted = strconv.Quote(label.Short(label.Kernel, []string{name}, columns)[0])
		}
		b.WriteString(quoted)
	}
	return b.String() + text
}

// verdictSentence returns the sentence of the verdict with a capital and a period, after
// the given function has shortened it.
func (b *builder) verdictSentence(prepare func(string) string) string {
	s := prepare(b.result.Verdict.Sentence)
	if s == "" || strings.HasSuffix(s, ".") {
		return s
	}
	if c := s[0]; 'a' <= c && c <= 'z' {
		s = strings.ToUpper(s[:1]) + s[1:]
	}
	return s + "."
}

func points(texts []string) List {
	var l List
	for _, t := range texts {
		l = append(l, Item{Text: sentence(t)})
	}
	return l
}
