// Package stats reads the tables that "nsys stats" prints, and those that "nsys
// profile --stats=true" prints after a run.
//
// It reads text, CSV, TSV and JSON of all versions since 2019, one report or
// many, with or without the lines that nsys prints between them. Units come
// from the headers and are never assumed. Reports that list single events are
// added up by name. [Read] returns [profile.Tables]; package analyze measures
// them.
//
// This file reads lines and keeps the state between them. header.go has the
// columns that nsys prints; text.go, csv.go and json.go split rows in the three
// layouts, and grid.go makes text of drawn tables; table.go adds rows to the open table. message.go parses the lines
// between tables, report.go lists the reports, and share.go compares the printed
// shares with the sums. finder.go finds the tables in a log of another program.
package stats

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"assay/internal/diag"
	"assay/internal/profile"
	"assay/internal/redact"
	"assay/internal/textscan"
)

// Limits bound the resources for reading one input. A field that is 0 has the
// default value. Fields may be added.
type Limits struct {
	// Rows is the maximum number of rows of all tables of the input. Further
	// rows are added up: "table-rows-pooled".
	Rows int
}

const (
	defaultRows = 1 << 18

	// rowText is the number of bytes of names per row.
	rowText = 256

	// maxLine is the maximum length of a line. The longest names of kernels
	// have about ten thousand characters.
	maxLine = 1 << 20

	// maxTables is the maximum number of tables of one input; nsys has 40
	// reports.
	maxTables = 1000

	// maxSaid is the maximum length of a message of nsys about a report.
	maxMessage = 300
)

// Read reads all tables of an input. Name is the name of the input; it is used
// in messages and to distinguish reports with the same columns.
//
// An input without any table is an error. If an input cannot be read to its
// end, the tables read so far are returned with an issue, together with the
// error of the input.
func Read(in io.Reader, name string, limits Limits) (*profile.Tables, error) {
	r := newReader(textscan.NewReader(in, maxLine), name, limits)
	for {
		line, cut, err := r.lines.Next()
		if cut {
			r.issue("line-too-long", diag.DataLoss, fmt.Sprintf("lines of more than %d bytes were shortened", maxLine))
		}
		if line != "" || err == nil {
			r.line(line)
		}
		if err == nil {
			continue
		}
		r.close()
		r.unread()
		if !errors.Is(err, io.EOF) {
			r.broken(err)
		} else {
			err = nil
		}
		return r.done(err)
	}
}

// newReader returns a reader of lines.
func newReader(lines *textscan.Reader, name string, limits Limits) *reader {
	rows := cmp.Or(limits.Rows, defaultRows)
	r := &reader{
		name: name, lines: lines, rows: rows, text: rows * rowText,
		out: &profile.Tables{Tool: "nsys", Complete: true},
	}
	if rep, run, ok := reportInName(name); ok {
		r.byName, r.run = rep.name, run
	}
	return r
}

// A reader reads one input.
type reader struct {
	name   string
	byName string // the report that the name of the input contains
	run    string // the run of the tables, from the last message of nsys or from the name of the input
	lines  *textscan.Reader
	passed bool // each line is passed by the caller, so lines cannot be read ahead
	out    *profile.Tables
	issues diag.Ledger

	rows, text int // rows, and bytes of text, left until the limit

	next      message    // the last message about the next table
	last      string     // the last line that is not blank: a header, if dashes follow
	lastAt    int        // its number
	grid      grid       // the lines around the cells of a table
	open      *openTable // the table that is being read, or nil
	failed    string     // the error of nsys itself, or ""
	announced string     // a table that nsys announced and that did not follow, or ""
}

func (r *reader) pos() diag.Pos { return diag.Pos{File: r.name, Line: r.lines.N} }

func (r *reader) issue(code string, severity diag.Severity, help string) {
	r.issues.Add(diag.Issue{Code: code, Severity: severity, First: r.pos(), Help: help})
}

// broken adds an issue with the reason why the input could not be read to its
// end.
func (r *reader) broken(err error) {
	var limit interface{ Code() string }
	var tail interface{ Harmless() bool }
	switch {
	case errors.As(err, &limit):
		r.out.Complete = false
		r.issue(limit.Code(), diag.DataLoss, err.Error()+"; rows and tables after this position are missing")
	case errors.As(err, &tail) && tail.Harmless():
		r.issue("trailing-data", diag.Info, "the data after the compressed data cannot be read ("+err.Error()+"); the tables are complete")
	default:
		r.out.Complete = false
		r.issue("input-truncated", diag.DataLoss, "the input is cut here ("+err.Error()+"); rows and tables after this position are missing")
	}
}

