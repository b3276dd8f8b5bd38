package stats

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"assay/internal/diag"
	"assay/internal/profile"
)

// An openTable is a table that is being read.
type openTable struct {
	*layout
	announcement message
	table        *profile.Table
	index        map[string]int // of rows of a report that lists events, by name and labels
	extra        int            // the index of the columns that such a report does not have itself
	shares       []printed
	short        int64    // names that nsys shortened
	quoted       string   // a row in CSV whose name may continue in the next line
	joined       int      // the number of its lines
	alone        []string // its cells if it does not continue, or nil
}

// The columns added to those of a report that lists events.
const (
	extraCount = iota
	extraMin
	extraMax
)

func newOpenTable(l *layout, s message) *openTable {
	o := &openTable{layout: l, announcement: s, table: &profile.Table{Title: s.title}}
	for _, c := range l.columns {
		if c.role == aNumber && c.size > 0 {
			o.table.Columns = append(o.table.Columns, c.heading)
		}
	}
	if l.trace {
		o.index = make(map[string]int)
		o.extra = len(o.table.Columns)
		o.table.Columns = append(o.table.Columns,
			profile.Heading{Name: "count", Unit: "count", Adds: profile.Self},
			profile.Heading{Name: "min", Unit: nanoseconds}, profile.Heading{Name: "max", Unit: nanoseconds})
	}
	return o
}

// cut returns the cells of a row, or nil if the line is not a row.
func (l *layout) cut(line, inner string) []string {
	if l.spans != nil {
		return l.cutText(line)
	}
	return l.cutCSV(inner)
}

// notARow handles a line within a table that is not a row. It may be the first
// line of a row whose name continues in the next line; cells are the cells of the
// row if it does not continue.
func (r *reader) notARow(line string, cells []string) {
	o := r.open
	if inner := o.afterPrefix(line); o.spans == nil && opensQuote(inner) {
		o.quoted, o.joined, o.alone = inner, 1, cells
		return
	}
	r.cells(cells)
}

// opensQuote reports whether a row may continue in the next line.
func opensQuote(line string) bool { return strings.Count(line, `"`)%2 == 1 }

// continues appends a line to the row before it if the name of that row
// continues in it, and reports whether it did.
func (r *reader) continues(line string) bool {
	const mostLines = 16
	o := r.open
	whole := o.quoted + "\n" + line
	o.quoted = ""
	_, isMessage := parseMessage(line)
	another := isMessage || strings.TrimSpace(line) == "" || o.cutCSV(line) != nil
	if cells := o.cutCSV(whole); !another && cells != nil && !unclosed(cells) {
		r.cells(cells)
		return true
	}
	if o.joined++; another || o.joined >= mostLines || len(whole) > maxLine {
		r.cells(o.alone)
		return false
	}
	o.quoted = whole
	return true
}

// cells handles the cells of a row. They are nil if there are more or fewer than
// columns.
func (r *reader) cells(cells []string) {
	o := r.open
	r.out.Records++
	if cells == nil {
		r.malformed("Lines within a table whose cells do not match its header were skipped. Their values are missing from every total.")
		return
	}
	row := profile.Row{Line: r.lines.N}
	share := int64(-1)
	for i, c := range o.columns {
		text := cells[i]
		switch c.role {
		case theName:
			row.Name = text
			if strings.HasSuffix(text, "…") {
				o.short++
			}
		case aLabel:
			if text != "" && text != "None" && len(text) < maxMessage {
				row.Labels = append(row.Labels, profile.Label{Key: c.key, Text: text})
			}
		case theShare:
			share = shareOf(text)
		case aNumber:
			if c.size == 0 {
				continue
			}
			cell, err := c.read(text)
			if err != nil {
				r.malformed(fmt.Sprintf("Rows with a value that is %s were skipped. Their values are missing from every total.", err))
				return
			}
			row.Cells = append(row.Cells, cell)
		}
	}
	slices.SortFunc(row.Labels, func(a, b profile.Label) int { return cmp.Compare(a.Key, b.Key) })
	if o.trace {
		r.event(row)
		return
	}
	r.keep(row, share)
}

func (r *reader) malformed(help string) {
	r.issue("row-malformed", diag.DataLoss, help)
}

var errNegative = errors.New("negative")

// read reads a cell of a column of values. Sums and counts of nsys are never
// negative.
func (c *column) read(text string) (profile.Cell, error) {
	n, known, err := number(text, c.size, c.whole)
	switch {
	case err != nil:
		return profile.Cell{}, err
	case n < 0:
		return profile.Cell{}, errNegative
	}
	return profile.Cell{Value: n, Known: known}, nil
}

// reserve reserves memory for a row and reports whether the limit permits it.
func (r *reader) reserve(row *profile.Row) bool {
	size := len(row.Name)
	for _, l := range row.Labels {
		size += len(l.Text)
	}
	if r.rows <= 0 || r.text < size {
		return false
	}
	r.rows, r.text = r.rows-1, r.text-size
	return true
}

