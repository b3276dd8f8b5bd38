package pyprof

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"assay/internal/diag"
	"assay/internal/lazyregexp"
	"assay/internal/profile"
)

var (
	// pstatsSum matches the line above a table. The time is measured with the clock
	// that the profiler was given; Python 2 prints "CPU" if it is a CPU clock.
	pstatsSum = lazyregexp.New(`^\s*(\d{1,18}) function calls?(?: \((\d{1,18}) primitive calls?\))? in (\d+\.\d+) (CPU )?seconds\s*$`)

	pstatsHeader  = lazyregexp.New(`^\s*ncalls\s+tottime\s+percall\s+cumtime\s+percall\s+filename:lineno\(function\)\s*$`)
	pstatsReduced = lazyregexp.New(`^\s*List reduced from (\d{1,9}) to (\d{1,9}) due to restriction`)
	pstatsCallers = lazyregexp.New(`^Function\s+(was called by\.\.\.|called\.\.\.)\s*$`)
	pstatsPlace   = lazyregexp.New(`^(.*):(\d{1,9})\((.*)\)$`)
)

// SniffPstats reports whether a file that begins with prefix has the output of Python's
// pstats. cProfile prints it after the output of the program.
func SniffPstats(prefix []byte) bool {
	text := string(prefix)
	if !strings.Contains(text, "function call") && !strings.Contains(text, "ncalls") && !strings.Contains(text, "called") {
		return false // without compiling the expressions
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if pstatsSum().MatchString(line) || pstatsHeader().MatchString(line) || pstatsCallers().MatchString(line) {
			return true
		}
	}
	return false
}

// ReadPstats reads the tables that print_stats of Python's pstats prints. Tables of
// callers and callees are skipped. Name is the name of the input for messages. If the
// input fails, ReadPstats returns the tables read so far together with the error.
func ReadPstats(in io.Reader, name string, limits Limits) (*profile.Tables, error) {
	out := &profile.Tables{Tool: "pstats", Complete: true}
	r := pstatsReader{lineReader: newLineReader(in, name), limits: limits, out: out}
	err := r.each(func(line string) error { r.line(line); return nil })
	r.close()
	r.out.Complete = err == nil
	if len(r.out.List) == 0 {
		if err == nil {
			msg := "no table of pstats; give what print_stats prints"
			if r.callers {
				msg = "only tables of callers or callees, which have no totals; print the functions too (print_stats), or give the file of cProfile itself"
			}
			err = &diag.Error{Pos: diag.Pos{File: name, Line: 1}, Msg: msg}
		}
		return nil, err
	}
	r.out.Issues = r.issues.Issues()
	return r.out, err
}

// A pstatsReader reads one input.
type pstatsReader struct {
	*lineReader
	limits Limits
	out    *profile.Tables

	counts  pstatsCounts // of the table that follows
	open    *openTable   // the table that is being read, or nil
	at      diag.Pos     // of its header
	callers bool         // a table of callers was read
}

// pstatsCounts are the numbers that pstats prints above a table.
type pstatsCounts struct {
	known      bool
	calls      int64
	primitive  int64
	ns         int64
	rows, kept int64 // before and after restrictions; 0 if none
	cpu        bool
}

func (r *pstatsReader) line(line string) {
	if m := pstatsSum().FindStringSubmatch(line); m != nil {
		r.close()
		r.counts = pstatsCounts{known: true, cpu: m[4] != ""}
		r.counts.calls, _ = strconv.ParseInt(m[1], 10, 64)
		r.counts.primitive = r.counts.calls
		if m[2] != "" {
			r.counts.primitive, _ = strconv.ParseInt(m[2], 10, 64)
		}
		var err error
		if r.counts.ns, err = seconds(m[3]); err != nil {
			r.counts.known = false
		}
		return
	}
	if m := pstatsReduced().FindStringSubmatch(line); m != nil && r.open == nil {
		from, _ := strconv.ParseInt(m[1], 10, 64)
		r.counts.kept, _ = strconv.ParseInt(m[2], 10, 64)
		if r.counts.rows == 0 { // a second restriction applies to the rows that the first one left
			r.counts.rows = from
		}
		return
	}
	switch {
	case pstatsHeader().MatchString(line):
		r.close()
		r.begin()
	case pstatsCallers().MatchString(line):
		r.close()
		r.callers = true
		r.issue("callers-left-out", diag.Info, "")
	case r.open == nil:
	case strings.TrimSpace(line) == "":
		if len(r.open.Rows) > 0 {
			r.close()
		}
	default:
		r.row(line)
	}
}