// unread adds an issue for a table that was announced and did not follow.
func (r *reader) unread() {
	if r.next.report != "" && r.failed == "" {
		r.announced = r.next.report
		r.issue("table-unread", diag.DataLoss, "Tables that nsys announced are missing or have an unsupported format. Print them with --format csv.")
	}
}

// done returns the result.
func (r *reader) done(err error) (*profile.Tables, error) {
	r.out.Issues = r.issues.Issues()
	switch {
	case len(r.out.List) > 0:
		return r.out, err
	case err != nil:
		return nil, err
	case r.failed != "":
		return nil, r.errorf("nsys failed (%q); run nsys stats again on the report", r.failed)
	case r.announced != "":
		return nil, r.errorf("nsys announced table %q, but no table could be read; print the tables with --format csv",
			clip(r.announced))
	}
	return nil, r.errorf(`no table of nsys stats; give the output of "nsys stats REPORT", as text or CSV`)
}

func (r *reader) errorf(format string, args ...any) error {
	return &diag.Error{Pos: diag.Pos{File: r.name, Line: 1}, Msg: fmt.Sprintf(format, args...)}
}

// line handles one line. Within a table, a line that can be a row is a row:
// checking each of millions of lines for anything else first would take most of
// the time.
func (r *reader) line(line string) {
	line, rule := r.grid.text(line)
	if rule && r.open != nil {
		r.close()
		return
	}
	if r.open != nil {
		inner := r.open.layout.afterPrefix(line)
		if r.open.quoted != "" && r.continues(inner) {
			return
		}
		if strings.TrimSpace(inner) == "" {
			r.close()
			return
		}
		if cells := r.open.cut(line, inner); cells != nil {
			if r.open.spans == nil && unclosed(cells) {
				r.notARow(line, cells)
			} else {
				r.cells(cells)
			}
			return
		}
	}
	if s, ok := parseMessage(line); ok {
		r.close()
		r.storeMessage(s, line)
		return
	}
	switch {
	case r.open == nil && !r.passed && opensArray(line) && r.array(line):
	case r.header(line):
	case r.open != nil:
		r.notARow(line, nil)
	case strings.TrimSpace(line) != "":
		r.last, r.lastAt = line, r.lines.N
	}
}

// storeMessage stores what nsys prints about the next table, or the reason why it
// prints no table.
func (r *reader) storeMessage(s message, line string) {
	switch {
	case s.skipped != "":
		rep := reportOf(cmp.Or(r.next.report, r.byName, "unknown"))
		r.add(&profile.Table{Name: rep.name, Title: r.next.title, Of: rep.of, Run: r.run, Missing: clip(s.skipped)})
		r.next = message{}
	case s.failed:
		r.failed = clip(line)
		r.issue("nsys-error", diag.DataLoss, "nsys reported an error here, so tables may be missing. Read the line, and run nsys stats again.")
	case s.report != "":
		s.title = clip(s.title)
		r.run = cmp.Or(s.run, r.run)
		if s.report != r.next.report {
			r.unread()
		}
		if s.unit == "" && s.report == r.next.report {
			s.unit = r.next.unit
		}
		r.next = s
	}
}

// header opens the table whose header, or the dashes below it, is the line.
func (r *reader) header(line string) bool {
	l := textLayout(r.last, line, r.next.unit)
	at := r.lastAt
	if l == nil {
		if l = csvLayout(line, r.next.unit); l == nil {
			return false
		}
		at = r.lines.N
	}
	r.close()
	r.last = ""
	l.at = at
	r.open = newOpenTable(l, r.next)
	r.next = message{unit: r.next.unit}
	return true
}

// add adds a complete table.
func (r *reader) add(t *profile.Table) {
	if len(r.out.List) >= maxTables {
		r.issue("too-many-tables", diag.DataLoss, fmt.Sprintf("tables over the limit of %d in one input were left out", maxTables))
		return
	}
	r.out.List = append(r.out.List, t)
}

// clip shortens a message of nsys.
func clip(s string) string {
	if runes := []rune(s); len(runes) > maxMessage {
		return redact.Cut(s, len(string(runes[:maxMessage-1]))) + "…"
	}
	return s
}
