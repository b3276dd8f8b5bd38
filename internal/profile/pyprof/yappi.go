package pyprof

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"assay/internal/diag"
	"assay/internal/lazyregexp"
	"assay/internal/profile"
)

// yappiHeader matches the header of a table of functions or of threads. Its
// columns can be chosen; the name comes first. Versions before 0.8 call the
// number of calls "#n".
var yappiHeader = lazyregexp.New(`^name((?:\s+(?:ncall|#n|tsub|ttot|tavg))+|\s+id(?:\s+(?:tid|ttot|scnt))+)\s*$`)

var yappiClock = lazyregexp.New(`^Clock type: (\w+)\s*$`)

// SniffYappi reports whether a file that begins with prefix is output of yappi: only
// the lines that announce a table precede its header.
func SniffYappi(prefix []byte) bool {
	for line := range strings.Lines(strings.TrimPrefix(string(prefix), "\ufeff")) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case strings.HasPrefix(line, "name") && yappiHeader().MatchString(line):
			return strings.Contains(line, "ttot") || strings.Contains(line, "tsub")
		case strings.TrimSpace(line) == "", strings.HasPrefix(line, "Clock type") && yappiClock().MatchString(line), strings.HasPrefix(line, "Ordered by: "):
		default:
			return false
		}
	}
	return false
}

// HasRows reports whether a file of yappi that begins with prefix has anything after its
// header. NeMo Gym writes files that do not.
func HasRows(prefix []byte) bool {
	seen := false
	for line := range strings.Lines(string(prefix)) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case yappiHeader().MatchString(line):
			seen = true
		case seen && strings.TrimSpace(line) != "":
			return true
		}
	}
	return false
}

// ReadYappi reads the tables of functions and threads that yappi prints with print_all,
// and the excerpts of such tables that NeMo Gym writes for each server. Name is the name
// of the input for messages. If the input fails, ReadYappi returns the tables read so far
// together with the error.
func ReadYappi(in io.Reader, name string, limits Limits) (*profile.Tables, error) {
	r := yappiReader{lineReader: newLineReader(in, name), limits: limits, out: &profile.Tables{Tool: "yappi", Complete: true}}
	err := r.each(func(line string) error { r.line(line); return nil })
	r.close()
	r.out.Complete = err == nil
	if len(r.out.List) == 0 {
		if err == nil {
			err = &diag.Error{Pos: diag.Pos{File: name, Line: 1}, Msg: "no table of yappi; give what print_all writes"}
		}
		return nil, err
	}
	r.cutNames()
	r.out.Issues = r.issues.Issues()
	return r.out, err
}

// A yappiReader reads one input.
type yappiReader struct {
	*lineReader
	limits Limits
	out    *profile.Tables

	clock string     // of the tables that follow
	open  *openTable // the table that is being read, or nil
	at    diag.Pos   // of its header
	texts []string   // yappi's names of its columns, without the first
}

func (r *yappiReader) line(line string) {
	switch m := yappiClock().FindStringSubmatch(line); {
	case m != nil:
		r.close()
		r.clock = strings.ToLower(m[1])
	case yappiHeader().MatchString(line):
		r.close()
		r.begin(strings.Fields(line)[1:])
	case r.open == nil, strings.TrimSpace(line) == "", strings.HasPrefix(line, "Ordered by: "):
	default:
		r.row(line)
	}
}

// begin opens a table.
func (r *yappiReader) begin(columns []string) {
	t := &profile.Table{Name: "functions", Title: "Functions (yappi)", Of: profile.OfFunction, Clock: r.clock}
	if slices.Contains(columns, "id") {
		t.Name, t.Title, t.Of = "threads", "Threads (yappi)", profile.OfThread
	}
	for _, c := range columns {
		switch c {
		case "ncall", "#n":
			t.Columns = append(t.Columns, countColumn, primitiveColumn)
		case "tsub":
			t.Columns = append(t.Columns, selfColumn)
		case "ttot":
			h := totalColumn
			if t.Of == profile.OfThread {
				h.Adds = profile.Self
			}
			t.Columns = append(t.Columns, h)
		case "tavg":
			t.Columns = append(t.Columns, meanColumn)
		case "scnt":
			t.Columns = append(t.Columns, profile.Heading{Name: "switches", Unit: "count", Adds: profile.Self})
		}
	}
	r.open, r.texts, r.at = newOpenTable(t, r.limits), columns, r.pos()
}

