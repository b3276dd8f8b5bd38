package stats

import "strings"

// csvLayout parses a header whose cells are separated by commas or tabs. It
// returns nil if the line is not a header. Text before the header, such as the
// prefix of a log, is not part of the table.
func csvLayout(line, titleUnit string) *layout {
	for _, comma := range []rune{',', '\t', ';'} {
		if strings.Count(line, string(comma)) < 2 {
			continue
		}
		if cells, ok := csvCells(line, comma); ok {
			if l := newLayout(cells, titleUnit); l != nil {
				l.comma = comma
				return l
			}
		}
		if l := csvBehindPrefix(line, comma, titleUnit); l != nil {
			return l
		}
	}
	return nil
}

// csvBehindPrefix searches the line for the usual first columns of headers.
func csvBehindPrefix(line string, comma rune, titleUnit string) *layout {
	for _, first := range []string{"Time (%)", "Time(%)", "Total (MB)", "Start ("} {
		at := strings.Index(line, first)
		if at <= 0 || line[at-1] != ' ' {
			continue
		}
		if cells, ok := csvCells(line[at:], comma); ok {
			if l := newLayout(cells, titleUnit); l != nil {
				l.comma, l.prefix = comma, len([]rune(line[:at]))
				return l
			}
		}
	}
	return nil
}

// csvCells splits a line into cells. A quoted cell ends at the quote before the
// next comma or the end of the line; two quotes within it stand for one. Quotes
// within other cells are kept. Ok is false if a quote is still open at the end.
func csvCells(line string, comma rune) (cells []string, ok bool) {
	sep := string(comma)
	for {
		if !strings.HasPrefix(line, `"`) {
			cell, rest, more := strings.Cut(line, sep)
			cells = append(cells, strings.TrimSpace(cell))
			if !more {
				return cells, true
			}
			line = rest
			continue
		}
		end := closingQuote(line, sep)
		if end < 0 {
			return cells, false
		}
		cells = append(cells, strings.TrimSpace(strings.ReplaceAll(line[1:end], `""`, `"`)))
		if end+1 == len(line) {
			return cells, true
		}
		line = line[end+1+len(sep):]
	}
}

// closingQuote returns the index of the quote that closes the first, quoted
// cell of line, or -1.
func closingQuote(line, sep string) int {
	for i := 1; i < len(line); i++ {
		if line[i] != '"' {
			continue
		}
		rest := line[i+1:]
		if rest == "" || strings.HasPrefix(rest, sep) {
			return i
		}
		if rest[0] == '"' {
			i++ // two quotes stand for one
		}
	}
	return -1
}

// cutCSV splits a row into cells. The formatter does not double the quotes of
// names, so a row may have more cells than columns, or a quote that is never
// closed. The name, if it is the last column, is then the rest of the line
// after the other cells.
func (l *layout) cutCSV(line string) []string {
	line = strings.TrimRight(line, " ")
	n := len(l.columns)
	if cells, ok := csvCells(line, l.comma); ok && len(cells) == n && l.fits(cells) {
		return cells
	}
	if l.columns[n-1].role != theName {
		return nil
	}
	var cells []string
	for range n - 1 {
		cell, rest, more := l.oneCell(line)
		if !more {
			return nil
		}
		cells, line = append(cells, cell), rest
	}
	name := strings.TrimSpace(line)
	if len(name) > 1 && name[0] == '"' && name[len(name)-1] == '"' {
		name = name[1 : len(name)-1]
	}
	if cells = append(cells, name); !l.fits(cells) {
		return nil
	}
	return cells
}

// unclosed reports whether the name of a row begins with a quote that is not
// closed in its line. The name may then continue in the next line.
func unclosed(cells []string) bool {
	return len(cells) > 0 && strings.HasPrefix(cells[len(cells)-1], `"`)
}

// oneCell splits off the first cell of a line.
func (l *layout) oneCell(line string) (cell, rest string, more bool) {
	sep := string(l.comma)
	if strings.HasPrefix(line, `"`) {
		if end := closingQuote(line, sep); end >= 0 && end+1 < len(line) {
			return strings.TrimSpace(line[1:end]), line[end+1+len(sep):], true
		}
	}
	cell, rest, more = strings.Cut(line, sep)
	return strings.TrimSpace(cell), rest, more
}
