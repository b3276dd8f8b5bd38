package nsys

import (
	"fmt"
	"strings"

	"zombiezen.com/go/sqlite"

	"assay/internal/database"
	"assay/internal/diag"
	"assay/trace"
)

// An export is a database with the tables of an export.
type export struct{ *database.Database }

func (e export) columns(table string) []string { return e.Columns(table) }

func (e export) scan(table string, columns []string, each func(row) bool) error {
	return e.Scan(table, columns, func(r *database.Row) bool { return each(r) })
}

func (e export) tables() []string { return e.Tables() }

func (e export) texts(table string) (columns []string, err error) {
	err = e.Query("PRAGMA table_info("+database.Quote(table)+")", func(s *sqlite.Stmt) bool {
		if kind := strings.ToUpper(s.ColumnText(2)); kind == "" || strings.Contains(kind, "TEXT") ||
			strings.Contains(kind, "CHAR") || strings.Contains(kind, "CLOB") || strings.Contains(kind, "BLOB") {
			columns = append(columns, s.ColumnText(1))
		}
		return true
	})
	return columns, err
}

// ReadSQLite reads the export at path, which it does not change. The file name
// is used in messages.
//
// The error says why nothing could be read. Problems that leave a usable trace are in
// its Issues.
func ReadSQLite(path, file string, sel trace.Select) (*trace.Trace, error) {
	src, err := database.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s: the file cannot be read as an SQLite database (%w); the export was probably interrupted: export again", file, err)
	}
	defer src.Close()
	var early []diag.Issue
	cut, isCut := src.Cut(file)
	if isCut {
		early = append(early, cut)
	}
	if is, ok := database.Unfinished(path, file); ok {
		early = append(early, is)
	}
	return read(export{src}, file, sel, isCut, early...)
}
