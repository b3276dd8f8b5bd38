package torchprof

import "strings"

// The lines before a table: the text of header=, between double rules; the note
// that only the outermost operators are listed; and Lightning's name of the
// profiled function.
const (
	doubleRule = "===================="
	topLevel   = "This report only display top-level ops statistics"
	statsFor   = "Profile stats for:"
)

// A banner collects the text before a table.
type banner struct {
	open  bool // a double rule was read, and its text follows
	text  string
	outer bool // only the outermost operators are listed
	at    int  // line of the last part
}

// line handles a line outside tables.
func (b *banner) line(n int, line string) {
	if n-b.at > bannerLines {
		*b = banner{}
	}
	b.at = n
	switch {
	case strings.HasSuffix(line, doubleRule):
		b.open = b.text == ""
	case b.open:
		b.text, b.open = line, false
	case strings.Contains(line, topLevel):
		b.outer = true
	case strings.Contains(line, statsFor):
		b.text = line[strings.Index(line, statsFor):]
	}
}

// bannerLines is the maximum number of lines between a banner and its table.
const bannerLines = 4

// above returns the text for a table whose rule is on line n, and clears it.
func (b *banner) above(n int) (text string) {
	if n-b.at <= bannerLines {
		text = strings.TrimSpace(b.text)
		if b.outer {
			text = strings.TrimSpace(text + " (top-level operators only)")
		}
	}
	*b = banner{}
	return text
}
