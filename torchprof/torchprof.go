// Package torchprof reads the tables that torch.profiler prints, the text of
// key_averages().table(), wherever they stand: in files of their own, in logs,
// behind the prefixes of loggers, in documents.
//
// Layouts of all versions and devices are read; columns are known by the words
// of their headers, never by their place. Of each printed table come up to three
// [profile.Table]s, for a printed table has rows of different kinds whose times
// must not be added to each other:
//
//   - "key_averages" has what ran on the CPU: operators, calls of the runtime,
//     ranges. The device's time in it is that of the kernels which an operator
//     launched itself (self) or with all inside it (total).
//   - "key_averages.cuda", or what the device is called, has the kernels, copies
//     and memsets: the rows with no time on the CPU and some of their own on the
//     device. They are the same time as the operators' once more.
//   - "key_averages.cuda.ranges" has the ranges that the program marked, as the
//     device saw them: rows like those of kernels, but with the name of a row of
//     the CPU, with that of a profiler's step, or with more time than the device
//     worked in all. They contain kernels.
//
// Times are whole nanoseconds, as far as the text tells them: the profiler
// prints three decimals of µs, ms or s. Shares are compared with those that
// follow from the times, and totals with what the rows add up to; where they
// differ an issue says so. The times stand.
//
// [Finder] works on the lines of a longer text, [Read] on an input. Package
// analyze measures what they return.
package torchprof

import (
	"bytes"
	"cmp"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"assay/diag"
	"assay/internal/textscan"
	"assay/profile"
)

// Limits bound what reading one input may take, whatever the input is. A field
// that is 0 has the value of the default. Fields may be added.
type Limits struct {
	// Rows is how many rows all tables of the input may have. Further ones are
	// added up: "table-rows-pooled".
	Rows int
}

const (
	defaultRows = 1 << 18

	// rowText is how many bytes of names and labels there may be for each row.
	rowText = 512

	// maxTables is how many printed tables of one input are read.
	maxTables = 1000

	// maxOpen is how many tables may be under way at once: processes write into
	// one log side by side.
	maxOpen = 64

	// maxRulers is how many rules may wait for their header, and patience how many
	// lines one waits. Lines of other processes come between.
	// Totals that nothing follows are waited for less long.
	maxRulers      = 16
	patience       = 200
	footerPatience = 20

	// maxColumns is over what any version prints, with two devices.
	maxColumns = 64

	// maxHeader is how long a header may be, and maxShapes how many prefixes are
	// searched for times: a hostile text has one in every line.
	maxHeader = 32 << 10
	maxShapes = 10_000

	// maxText is how much is kept of a header text or label.
	maxText = 300
)

// Sniff reports whether a file that begins with prefix holds a table: a rule of
// dashes with the header of one below it.
func Sniff(prefix []byte) bool {
	f := NewFinder("", Limits{})
	textscan.Scan(strings.NewReader(string(prefix)), f)
	return len(f.open) > 0 || len(f.out.List) > 0
}

// Read reads all tables of an input. Name is that of the input, for messages.
//
// An input without any table is an error. Where it cannot be read to its end,
// what was read stands; the error of the input comes with the tables.
func Read(in io.Reader, name string, limits Limits) (*profile.Tables, error) {
	f := NewFinder(name, limits)
	_, err := textscan.Scan(in, f)
	t := f.Tables()
	t.Complete = err == nil
	if len(t.List) == 0 && err == nil {
		err = &diag.Error{Pos: diag.Pos{File: name, Line: 1}, Msg: "no table of torch.profiler; give the text of key_averages().table()"}
	}
	if len(t.List) == 0 {
		return nil, err
	}
	return t, err
}

// A Finder finds the tables in a text whose lines it is given: it is a
// [textscan.Finder].
type Finder struct {
	name   string
	out    *profile.Tables
	issues diag.Ledger

	rows, text int // room left
	printed    int // tables met
	shapes     int // prefixes searched for times

	n      int // the line
	banner banner
	waits  []ruler
	open   []*opened
}

// NewFinder returns a Finder for an input of that name.
func NewFinder(name string, limits Limits) *Finder {
	rows := cmp.Or(limits.Rows, defaultRows)
	return &Finder{name: name, rows: rows, text: rows * rowText, out: &profile.Tables{Tool: "torch", Complete: true}}
}

// Hint reports whether a line is a rule of two columns of dashes or more.
func (f *Finder) Hint(line []byte) bool {
	return bytes.HasSuffix(line, []byte("---")) && bytes.Contains(line, []byte("---  ---"))
}

// Open reports whether a table is under way or a rule waits for its header.
func (f *Finder) Open() bool { return len(f.open) > 0 || len(f.waits) > 0 }

// Tables ends the reading and returns what was read.
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

// Line takes the next line.
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
	case f.taken(line):
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

// expire drops what has waited for too long, so that a rule without a table does
// not keep the reader at work through a log of gigabytes.
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

// header opens the table that a line is the header of: that of the last rule with
// the line's prefix. Loggers set theirs before the first line of a text only, so
// without such a rule it may be one with any prefix.
func (f *Finder) header(line string) bool {
	if !strings.Contains(line, "Name") || len(line) > maxHeader {
		return false
	}
	for i := len(f.waits) - 1; i >= 0; i-- {
		w := &f.waits[i]
		if !w.prefix.asked && f.shapes < maxShapes {
			w.prefix.giveShape()
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

// begin opens a table below a rule. One with the same prefix that is still open
// has lost its end.
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
	f.open = append(f.open, newOpened(w, columns, f.n))
}

// taken gives a line to the table that it is of, the one with the longest prefix
// that the line has, and reports whether it is of one. The last rule of a table
// is not: it may be the first of the next one whose end is lost.
func (f *Finder) taken(line string) bool {
	var o *opened
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
			return false // of another table
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

// clip cuts a text of the input to a length that a label can have.
func clip(s string) string {
	if runes := []rune(s); len(runes) > maxText {
		return string(runes[:maxText-1]) + "…"
	}
	return s
}