// pool adds a row over the limit to the sum of its table.
func (r *reader) pool(row profile.Row) {
	t := r.open.table
	if t.Rest == nil {
		t.Rest = make([]profile.Cell, len(t.Columns))
	}
	for i, h := range t.Columns {
		if h.Adds != profile.Each {
			t.Rest[i] = t.Rest[i].Plus(row.Cells[i])
		}
	}
	t.Left++
	r.issue("table-rows-pooled", diag.DataLoss, "The row limit was reached (it is lower if names are very long). The rows counted here were added up in one row: sums are correct, but names are missing. Raise --max-memory to keep them.")
}

// keep adds a row to a table of sums.
func (r *reader) keep(row profile.Row, share int64) {
	if !r.reserve(&row) {
		r.pool(row)
		return
	}
	o := r.open
	row.Name = strings.Clone(row.Name)
	o.table.Rows = append(o.table.Rows, row)
	if i, ok := o.table.Column("total"); ok && share >= 0 && row.Cells[i].Known {
		o.shares = append(o.shares, printed{share, row.Cells[i].Value, row.Line})
	}
}

// event adds an event to the row of its name and labels.
func (r *reader) event(row profile.Row) {
	o := r.open
	each := profile.Cell{}
	if i, ok := o.table.Column("total"); ok {
		each = row.Cells[i]
	}
	if !each.Known {
		return // a range without work has no times
	}
	row.Cells = append(row.Cells, profile.Known(1), each, each)
	key := row.Name
	for _, l := range row.Labels {
		key += "\x00" + l.Key + "\x00" + l.Text
	}
	at, ok := o.index[key]
	if !ok {
		if !r.reserve(&row) {
			r.pool(row)
			return
		}
		o.index[strings.Clone(key)] = len(o.table.Rows)
		row.Name, row.Line = strings.Clone(row.Name), 0
		o.table.Rows = append(o.table.Rows, row)
		return
	}
	have := o.table.Rows[at].Cells
	for i := range o.extra + 1 {
		have[i] = have[i].Plus(row.Cells[i])
	}
	have[o.extra+extraMin].Value = min(have[o.extra+extraMin].Value, each.Value)
	have[o.extra+extraMax].Value = max(have[o.extra+extraMax].Value, each.Value)
}

// close ends the open table, if there is one.
func (r *reader) close() {
	o := r.open
	if o == nil {
		return
	}
	if o.quoted != "" {
		o.quoted = ""
		r.cells(o.alone)
	}
	r.open = nil
	rep := r.identify(o)
	o.table.Name, o.table.Of, o.table.Run = rep.name, rep.of, r.run
	for i := range o.table.Columns {
		if h := &o.table.Columns[i]; rep.nested && h.Adds == profile.Self && h.Unit == nanoseconds && h.Name != "self" {
			h.Adds = profile.Total
		}
	}
	r.checkUnits(o)
	r.checkShares(o)
	r.issues.AddN(diag.Issue{Code: "names-cut", Severity: diag.Info, First: diag.Pos{File: r.name, Line: o.at},
		Help: "nsys shortens names to 100 characters in text. Rows with equal shortened names stay separate. For full names and categories, print with --format csv."}, o.short)
	r.add(o.table)
}

// checkUnits adds an issue if values of columns without a unit were left out.
func (r *reader) checkUnits(o *openTable) {
	for _, c := range o.columns {
		if c.role == aNumber && c.size == 0 {
			r.issues.Add(diag.Issue{Code: "unit-unknown", Severity: diag.DataLoss, First: diag.Pos{File: r.name, Line: o.at},
				Help: "Columns of times or sizes without a unit in header or title were left out. Print the table again with a newer nsys."})
		}
	}
}

// identify returns the report of a table: the one that the last message of nsys
// names, otherwise the one that has these columns. If several reports have them,
// the name of the input decides.
func (r *reader) identify(o *openTable) report {
	if o.announcement.report != "" {
		return reportOf(o.announcement.report)
	}
	can := o.byColumns()
	switch {
	case len(can) == 0:
		return reportOf(cmp.Or(r.byName, "unknown"))
	case slices.Contains(can, r.byName):
		return reportOf(r.byName)
	case len(can) > 1 && can[0] == "cuda_api_sum" && !o.callsCUDA():
		can = can[1:]
	}
	if len(can) > 1 && can[0] != "cuda_gpu_kern_sum" && can[0] != "cuda_gpu_kern_gb_sum" {
		r.issues.Add(diag.Issue{Code: "report-assumed", Severity: diag.Info, First: diag.Pos{File: r.name, Line: o.at},
			Help: "Several reports have the columns of this table, and neither a line of nsys nor the name of the input identifies it. The report was chosen by the names of the rows."})
	}
	return reportOf(can[0])
}

// callsCUDA reports whether a row has the name of a call of the CUDA runtime or
// driver.
func (o *openTable) callsCUDA() bool {
	return slices.ContainsFunc(o.table.Rows, func(row profile.Row) bool {
		rest, ok := strings.CutPrefix(row.Name, "cu")
		return ok && rest != "" && (strings.HasPrefix(rest, "da") || rest[0] >= 'A' && rest[0] <= 'Z')
	})
}
