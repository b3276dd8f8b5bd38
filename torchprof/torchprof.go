// Package torchprof reads the tables printed by torch.profiler, the text of
// key_averages().table(), in files of their own, in logs, with the prefixes of
// loggers, and in documents.
//
// It reads the layouts of all versions and devices; columns are identified by
// their headers, never by their position. Each printed table gives up to three
// [profile.Table]s, because a printed table has rows of different kinds whose
// times must not be added to each other:
//
//   - "key_averages" has the rows of the CPU: operators, calls of the runtime,
//     ranges. Their device time is that of the kernels launched by an operator
//     itself (self) or by it and everything nested in it (total).
//   - "key_averages.cuda", or another device name, has the kernels, copies and
//     memsets: the rows with no time on the CPU and self time on the device. It
//     is the same time as that of the operators.
//   - "key_averages.cuda.ranges" has the ranges that the program marked, as
//     recorded on the device: rows like those of kernels, but with the name of a
//     row of the CPU or of a profiler's step, or with more time than the total
//     of the device. They contain kernels.
//
// Times are whole nanoseconds, with the precision of the text: the profiler
// prints three decimals of µs, ms or s. Shares are compared with those computed
// from the times, and totals with the sums of the rows. If they differ, an
// issue reports it, and the times are used.
//
// [Finder] finds the tables in the lines of a longer text, [Read] reads an input.
// Package analyze measures the result.
//
// Read the files in the order in which a table passes through them: this file
// (which line belongs to which table), ruler.go and header.go (a table begins),
// row.go and cell.go (its rows), opened.go (its state and its printed totals),
// kinds.go (its rows are divided by kind) and check.go (the printed shares and
// totals are compared).
package torchprof

import (
	"bytes"
	"cmp"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"assay/internal/diag"
	"assay/internal/profile"
	"assay/internal/redact"
	"assay/internal/textscan"
)

// Limits bound the resources for reading one input, whatever it contains. A
// field that is 0 has the default value. Fields may be added.
type Limits struct {
	// Rows is the maximum number of rows of all tables of the input. Further
	// rows are added up: "table-rows-pooled".
	Rows int
}

const (
	defaultRows = 1 << 18

	// rowText is the number of bytes of names and labels per row.
	rowText = 512

	// maxTables is the maximum number of printed tables of one input.
	maxTables = 1000

	// maxOpen is the maximum number of tables that are read at the same time,
	// because several processes may write into one log.
	maxOpen = 64

	// maxRulers is the maximum number of rules that wait for their header, and
	// patience the number of lines that each waits. Lines of other processes
	// may come between. The wait for totals is shorter.
	maxRulers      = 16
	patience       = 200
	footerPatience = 20

	// maxColumns exceeds the number of columns of any version with two devices.
	maxColumns = 64

	// maxHeader is the maximum length of a header. maxShapes is the maximum
	// number of prefixes that are searched for times, because a hostile text
	// may have one in every line.
	maxHeader = 32 << 10
	maxShapes = 10_000

	// maxText is the maximum length of a header text or label.
	maxText = 300
)

// Sniff reports whether a file that begins with prefix contains a table: a rule
// of dashes, followed by the header of a table.
func Sniff(prefix []byte) bool {
	f := NewFinder("", Limits{})
	textscan.Scan(strings.NewReader(string(prefix)), f)
	return len(f.open) > 0 || len(f.out.List) > 0
}

// Read reads all tables of an input. Name is that of the input, for messages.
//
// An input without any table is an error. If an input cannot be read to its
// end, the tables read so far are returned together with the error of the
// input.
func Read(in io.Reader, name string, limits Limits) (*profile.Tables, error) {
	f := NewFinder(name, limits)
	_, err := textscan.Scan(in, f)
	t := f.Tables()
	t.Complete = err == nil
	if len(t.List) == 0 && err == nil {
		err = &diag.Error{Pos: diag.Pos{File: name, Line: 1}, Msg: "no table of torch.profiler; use the text of key_averages().table()"}
	}
	if len(t.List) == 0 {
		return nil, err
	}
	return t, err
}

// A Finder finds the tables in the lines of a text. It is a [textscan.Finder].
type Finder struct {
	name   string
	out    *profile.Tables
	issues diag.Ledger

	rows, text int // rows, and bytes of text, left until the limit
	printed    int // tables seen
	shapes     int // prefixes searched for times

	n      int // the number of the current line
	banner banner
	waits  []ruler
	open   []*openTable
}

// NewFinder returns a Finder for an input of that name.
func NewFinder(name string, limits Limits) *Finder {
	rows := cmp.Or(limits.Rows, defaultRows)
	return &Finder{name: name, rows: rows, text: rows * rowText, out: &profile.Tables{Tool: "torch", Complete: true}}
}

// Hint reports whether a line is a rule of at least two columns of dashes.
func (f *Finder) Hint(line []byte) bool {
	return bytes.HasSuffix(line, []byte("---")) && bytes.Contains(line, []byte("---  ---"))
}

