package stats

import (
	"strings"
	"unicode/utf8"
)

// A span is the position of a column of a table in text, in characters.
type span struct{ from, to int }

// textLayout parses a header with dashes below it, which define the positions
// of the columns. It returns nil if they are not a header. Text before the
// first dashes, such as the prefix of a log, is not part of the table.
func textLayout(header, dashes, titleUnit string) *layout {
	spans := dashedSpans(dashes)
	if len(spans) < 3 {
		return nil
	}
	cells := cutSpans([]rune(header), spans)
	if cells == nil {
		return nil
	}
	l := newLayout(cells, titleUnit)
	if l == nil {
		return nil
	}
	l.spans, l.prefix = spans, spans[0].from
	return l
}

// dashedSpans returns the positions of the groups of dashes at the end of a
// line.
func dashedSpans(line string) []span {
	line = strings.TrimRight(line, " \t")
	if !strings.HasSuffix(line, "--") {
		return nil
	}
	runes := []rune(line)
	var out []span
	for end := len(runes); end > 0; {
		from := end
		for from > 0 && runes[from-1] == '-' {
			from--
		}
		if from == end || from > 0 && runes[from-1] != ' ' {
			break // a word, or dashes within one
		}
		out = append(out, span{from, end})
		for end = from; end > 0 && runes[end-1] == ' '; end-- {
		}
	}
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return out
}

// cutSpans splits a line at the columns; the last one extends to the end of the
// line. It returns nil if there is text between columns.
func cutSpans(line []rune, spans []span) []string {
	cells := make([]string, len(spans))
	for i, s := range spans {
		to := s.to
		if i == len(spans)-1 {
			to = len(line)
		}
		from := min(s.from, len(line))
		to = max(from, min(to, len(line)))
		if i > 0 {
			between := line[min(spans[i-1].to, len(line)):from]
			if strings.Trim(string(between), " ") != "" {
				return nil
			}
		}
		cells[i] = strings.TrimSpace(string(line[from:to]))
	}
	return cells
}

// cutText splits a row into cells. If the cells do not match the dashes,
// because an editor has changed the white space, it splits at two or more
// spaces.
func (l *layout) cutText(line string) []string {
	if cells := cutSpans([]rune(line), l.spans); cells != nil && l.fits(cells) {
		return cells
	}
	var cells []string
	for _, part := range strings.Split(line, "  ") {
		if part = strings.TrimSpace(part); part != "" {
			cells = append(cells, part)
		}
	}
	if len(cells) != len(l.columns) || !l.fits(cells) {
		return nil
	}
	return cells
}

// fits reports whether the cells of numbers begin and end like numbers.
func (l *layout) fits(cells []string) bool {
	for i, c := range l.columns {
		if c.role != aNumber && c.role != theShare {
			continue
		}
		if _, _, err := number(cells[i], 1, false); err != nil && err != errTooLarge {
			return false
		}
	}
	return true
}

// afterPrefix removes the text before the columns of a table.
func (l *layout) afterPrefix(line string) string {
	for range l.prefix {
		_, n := utf8.DecodeRuneInString(line)
		line = line[n:]
	}
	return line
}
