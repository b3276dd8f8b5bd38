package doc

import (
	"strconv"
	"strings"

	"assay/internal/label"
)

const (
	// shortQuote is the longest quoted name of a statement that would be too long otherwise.
	shortQuote = 36

	// maxSentence is the longest statement, in columns. A longer statement is cut: it may
	// contain names of any length.
	maxSentence = 500

	// briefColumns is the longest statement on the screen: four lines.
	briefColumns = 280

	// briefQuote is how many columns a quoted name has on the screen, and
	// briefWord any other word. In Markdown a name has nameColumns.
	BriefQuote = 60
	BriefWord  = 64

	// settingWord is the longest word of a fix, in columns. The longest names of
	// frameworks' settings have about 90.
	SettingWord = 120
)

// Sentence prepares a statement of a finding for Markdown. If it is too long, its names are shortened.
func Sentence(text string) string {
	short := text
	for _, columns := range []int{NameColumns, briefName, shortQuote} {
		if short = label.Clean(ShortenQuoted(text, columns)); label.Width(short) <= maxSentence {
			break
		}
	}
	return label.Clip(short, maxSentence)
}

// Brief prepares a statement for the screen: it shortens names and drops sentences from the end until it
// fits, but keeps the first. The report has all of it.
func Brief(text string) string { return Briefly(text, BriefWord) }

// Briefly is like Brief for a given maximum width of words.
func Briefly(text string, word int) string {
	text = ShortenWords(label.Clean(ShortenQuoted(text, BriefQuote)), word)
	for label.Width(text) > briefColumns {
		end := strings.LastIndex(text, ". ")
		if end < 0 {
			break
		}
		text = text[:end+1]
	}
	return label.Clip(text, maxSentence)
}

// Capital capitalizes the first letter of a text, unless it is not ASCII or begins a name such as
// "throughput.tokens" or that of a machine, "node07", "nodeA".
func Capital(s string) string {
	first, _, _ := strings.Cut(s, " ")
	if s == "" || strings.ContainsAny(strings.TrimRight(first, ".:,"), "._/0123456789") || first[1:] != strings.ToLower(first[1:]) {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// KernelLabel returns the name of a kernel for a line of text.
func KernelLabel(name string) string {
	return label.Short(label.Kernel, []string{label.Clean(name)}, briefName)[0]
}

// ShortenWords shortens paths and other words that would otherwise be broken over lines.
func ShortenWords(text string, columns int) string {
	words := strings.Fields(text)
	for i, w := range words {
		words[i] = label.Clip(w, columns)
	}
	return strings.Join(words, " ")
}

// ShortenQuoted shortens the names that text quotes, as Go does, to the given
// number of columns.
func ShortenQuoted(text string, columns int) string {
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

func Points(texts []string) List {
	var l List
	for _, t := range texts {
		l = append(l, Item{Text: Sentence(t)})
	}
	return l
}
