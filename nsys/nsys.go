// Package nsys reads what Nsight Systems exports: SQLite databases, and the JSON
// of nsys export --type jsonlines and --type json, which have the same tables.
//
// All are read by the names of their tables and columns, never by their place,
// so that exports of every version from 2020 on read alike: a missing table was
// not captured, and a missing column is null. tables.go lists how each table is
// read; QUIRKS.md lists the differences between versions.
//
// The result is a [trace.Trace], and package analyze, which measures it, does
// not know where it came from.
package nsys

import (
	"fmt"
	"slices"
	"strings"

	"assay/internal/diag"
	"assay/trace"
)

// A source is an export in one of its forms.
type source interface {
	// columns returns the names of a table's columns, and none if there is no such
	// table.
	columns(table string) []string

	// scan calls each with every row of a table, in order; columns that the table
	// does not have are null. It stops when each returns false. The error says why
	// rows are missing.
	// A column "" is null too.
	scan(table string, columns []string, each func(row) bool) error
}

// A row is one row of a table as a scan shows it, by the index of a column among
// those that were asked for. It is valid until each returns.
type row interface {
	num(column int) int64 // 0 if null
	null(column int) bool
	odd(column int) bool    // neither a number nor null, so num means nothing
	text(column int) []byte // empty if null
}

// read returns the trace of a source. If broken is set, parts of the source are
// missing.
func read(src source, file string, sel trace.Select, broken bool, issues ...diag.Issue) (*trace.Trace, error) {
	l := newLoader(src, file, sel)
	l.broken = broken
	for _, is := range issues {
		l.out.Issue(is, max(1, is.Count))
	}
	l.settings()
	l.nodes.want(l)
	if !l.known() {
		return nil, fmt.Errorf("%s: the database has no table of Nsight Systems, so another program wrote it; give the file that nsys export --type sqlite wrote", file)
	}
	for i := range tables {
		if t := &tables[i]; t.wanted(l.out) {
			l.table(t)
		}
	}
	l.preflight()
	l.meta.CommRank = l.commRank()
	t := l.out.Trace(l.meta, l.rows, !l.broken)
	t.GraphNodes = l.graphNodes(t)
	return t, nil
}

// table reads one table.
func (l *loader) table(t *table) {
	if len(l.src.columns(t.name)) == 0 {
		return
	}
	l.captured[t.name] = true
	l.here.table, l.here.row = t.name, 0
	err := l.src.scan(t.name, l.columns(t), func(r row) bool {
		t.add(l, r)
		l.here.row++
		return !l.out.Full()
	})
	l.rows += l.here.row
	l.seen.collected.read(t.name, l.here.row)
	if err != nil {
		l.damaged(t.name, l.here.row, err)
	}
}

// columns returns the columns of a table that are worth reading, "" for those
// that are not: a late column of five million rows costs a tenth of their time.
func (l *loader) columns(t *table) []string {
	there := make(map[string]bool)
	for _, name := range l.src.columns(t.name) {
		there[strings.ToLower(name)] = true
	}
	out := make([]string, len(t.columns))
	for i, names := range t.columns {
		for name := range strings.SplitSeq(names, "|") {
			if there[strings.ToLower(name)] && l.useful(t.name, name) {
				out[i] = name
				break
			}
		}
	}
	return out
}

// useful reports whether a column is worth reading.
func (l *loader) useful(table, column string) bool {
	switch {
	case column != graphNode && column != originalNode:
		return true
	case slices.Contains(nodeTables, table):
		return l.nodes.wanted
	}
	return l.graphs
}

// damaged notes that rows of a table are missing.
func (l *loader) damaged(table string, read int64, err error) {
	l.broken = true
	code := "export-damaged"
	if deviceTables[table] {
		code = "device-table-damaged"
	}
	l.out.Issue(diag.Issue{Code: code, Severity: diag.DataLoss, First: diag.Pos{File: l.file, Path: fmt.Sprintf("%s[%d]", table, read)},
		Help: fmt.Sprintf("A table of the export ends early (%v). Its further rows are missing from every total. The export was probably interrupted; export again.", err)}, 1)
}
