// Package ncu reads the output of Nsight Compute.
//
// It reads details pages, raw pages, lists of --metrics and --print-summary of
// all versions since 2019, with --csv or as text, one table or many in a stream, surrounded by output
// of the profiled program and of ncu itself. Numbers may have the separators of
// any locale. [Read] returns a [Capture], in which raw and details pages use one
// vocabulary; package analyze measures it.
//
// counters.go has the model, quantity.go the list of what is measured, and
// derive.go the values computed from several counters. For the reader, start with
// this file, which handles lines; layout.go parses headers, rows.go handles rows, page.go pages in text form,
// and number.go their values. vocabulary.go maps the names of all versions to
// quantities, and builder.go bounds the memory.
package ncu

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"assay/internal/diag"
	"assay/internal/redact"
	"assay/internal/textscan"
)

// Limits bound the resources for reading one input. A field that is 0 has the
// default value. Fields may be added.
type Limits struct {
	Memory int64 // estimated bytes; if more are needed, the input ends: "memory-limit"
}

const (
	// maxLine is the maximum length of a line. Headers of raw pages have a few
	// hundred thousand bytes.
	maxLine = 1 << 20

	// maxJoined is the maximum number of lines of a row. Names and texts of
	// rules with line breaks continue in the next line.
	maxJoined = 64

	// maxSaid is the maximum length of a message of ncu that is repeated.
	maxMessage = 200

	// maxResolved is the maximum number of metrics whose meaning is cached.
	// maxDoubts is the maximum number of ambiguous numbers that are kept until
	// another number shows the decimal separator.
	maxResolved = 1 << 14
	maxDoubts   = 1 << 20
)

// Read reads all tables of an input. Name is that of the input, for messages.
//
// An input without any launch is an error, which states the reason if ncu
// printed it. If an input cannot be read to its end, the launches before that
// are returned with an issue.
func Read(in io.Reader, name string, limits Limits) (*Capture, error) {
	r := &reader{
		file: name, lines: textscan.NewReader(in, maxLine), b: NewBuilder(limits.Memory), launch: -1,
		resolved: make(map[printed]resolved),
	}
	for !r.full {
		line, cut, err := r.lines.Next()
		if cut {
			r.note("line-too-long", diag.DataLoss, fmt.Sprintf("lines of more than %d bytes were shortened; the rest of them is missing", maxLine))
		}
		switch {
		case err == nil:
			r.line(line)
			continue
		case errors.Is(err, io.EOF):
			r.line(line)
			r.end()
			return r.done(true, nil)
		}
		return r.done(false, err) // the line is incomplete
	}
	return r.done(false, nil)
}

// A reader reads one input.
type reader struct {
	file  string
	lines *textscan.Reader
	b     *Builder
	rows  int64
	full  bool // the memory limit is reached

	table  *layout
	row    []string
	joined []string // lines of a row that is not complete

	launch int      // to which the rows of a metric belong, or -1
	last   []string // the cells that identify that launch

	numbers  notation
	doubts   []doubt
	resolved map[printed]resolved

	denied  bool   // ncu was not permitted to read counters
	message string // the first error of ncu, otherwise its first warning
	failed  bool   // said is an error

	text textPage
}

// A doubt is a metric whose value is ambiguous by a factor of a thousand.
type doubt struct {
	launch, metric int
	sep            byte
}

func (r *reader) pos() diag.Pos { return diag.Pos{File: r.file, Line: r.lines.N} }

func (r *reader) note(code string, severity diag.Severity, help string) {
	r.b.Note(diag.Issue{Code: code, Severity: severity, First: r.pos(), Help: help})
}

// line takes one line of the input.
func (r *reader) line(line string) {
	if r.joined == nil && r.isMessage(line) {
		return
	}
	if l := layoutOf(line); l != nil {
		r.broken()
		r.endPart()
		r.table, r.launch, r.last, r.text = l, -1, nil, textPage{}
		return
	}
	if r.table == nil || r.joined == nil && !strings.HasPrefix(line, `"`) {
		if r.textLine(line) || r.table == nil {
			return
		}
	}
	r.rowLine(line)
}