func (r *pstatsReader) begin() {
	t := &profile.Table{Name: "functions", Title: "Functions (pstats)", Of: profile.OfFunction,
		Columns: []profile.Heading{countColumn, primitiveColumn, selfColumn, totalColumn}}
	if r.counts.cpu {
		t.Clock = profile.ClockCPU
	}
	r.open, r.at = newOpenTable(t, r.limits), r.pos()
	if len(r.out.List) == 0 {
		r.issue("times-rounded", diag.Info, "")
	}
}

// row reads a row: numbers, then a function. The averages of functions without calls
// are blank.
func (r *pstatsReader) row(line string) {
	r.out.Records++
	rest := line
	var texts []string
	for len(texts) < 5 {
		rest = strings.TrimLeft(rest, " \t")
		text, after, ok := strings.Cut(rest, " ")
		if !ok {
			break
		}
		if len(texts) > 0 {
			if _, err := seconds(text); err != nil {
				break
			}
		}
		texts, rest = append(texts, text), after
	}
	if len(texts) != 5 && len(texts) != 3 {
		r.malformed("have other cells than its header")
		return
	}
	all, primitive, err := calls(texts[0])
	self, errSelf := seconds(texts[1])
	total, errTotal := seconds(texts[len(texts)/2+1])
	for _, err := range []error{err, errSelf, errTotal} {
		if err != nil {
			r.malformed(fmt.Sprintf("have a value that is %s", err))
			return
		}
	}
	if self < 0 || total < 0 {
		r.issue("negative-time", diag.DataLoss, "Rows with times below zero were skipped, because a clock was set back. Their values are missing from every total. Record again.")
		return
	}
	row := profile.Row{Name: pstatsName(rest), Line: r.N, Cells: []profile.Cell{all, primitive, profile.Known(self), profile.Known(total)}}
	r.open.add(row, r.pos(), &r.issues)
}

// pstatsName returns the name of a function that pstats prints as
// "app.py:118(verify)".
func pstatsName(text string) string {
	text = strings.TrimSpace(text)
	if m := pstatsPlace().FindStringSubmatch(text); m != nil {
		return m[1] + ":" + m[2] + " " + m[3]
	}
	return strings.Clone(text)
}

func (r *pstatsReader) malformed(why string) {
	r.issue("row-malformed", diag.DataLoss, "Lines within a table that "+why+" were skipped. Their values are missing from every total. Print the table again.")
}

// close ends the open table. The difference between the sums in the line above the table
// and the sums of its rows belongs to rows that were not printed.
func (r *pstatsReader) close() {
	if r.open == nil {
		return
	}
	t, counts := r.open.Table, r.counts
	r.open, r.counts = nil, pstatsCounts{}
	if len(r.out.List) >= maxTables {
		r.issue("too-many-tables", diag.DataLoss, fmt.Sprintf("Tables over the limit of %d per input were left out. Give them as separate inputs.", maxTables))
		return
	}
	r.out.List = append(r.out.List, t)
	if !counts.known || t.Rest != nil {
		return
	}
	missing := []int64{counts.calls, counts.primitive, counts.ns}
	for i := range missing {
		missing[i] -= t.Sum(i).Value
	}
	if missing[0] <= 0 {
		return // all calls are there; the times differ only by rounding
	}
	t.Rest = make([]profile.Cell, len(t.Columns))
	for i, n := range missing {
		if n >= 0 {
			t.Rest[i] = profile.Known(n)
		}
	}
	if counts.rows > counts.kept && counts.kept == int64(len(t.Rows)) {
		t.Left = counts.rows - counts.kept
		return
	}
	r.issues.AddN(diag.Issue{Code: "table-cut", Severity: diag.DataLoss, First: r.at,
		Help: "The line above the table counts more calls than its rows have, so rows are missing. Their sum is shown as the rest. Print the whole table."}, 1)
}
