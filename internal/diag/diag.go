// Package diag describes problems of an input, their position and their effect on
// the results.
//
// Parsers return two kinds of problems. An [Error] stops or skips one record and has
// its position. An [Issue] is a counted condition with a code that did not stop the
// parser and may affect results. A [Ledger] collects issues, so that every report can
// print them.
package diag

import (
	"fmt"
	"slices"
	"strings"
)

// A Pos points into an input. Text formats fill Line; JSON, which is often one
// very long line, fills Offset and Path instead.
type Pos struct {
	File   string
	Line   int    // 1-based, 0 if not a line-oriented format
	Offset int64  // byte offset into the uncompressed input
	Path   string // where inside the document, as "traceEvents[7].dur"
}

// String returns the position as "run.json@81920: traceEvents[7].dur" or, for text
// formats, "run.txt:12".
func (p Pos) String() string {
	s := p.File
	if s == "" {
		s = "<input>"
	}
	if p.Line > 0 {
		s = fmt.Sprintf("%s:%d", s, p.Line)
	} else {
		s = fmt.Sprintf("%s@%d", s, p.Offset)
	}
	if p.Path != "" {
		s += ": " + p.Path
	}
	return s
}

// An Error is one malformed record. It is not fatal: a reader that returns an Error
// as a record can read the next one.
type Error struct {
	Pos Pos
	Msg string // what is wrong, lower case, no trailing period
	Err error  // the cause, or nil
}

// Error returns the position, the message and the cause.
func (e *Error) Error() string {
	s := e.Pos.String() + ": " + e.Msg
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the cause, or nil.
func (e *Error) Unwrap() error { return e.Err }

// Severity orders issues by their effect on the results.
type Severity uint8

// The severities, by rising weight.
const (
	Info     Severity = iota // no number is affected
	DataLoss                 // the profiler dropped or truncated something
	Suspect                  // a number may be wrong
)

// String returns the name that reports and JSON use: "info", "data-loss" or
// "suspect".
func (s Severity) String() string {
	switch s {
	case Info:
		return "info"
	case DataLoss:
		return "data-loss"
	case Suspect:
		return "suspect"
	}
	return fmt.Sprintf("severity(%d)", uint8(s))
}

// An Issue is one kind of problem and the number of its occurrences.
type Issue struct {
	Code     string // stable, kebab-case, e.g. "kernel-without-launch"
	Severity Severity
	Count    int64
	First    Pos    // the first occurrence
	Help     string // the effect on the results and the remedy; if empty, a Ledger fills in the registry's
}

// EndsInput reports whether the issue says that a limit ended the reading of an input.
func (is Issue) EndsInput() bool {
	return is.Code == "memory-limit" || is.Code == "input-limit" || is.Code == "inflation-limit"
}

// Warnings returns one line for each issue that may affect the numbers of a file.
func Warnings(file string, issues []Issue) (lines []string) {
	for _, is := range issues {
		if is.Severity != Info {
			lines = append(lines, fmt.Sprintf("%s: %s ×%d: %s", file, is.Code, is.Count, is.Help))
		}
	}
	return lines
}

// A Ledger counts issues by code. The zero Ledger is ready to use. It is not
// safe for concurrent use: each goroutine needs its own, and [Ledger.Merge] combines
// them in the order of the input.
type Ledger struct{ m map[string]*Issue }

// Add counts one occurrence of the issue; is.Count is ignored.
func (l *Ledger) Add(is Issue) { l.AddN(is, 1) }

// AddN counts n occurrences of the issue; is.Count is ignored. A code that was
// added before keeps its first Pos and Help and the worse severity, so the order of
// additions does not lower the severity. An empty Help is filled in
// from the registry: see [HelpOf]. Nothing happens if n is not positive.
func (l *Ledger) AddN(is Issue, n int64) {
	if n <= 0 {
		return
	}
	have, ok := l.m[is.Code]
	if !ok {
		if l.m == nil {
			l.m = make(map[string]*Issue)
		}
		is.Count = n
		if is.Help == "" {
			is.Help = HelpOf(is.Code)
		}
		l.m[is.Code] = &is
		return
	}
	have.Count += n
	have.Severity = max(have.Severity, is.Severity)
}

// Remove takes back one occurrence of a code, which something else explains.
func (l *Ledger) Remove(code string) {
	if have, ok := l.m[code]; ok {
		if have.Count--; have.Count == 0 {
			delete(l.m, code)
		}
	}
}

// Merge adds all issues of other, which is not changed. Issues of l count as earlier
// than those of other.
func (l *Ledger) Merge(other *Ledger) {
	l.AddAll(other.Issues())
}

// AddAll adds issues with their counts, in their order.
func (l *Ledger) AddAll(issues []Issue) {
	for _, is := range issues {
		l.AddN(is, is.Count)
	}
}

// Issues returns the issues, sorted by severity, worst first, then by code.
func (l *Ledger) Issues() []Issue {
	out := make([]Issue, 0, len(l.m))
	for _, is := range l.m {
		out = append(out, *is)
	}
	slices.SortFunc(out, func(a, b Issue) int {
		if a.Severity != b.Severity {
			return int(b.Severity) - int(a.Severity)
		}
		return strings.Compare(a.Code, b.Code)
	})
	return out
}
