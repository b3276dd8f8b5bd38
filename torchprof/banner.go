package torchprof

import "strings"

// What stands above a table: the text that header= asks for, between double
// rules; the word that only the outermost operators are listed; and what
// Lightning calls the function that it profiled.
const (
	doubleRule = "===================="
	topLevel   = "This report only display top-level ops statistics"
	statsFor   = "Profile stats for:"
)

// A banner collects the text above a table.
type banner struct {
	open  bool // a double rule has been, and its text follows
	text  string
	outer bool // only the outermost operators are listed
	at    int  // line of the last part
}

// line takes a line that is of no table.
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

// bannerLines is how far above a table its text may end.
const bannerLines = 4

// above returns the text for a table whose rule is on line n, and forgets it.
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
