// Package rocm reads what the profilers of ROCm write: rocprofv3 (SQLite databases, also called rocpd, CSV and JSON),
// rocprof v1 (SQLite, CSV and JSON) and rocmProfileData (SQLite and JSON).
//
// All of them record the same: calls of HIP, kernels and copies on queues of GPUs, ranges of roctx. Each form is a file
// that parses its rows; capture.go makes a trace of them. QUIRKS.md has the oddities.
package rocm

import (
	"fmt"
	"slices"
	"strings"

	"assay/internal/database"
	"assay/internal/diag"
	"assay/internal/profile"
	"assay/trace"
)

// The formats, as inputs have them.
const (
	FormatRocpd   = "rocprofv3-sqlite"
	FormatCSV     = "rocprofv3-csv"
	FormatJSON    = "rocprofv3-json"
	FormatRPD     = "rpd"
	FormatRPDJSON = "rpd-json"
	FormatV1      = "rocprof-sqlite"
	FormatV1CSV   = "rocprof-csv"
	FormatV1JSON  = "rocprof-json"
)

// databases are the forms of databases, each with a table that only it has.
var databases = []struct {
	format, table string
	whole         bool // the table has exactly this name; else it may have a suffix
	read          func(*capture, *database.Database)
}{
	{FormatRPD, "rocpd_api_ops", true, readRPD},
	{FormatRocpd, "rocpd_kernel_dispatch", false, readRocpd},
	{FormatRocpd, "rocpd_region", false, readRocpd},
	{FormatV1, "HIP", true, readV1},
	{FormatV1, "HSA", true, readV1},
	{FormatV1, "OPS", true, readV1},
	{FormatV1, "KERN", true, readV1},
}

// ReadSQLite reads the database at path, which it does not change. The file name is used in messages. The format is ""
// if no profiler of ROCm wrote the database. The counters of kernels are nil if there are none.
func ReadSQLite(path, file string, sel trace.Select) (t *trace.Trace, counters *profile.Tables, format string, err error) {
	db, err := database.Open(path)
	if err != nil {
		return nil, nil, "", nil // the reader of other databases says why
	}
	defer db.Close()
	tables := db.Tables()
	for i := range databases {
		form := &databases[i]
		if !slices.ContainsFunc(tables, func(name string) bool {
			return strings.EqualFold(name, form.table) || !form.whole && strings.HasPrefix(name, form.table+"_")
		}) {
			continue
		}
		c := newCapture(file, sel)
		if is, ok := db.Cut(file); ok {
			c.broken = true
			c.out.Issue(is, 1)
		}
		if is, ok := database.Unfinished(path, file); ok {
			c.out.Issue(is, 1)
		}
		form.read(c, db)
		return c.trace(), c.counters.tables(nil), form.format, nil
	}
	return nil, nil, "", nil
}

// scan reads a table. Rows behind damage are missing, which is an issue.
func (c *capture) scan(db *database.Database, table string, columns []string, each func(*database.Row)) {
	if len(db.Columns(table)) == 0 {
		return
	}
	c.table, c.row = table, 0
	err := db.Scan(table, columns, func(r *database.Row) bool {
		each(r)
		c.row++
		return !c.out.Full()
	})
	c.rows += c.row
	if err != nil {
		c.broken = true
		code := "export-damaged"
		if ofWork(table) {
			code = "device-table-damaged"
		}
		c.out.Issue(diag.Issue{Code: code, Severity: diag.DataLoss,
			First: diag.Pos{File: c.file, Path: fmt.Sprintf("%s[%d]", table, c.row)},
			Help:  fmt.Sprintf("A table of the database ends early (%v). Its further rows are missing from every total. Copy the file again, or record again.", err)}, 1)
	}
}

// ofWork reports whether a table has work of GPUs.
func ofWork(table string) bool {
	return slices.ContainsFunc([]string{"rocpd_kernel_dispatch", "rocpd_memory_copy", "rocpd_op", "OPS", "COPY"}, func(name string) bool {
		return table == name || strings.HasPrefix(table, name+"_")
	})
}

// when returns a time, 0 if the value is not a number: SQLite would take the digits with which a text begins.
func when(row *database.Row, column int) int64 {
	if row.NotNumber(column) {
		return 0
	}
	return row.Num(column)
}