// Open reports whether a table is being read or a rule waits for its header.
func (f *Finder) Open() bool { return len(f.open) > 0 || len(f.waits) > 0 }

// Tables ends the reading and returns the tables.
func (f *Finder) Tables() *profile.Tables {
	for len(f.open) > 0 {
		f.end(f.open[0])
	}
	f.waits, f.banner = nil, banner{}
	slices.SortStableFunc(f.out.List, func(a, b *profile.Table) int { return cmp.Compare(a.Line, b.Line) })
	f.out.Issues = f.issues.Issues()
	return f.out
}

func (f *Finder) issueAt(line int, code string, severity diag.Severity, help string, n int64) {
	f.issues.AddN(diag.Issue{Code: code, Severity: severity, First: diag.Pos{File: f.name, Line: line}, Help: help}, n)
}

// Line handles the next line.
func (f *Finder) Line(n int, line string) {
	f.n = n
	line = strings.TrimRight(line, " \t")
	if line == "" {
		return
	}
	f.expire()
	spans, from := rule(line)
	switch {
	case spans == nil && f.header(line):
	case f.passToTable(line):
	case spans == nil:
		f.banner.line(n, line)
	default:
		if len(f.waits) == maxRulers {
			f.waits = f.waits[1:]
		}
		p := newPrefix(line, from)
		pad := utf8.RuneCountInString(line[len(p.lead):from])
		f.waits = append(f.waits, ruler{at: n, prefix: p, spans: shifted(spans, pad), banner: f.banner.above(n)})
	}
}

// expire drops rules and tables that have waited for too long, so that a rule
// without a table does not slow down the rest of a log of gigabytes.
func (f *Finder) expire() {
	for len(f.waits) > 0 && f.n-f.waits[0].at > patience {
		f.waits = f.waits[1:]
	}
	for i := 0; i < len(f.open); {
		if o := f.open[i]; f.n-o.seen > patience || o.footer && f.n-o.seen > footerPatience {
			f.end(o)
			continue
		}
		i++
	}
}

// header opens a table if the line is a header. The rule of the table is the last
// one with the prefix of the line. If there is none, it is the last rule with any
// prefix, because some loggers write a prefix only before the first line of a text.
func (f *Finder) header(line string) bool {
	if !strings.Contains(line, "Name") || len(line) > maxHeader {
		return false
	}
	for i := len(f.waits) - 1; i >= 0; i-- {
		w := &f.waits[i]
		if !w.prefix.asked && f.shapes < maxShapes {
			w.prefix.makeShape()
			f.shapes++
		}
		if inner, ok := w.prefix.cut(line); ok {
			if columns := parseHeader(inner); columns != nil {
				f.begin(i, columns)
				return true
			}
		}
	}
	if len(f.waits) == 0 {
		return false
	}
	columns := parseHeader(line)
	if columns == nil {
		return false
	}
	last := len(f.waits) - 1
	w := &f.waits[last]
	w.spans, w.prefix = shifted(w.spans, -w.spans[0].from), prefix{}
	f.begin(last, columns)
	return true
}

// begin opens a table below a rule. If a table with the same prefix is still
// open, its end is missing.
func (f *Finder) begin(wait int, columns []column) {
	w := f.waits[wait]
	f.waits = slices.Delete(f.waits, wait, wait+1)
	if len(columns) != len(w.spans) {
		w.spans = nil
	}
	for _, o := range f.open {
		if o.prefix.lead == w.prefix.lead {
			f.end(o)
			break
		}
	}
	if len(f.open) == maxOpen {
		f.end(f.open[0])
	}
	f.open = append(f.open, newOpenTable(w, columns, f.n))
}

// passToTable passes a line to its table and reports whether the table took it. Of
// the tables whose prefix the line has, the one with the longest prefix is used.
// It returns false for the last rule of a table, because that may be the first
// rule of the next table if the end of this one is missing.
func (f *Finder) passToTable(line string) bool {
	var o *openTable
	var inner string
	for _, t := range f.open {
		if rest, has := t.prefix.cut(line); has && (o == nil || len(t.prefix.lead) > len(o.prefix.lead)) {
			o, inner = t, rest
		}
	}
	if o == nil {
		return false
	}
	if spans, from := rule(inner); spans != nil {
		if strings.TrimSpace(inner[:from]) != "" || o.footer {
			return false // belongs to another table
		}
		o.seen = f.n
		o.rules++
		o.footer = o.rules > 1
		return !o.footer
	}
	if o.total(inner) {
		o.footer, o.seen = true, f.n
		if o.totalsDone() {
			f.end(o)
		}
		return true
	}
	if !o.footer && f.row(o, inner) {
		o.seen = f.n
		return true
	}
	return false
}

// clip shortens a text of the input to the length of a label.
func clip(s string) string {
	if runes := []rune(s); len(runes) > maxText {
		return redact.Cut(s, len(string(runes[:maxText-1]))) + "…"
	}
	return s
}
