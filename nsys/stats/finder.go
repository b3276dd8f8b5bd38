package stats

import (
	"bytes"
	"strings"

	"assay/profile"
)

// A Finder finds the tables in a text of which they are a part, as in the log of
// a run under "nsys profile --stats=true". It is a [textscan.Finder].
type Finder struct {
	r     *reader
	until int // the line up to which something may follow from what was said
}

// attention is how many lines a Finder waits for a table that nsys has
// announced.
const attention = 8

// NewFinder returns a Finder for an input of that name.
func NewFinder(name string, limits Limits) *Finder {
	return &Finder{r: newReader(nil, name, limits)}
}

// Hint reports whether a line is one of dashes in columns, the header of a CSV,
// or what nsys says before a table.
func (f *Finder) Hint(line []byte) bool {
	n := len(line)
	if n < 8 {
		return false
	}
	switch line[n-1] {
	case '-':
		return line[n-2] == '-' && (bytes.Contains(line, []byte("- -")) || bytes.Contains(line, []byte("-  -")))
	case '.':
		return bytes.HasSuffix(line, []byte("...")) &&
			(bytes.Contains(line, []byte("Processing [")) || bytes.Contains(line, []byte(" stats report")))
	case 'e', 'n', 't', '"', ')':
		return isCSVHeader(line)
	}
	return false
}

// isCSVHeader reports whether a line ends like the header of a CSV and has what
// all of them have.
func isCSVHeader(line []byte) bool {
	line = bytes.TrimRight(line, `")`)
	for _, last := range []string{"Name", "Operation", "Range", "Event", "Style", "Kd"} {
		if bytes.HasSuffix(line, []byte(last)) {
			return bytes.Contains(line, []byte("Time")) || bytes.Contains(line, []byte("Total (")) || bytes.Contains(line, []byte("Start ("))
		}
	}
	return false
}

// Open reports whether a table is under way or announced.
func (f *Finder) Open() bool { return f.r.open != nil || f.r.lines.N < f.until }

// Line takes the next line. What other programs report as errors is not nsys's.
func (f *Finder) Line(n int, line string) {
	r := f.r
	r.lines.N = n
	s, ok := said(line)
	if ok && s.failed && r.open == nil {
		return
	}
	if ok && (s.report != "" || s.skipped != "" || s.talk) || mayHead(line) {
		f.until = n + attention
	}
	was := r.open != nil
	r.line(line)
	if was && r.open == nil {
		f.until = n + attention
	}
}

// mayHead reports whether a line may be the header of a table in text, with
// dashes to follow.
func mayHead(line string) bool {
	return strings.Contains(line, "(%)") || strings.Contains(line, "Total (MB)") || strings.Contains(line, "Start (ns)")
}

// Tables ends the reading and returns what was read; the list is empty if there
// was no table.
func (f *Finder) Tables() *profile.Tables {
	f.r.close()
	f.r.out.Issues = f.r.issues.Issues()
	return f.r.out
}
