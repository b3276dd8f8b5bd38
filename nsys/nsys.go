// Package nsys reads what Nsight Systems exports: SQLite databases, directories of Parquet
// files (--type parquetdir), and the JSON of nsys export --type jsonlines and --type json,
// which have the same tables.
//
// Tables and columns are found by name, never by position, so that one reader
// serves the exports of every version since 2020: a missing table was not
// captured, and a missing column is null. QUIRKS.md lists the differences between
// versions. [ReadSQLite], [ReadParquet] and [ReadJSON] return a [trace.Trace]; package analyze
// measures it like a trace of any other format.
//
// Start with tables.go, the list of the tables with the function for the rows of
// each. loader.go has most of these functions and the state that they share;
// nvtx.go, nccl.go and nodes.go have those for NVTX ranges, collectives and
// nodes of CUDA graphs. settings.go reads the small tables, which come first.
// sqlite.go provides the rows of a database (package database); parquet.go those of a directory
// of Parquet files; json.go, events.go and buffer.go those of a file in JSON. collected.go and preflight.go check what is
// missing from the capture.
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

	// scan calls each with every row of a table, in order, until each returns
	// false. Columns that the table does not have, and the column "", are null. The
	// error is the reason why rows are missing.
	scan(table string, columns []string, each func(row) bool) error
}

// A row is one row of a table during a scan. Its methods take the index of a
// column in the list that was passed to scan. It is valid until each returns.
type row interface {
	Num(column int) int64 // 0 if null
	Null(column int) bool
	NotNumber(column int) bool // neither a number nor null, so num means nothing
	Text(column int) []byte    // empty if null
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
	if !l.isExport() {
		return nil, fmt.Errorf("%s: the database has no table of Nsight Systems, so another program wrote it; give the file that nsys export --type sqlite wrote",
			file)
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

// columns returns the columns of a table, with "" for those that are not
// useful. Reading one more column of five million rows takes a tenth of the time.
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

// useful reports whether the result depends on a column.
func (l *loader) useful(table, column string) bool {
	switch {
	case column != graphNode && column != originalNode:
		return true
	case slices.Contains(nodeTables, table):
		return l.nodes.wanted
	}
	return l.graphs
}

// damaged adds an issue for a table of which only the first rows could be read.
func (l *loader) damaged(table string, read int64, err error) {
	l.broken = true
	l.out.Issue(damagedTable(l.file, table, read, err), 1)
}

func damagedTable(file, table string, read int64, err error) diag.Issue {
	code := "export-damaged"
	if deviceTables[table] {
		code = "device-table-damaged"
	}
	return diag.Issue{Code: code, Severity: diag.DataLoss, First: diag.Pos{File: file, Path: fmt.Sprintf("%s[%d]", table, read)},
		Help: fmt.Sprintf("A table of the export ends early (%v). Its further rows are missing from every total. The export was probably interrupted; export again.", err)}
}
