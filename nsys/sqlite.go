package nsys

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"assay/internal/diag"
	"assay/trace"
)

// magic is how every SQLite database begins.
const magic = "SQLite format 3\x00"

// SniffSQLite reports whether a file that starts with prefix may be an export in
// SQLite. Only the tables of a database show which program wrote it.
func SniffSQLite(prefix []byte) bool { return bytes.HasPrefix(prefix, []byte(magic)) }

// ReadSQLite reads the export at path, which it does not change. The file name
// is used in messages.
//
// The error says why nothing could be read. Problems that leave a usable trace are in
// its Issues.
func ReadSQLite(path, file string, sel trace.Select) (*trace.Trace, error) {
	src, err := openDatabase(path)
	if err != nil {
		return nil, fmt.Errorf("%s: the file cannot be read as an SQLite database (%w); the export was probably interrupted: export again", file, err)
	}
	defer src.close()
	var early []diag.Issue
	cut, isCut := src.header.cut(file, src.size)
	if isCut {
		early = append(early, cut)
	}
	if hotJournal(path) {
		early = append(early, diag.Issue{Code: "export-unfinished", Severity: diag.Suspect, First: diag.Pos{File: file},
			Help: "The database has a rollback journal (-journal): a program stopped while writing, so numbers may be wrong. Undo the change by opening it with write access (sqlite3 FILE .tables), or export again."})
	}
	if info, err := os.Stat(path + "-wal"); err == nil && info.Size() > 0 {
		early = append(early, diag.Issue{Code: "export-unfinished", Severity: diag.Suspect, First: diag.Pos{File: file},
			Help: diag.HelpOf("export-unfinished")})
	}
	return read(src, file, sel, isCut, early...)
}

// A database is an export in SQLite.
type database struct {
	conn   *sqlite.Conn
	tables map[string][]string // their columns
	names  map[string]string   // of tables, by their name in lower case
	most   int64               // the maximum number of rows that a table in a file of this size can have

	header  header
	size    int64  // of the file, in bytes
	release func() // what close must free, or nil
}

func (db *database) close() {
	db.conn.Close()
	if db.release != nil {
		db.release()
	}
}

// openDatabase opens a database read-only. It writes no file next to it and runs no code
// that the database defines: it does not use views, triggers, generated columns or virtual
// tables.
func openDatabase(path string) (*database, error) {
	full, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	h, size, err := headerOf(path)
	if err != nil {
		return nil, err
	}
	// Immutable: no locks are taken, and a log of changes (-wal), which nsys does not
	// write, is not applied.
	uri := url.URL{Scheme: "file", Path: filepath.ToSlash(full), RawQuery: "immutable=1"}
	db := &database{tables: make(map[string][]string), names: make(map[string]string), most: size, header: h, size: size}
	if whole := h.whole(size); whole < size {
		name, release, err := cutVFS(filepath.ToSlash(full), whole)
		if err != nil {
			return nil, err
		}
		uri.RawQuery += "&vfs=" + name
		db.release = release
	}
	conn, err := sqlite.OpenConn(uri.String(), sqlite.OpenReadOnly, sqlite.OpenURI)
	if err != nil {
		if db.release != nil {
			db.release()
		}
		return nil, err
	}
	db.conn = conn
	conn.SetInterrupt(nil)
	conn.Limit(sqlite.LimitLength, maxValue)
	// Without this pragma, SQLite refuses a database that is shorter than its
	// header states, such as an interrupted copy. It permits no write, because the
	// database is open read-only.
	if err := sqlitex.ExecuteTransient(conn, "PRAGMA writable_schema = ON", nil); err != nil {
		db.close()
		return nil, plain(err)
	}
	if err := db.schema(); err != nil {
		db.close()
		return nil, err
	}
	return db, nil
}

// maxValue is the maximum length of one value of a row in bytes.
const maxValue = 64 << 20

// maxTables is the number of tables that are read; complete exports have about 200.
const maxTables = 4096