// close ends the open table.
func (r *yappiReader) close() {
	if r.open == nil {
		return
	}
	t := r.open.Table
	r.open = nil
	if len(t.Rows) == 0 {
		t.Missing = "the table has a header and no rows"
		r.issues.Add(diag.Issue{Code: "profile-rows-missing", Severity: diag.DataLoss, First: r.at,
			Help: "The log has the header of a table and no rows, as NeMo Gym writes it since February 2026. Give the .callgrind file of the same directory, or the directory."})
	}
	if len(r.out.List) >= maxTables {
		r.issue("too-many-tables", diag.DataLoss, fmt.Sprintf("Tables over the limit of %d per input were left out. Give them as separate inputs.", maxTables))
		return
	}
	r.out.List = append(r.out.List, t)
}

// row reads a row from its end: names may have spaces, numbers do not.
func (r *yappiReader) row(line string) {
	r.out.Records++
	row := profile.Row{Line: r.N}
	rest := strings.TrimRight(line, " \t")
	fields := make([]string, len(r.texts))
	for i := len(fields) - 1; i >= 0; i-- {
		at := strings.LastIndexAny(rest, " \t")
		fields[i] = rest[at+1:]
		rest = strings.TrimRight(rest[:max(0, at)], " \t")
	}
	if row.Name = strings.TrimSpace(rest); row.Name == "" {
		r.malformed("have fewer cells than its header")
		return
	}
	for i, text := range fields {
		cells, err := r.cell(r.texts[i], text)
		if err != nil {
			r.malformed(fmt.Sprintf("have a value that is %s", err))
			return
		}
		row.Cells = append(row.Cells, cells...)
		if r.texts[i] == "id" || r.texts[i] == "tid" {
			row.Labels = append(row.Labels, profile.Label{Key: r.texts[i], Text: text})
		}
	}
	row.Name = strings.Clone(row.Name)
	exactMean(r.open.Table, row.Cells)
	r.open.add(row, r.pos(), &r.issues)
}

// exactMean computes the mean if yappi printed 0 because it is under half a microsecond.
// This concerns the functions with the most calls.
func exactMean(t *profile.Table, cells []profile.Cell) {
	mean, ok := t.Column("mean")
	total, known := t.Column("total")
	count, counted := t.Column("count")
	if !ok || !known || !counted || cells[mean] != profile.Known(0) {
		return
	}
	switch n, all := cells[count], cells[total]; {
	case !all.Known || all.Value == 0:
	case n.Known && n.Value > 0:
		cells[mean].Value = all.Value / n.Value
	default:
		cells[mean] = profile.Cell{} // greater than 0, but unknown
	}
}

// cell parses the text of a column.
func (r *yappiReader) cell(column, text string) ([]profile.Cell, error) {
	switch column {
	case "ncall", "#n":
		all, primitive, err := calls(text)
		if err == nil && !all.Known {
			r.issue("counts-cut", diag.DataLoss, "")
		}
		return []profile.Cell{all, primitive}, err
	case "tsub", "ttot", "tavg":
		ns, err := seconds(text)
		if err == nil && ns < 0 {
			r.issue("negative-time", diag.DataLoss, "Times below zero, which yappi prints if the clocks of threads differ, were left out.")
			return []profile.Cell{{}}, nil
		}
		return []profile.Cell{{Value: ns, Known: err == nil}}, err
	case "scnt":
		n, err := decimal(text, 0)
		return []profile.Cell{{Value: n, Known: err == nil && n >= 0}}, err
	}
	return nil, nil // an identifier, which is a label
}

func (r *yappiReader) malformed(why string) {
	r.issue("row-malformed", diag.DataLoss, "Lines within a table that "+why+" were skipped. Their values are missing from every total. Print the table again.")
}

// cutNames adds an issue if names are shortened, and one if only a part of the functions
// is in the input.
func (r *yappiReader) cutNames() {
	var cut int64
	first := diag.Pos{File: r.input}
	for _, t := range r.out.List {
		for _, row := range t.Rows {
			if strings.HasPrefix(row.Name, "..") {
				if cut++; cut == 1 {
					first.Line = row.Line
				}
			}
		}
	}
	r.issues.AddN(diag.Issue{Code: "names-cut", Severity: diag.Info, First: first,
		Help: "yappi cuts names on the left to the width of their column, 36 characters by default. Rows with equal cut names are separate rows. Print with a wider name column."}, cut)
}
