package stats

import (
	"bytes"
	"strings"

	"assay/internal/profile"
	"assay/internal/textscan"
)

// A Finder finds the tables in a text that also contains other lines, such as
// the log of a run under "nsys profile --stats=true". It is a
// [textscan.Finder].
type Finder struct {
	r     *reader
	until int // the last line on which an announced table may begin
}

// attention is the number of lines within which an announced table must begin.
const attention = 8

// NewFinder returns a Finder for an input of that name.
func NewFinder(name string, limits Limits) *Finder {
	r := newReader(&textscan.Reader{}, name, limits)
	r.passed = true
	return &Finder{r: r}
}

// Hint reports whether a line consists of dashes in columns, is the header of a
// CSV, or is a line that nsys prints before a table.
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
	case '+':
		return isRule(string(line))
	case 'e', 'n', 't', '"', ')':
		return isCSVHeader(line)
	}
	return false
}

// isCSVHeader reports whether a line ends like the header of a CSV and has the
// columns that all of them have.
func isCSVHeader(line []byte) bool {
	line = bytes.TrimRight(line, `")`)
	for _, last := range []string{"Name", "Operation", "Range", "Event", "Style", "Kd"} {
		if bytes.HasSuffix(line, []byte(last)) {
			return bytes.Contains(line, []byte("Time")) || bytes.Contains(line, []byte("Total (")) || bytes.Contains(line, []byte("Start ("))
		}
	}
	return false
}

// Open reports whether a table is being read or was announced.
func (f *Finder) Open() bool { return f.r.open != nil || f.r.lines.N < f.until }

// Line handles the next line. Errors of other programs are not attributed to
// nsys.
func (f *Finder) Line(n int, line string) {
	r := f.r
	r.lines.N = n
	s, ok := parseMessage(line)
	if ok && s.failed && r.open == nil {
		return
	}
	if ok && (s.report != "" || s.skipped != "" || s.progress) || mayHead(line) || isRule(line) {
		f.until = n + attention
	}
	was := r.open != nil
	r.line(line)
	if was && r.open == nil {
		f.until = n + attention
	}
}

// mayHead reports whether a line may be the header of a table in text, followed
// by dashes.
func mayHead(line string) bool {
	return strings.Contains(line, "(%)") || strings.Contains(line, "Total (MB)") || strings.Contains(line, "Start (ns)")
}

// Tables ends the reading and returns the tables. The list is empty if there
// was no table.
func (f *Finder) Tables() *profile.Tables {
	f.r.close()
	f.r.out.Issues = f.r.issues.Issues()
	return f.r.out
}