// schema finds the tables and their columns.
func (db *database) schema() error {
	var names []string
	err := db.query(`SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0`, func(s *sqlite.Stmt) bool {
		names = append(names, s.ColumnText(0))
		return len(names) < maxTables
	})
	if err != nil {
		return err
	}
	for _, name := range names {
		var columns []string
		// table_info has neither hidden nor generated columns.
		err := db.query(`PRAGMA table_info(`+quote(name)+`)`, func(s *sqlite.Stmt) bool {
			columns = append(columns, s.ColumnText(1))
			return true
		})
		if err != nil {
			return err
		}
		db.tables[name], db.names[strings.ToLower(name)] = columns, name
	}
	return nil
}

// columns ignores the letter case of the table's name, as SQLite does.
func (db *database) columns(table string) []string {
	return db.tables[db.names[strings.ToLower(table)]]
}

func (db *database) scan(table string, columns []string, each func(row) bool) error {
	n := int64(0)
	r := &databaseRow{}
	var over error
	err := db.query(db.statement(table, columns), func(s *sqlite.Stmt) bool {
		// A page that is its own child has rows without end.
		if n++; n > db.most {
			over = fmt.Errorf("more rows than a file of %d bytes can have", db.most)
			return false
		}
		r.s = s
		if r.sample(n, len(columns)); r.read > 4*db.most+32*r.longest {
			over = fmt.Errorf("more text than a file of %d bytes can have", db.most)
			return false
		}
		return each(r)
	})
	return errors.Join(over, err)
}

// statement returns the query of columns of all rows of a table.
func (db *database) statement(table string, columns []string) string {
	have := make(map[string]bool)
	for _, c := range db.columns(table) {
		have[strings.ToLower(c)] = true
	}
	var b strings.Builder
	b.WriteString("SELECT ")
	for i, c := range columns {
		if i > 0 {
			b.WriteString(", ")
		}
		if have[strings.ToLower(c)] {
			b.WriteString(quote(c))
		} else {
			b.WriteString("NULL")
		}
	}
	return b.String() + " FROM " + quote(table)
}

// query runs a statement and calls each for every row until it returns false.
func (db *database) query(sql string, each func(*sqlite.Stmt) bool) error {
	s, _, err := db.conn.PrepareTransient(sql)
	if err != nil {
		return plain(err)
	}
	defer s.Finalize()
	for {
		more, err := s.Step()
		if err != nil {
			return plain(err)
		}
		if !more || !each(s) {
			return nil
		}
	}
}

// plain returns an error of SQLite without the text of the statement.
func plain(err error) error {
	if code := sqlite.ErrCode(err); code != sqlite.ResultError {
		return errors.New(strings.ToLower(code.Message()))
	}
	return err
}

// quote quotes a name.
func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// A databaseRow is the current row of a statement.
type databaseRow struct {
	s   *sqlite.Stmt
	buf []byte

	read, longest int64 // bytes of text in all rows, by samples, and of one value
}

// sample checks the size of one column of the row as a sample of all columns. Many
// rows may share the pages of one long text, also instead of a number, and a small
// file then has a thousand times its size in values. Checking all columns would take
// a tenth of the time of large exports.
func (r *databaseRow) sample(row int64, columns int) {
	const scatter = 0x9e3779b97f4a7c15
	column := int((uint64(row) * scatter >> 33) % uint64(columns))
	if t := r.s.ColumnType(column); t == sqlite.TypeText || t == sqlite.TypeBlob {
		n := int64(r.s.ColumnLen(column))
		r.read += n * int64(columns)
		r.longest = max(r.longest, n)
	}
}

func (r *databaseRow) num(column int) int64 { return r.s.ColumnInt64(column) }

func (r *databaseRow) null(column int) bool { return r.s.ColumnType(column) == sqlite.TypeNull }

func (r *databaseRow) notNumber(column int) bool {
	t := r.s.ColumnType(column)
	return t == sqlite.TypeText || t == sqlite.TypeBlob
}

func (r *databaseRow) text(column int) []byte {
	n := r.s.ColumnLen(column)
	if n == 0 {
		return nil
	}
	if cap(r.buf) < n {
		r.buf = make([]byte, n+n/2)
	}
	return r.buf[:r.s.ColumnBytes(column, r.buf[:n])]
}