// rowLine handles a line after a header: a row, a part of one, or output of the
// program.
func (r *reader) rowLine(line string) {
	l := r.table
	part, alone := line, ""
	if r.joined == nil {
		// The bytes before the header are the prefix of a log, which each line
		// has, or output of the program without a line ending.
		if l.prefix > 0 && !strings.HasPrefix(line, `"`) {
			line = line[min(l.prefix, len(line)):]
			part = line
		}
	} else {
		line, alone = strings.Join(append(r.joined, line), "\n"), line
	}
	list, whole := cells(line, l.comma, r.row)
	r.row = list
	if !whole {
		if len(r.joined) >= maxJoined || len(line) > maxLine {
			r.broken()
			return
		}
		r.joined = append(r.joined, part)
		return
	}
	r.joined = nil
	switch {
	case !l.isRow(line, list):
		return
	case len(list) >= l.least():
		r.cells(list)
	default:
		r.rows++
		r.malformed()
	}
	if alone != "" && len(list) < l.least() {
		r.rowLine(alone) // the lines joined to it were not part of the row
	}
}

// broken drops an incomplete row.
func (r *reader) broken() {
	if r.joined != nil {
		r.joined = nil
		r.rows++
		r.malformed()
	}
}

func (r *reader) malformed() {
	r.note("row-malformed", diag.DataLoss, "rows with fewer cells than the header requires, or with a quote that is never closed, were skipped; their metrics are missing")
}

// end is called at the end of the input.
func (r *reader) end() {
	r.endPart()
	if r.joined != nil {
		r.note("input-truncated", diag.DataLoss, "the input ends within a row; copy the file again, or let ncu run to its end")
	}
}

// isMessage reports whether a line is a message of ncu itself, and stores it.
func (r *reader) isMessage(line string) bool {
	at := strings.Index(line, "==")
	if at < 0 || at > 64 {
		return false
	}
	text := line[at:]
	if rest, ok := strings.CutPrefix(text, "==ERROR=="); ok {
		r.storeMessage(rest, true)
		return true
	}
	if rest, ok := strings.CutPrefix(text, "==WARNING=="); ok {
		r.storeMessage(rest, false)
		return true
	}
	return strings.HasPrefix(text, "==PROF==")
}

func (r *reader) storeMessage(text string, failed bool) {
	text = strings.TrimSpace(text)
	if failed && !r.failed || r.message == "" {
		r.message, r.failed = clip(text), failed
	}
	if strings.Contains(text, "ERR_NVGPUCTRPERM") {
		r.denied = true
		r.note("counters-denied", diag.DataLoss, "ncu was not permitted to read the counters of a device, so launches are missing; "+permission)
		return
	}
	if failed {
		r.note("ncu-error", diag.DataLoss, "ncu reported an error here, so launches or metrics may be missing; read the line, and profile again")
		return
	}
	r.note("ncu-warning", diag.Info, "ncu printed a warning here; read the line")
}

// clip shortens a message of ncu.
func clip(s string) string {
	if runes := []rune(s); len(runes) > maxMessage {
		return redact.Cut(s, len(string(runes[:maxMessage-1]))) + "…"
	}
	return s
}

// permission describes how to get access to the counters.
const permission = "run ncu as administrator, or load the driver with NVreg_RestrictProfilingToAdminUsers=0, or start the container with --cap-add SYS_ADMIN"

// done returns the result. If cause is not nil, it ended the input.
func (r *reader) done(complete bool, cause error) (*Capture, error) {
	r.finalize()
	if r.b.Launches() == 0 {
		if cause != nil {
			return nil, cause
		}
		return nil, r.noLaunches()
	}
	if cause != nil {
		code := "input-truncated"
		var limit interface{ Harmless() bool }
		if errors.As(cause, &limit) {
			code = "input-limit"
		}
		r.note(code, diag.DataLoss, fmt.Sprintf("the input could not be read to its end (%s); the following rows are missing", cause))
	}
	return r.b.Capture(r.rows, complete && r.joined == nil), nil
}

// noLaunches returns the error for an input without launches.
func (r *reader) noLaunches() error {
	err := &diag.Error{Pos: diag.Pos{File: r.file, Line: 1}}
	switch {
	case r.denied:
		err.Msg = "ncu was not permitted to read the counters of the GPU (ERR_NVGPUCTRPERM), so there is nothing to read; " + permission + ", and profile again"
	case r.message != "":
		err.Msg = fmt.Sprintf("ncu profiled nothing and reported %q; profile again", r.message)
	case r.table != nil:
		err.Msg = "the ncu table has no rows; check that --kernel-name and --launch-skip leave a launch, and profile again"
	default:
		err.Msg = "the input has no ncu table; use the output of ncu, with --page details or --page raw, best with --csv"
	}
	return err
}
