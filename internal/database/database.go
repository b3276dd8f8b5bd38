// Package database reads SQLite databases of profilers: read-only, without code that a database defines, without a file
// next to it, and with limits for damaged and hostile ones.
package database

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// Magic is how every SQLite database begins.
const Magic = "SQLite format 3\x00"

// Sniff reports whether a file that starts with prefix is a database. Only its tables show which program wrote it.
func Sniff(prefix []byte) bool { return bytes.HasPrefix(prefix, []byte(Magic)) }

// A Database is an open database.
type Database struct {
	conn   *sqlite.Conn
	tables map[string][]string // their columns
	names  map[string]string   // of tables, by their name in lower case
	most   int64               // the size of the file, which limits the rows and texts of one table and, at four times as much, of all
	shared map[string]string   // tables that have the pages of another one, and that one
	had    map[string]counts   // by table: what scans of it have read
	all    counts              // of all tables, each once

	header  header
	size    int64  // of the file, in bytes
	release func() // what close must free, or nil
}

// bytesOfRow is less than any row takes in a file.
const bytesOfRow = 4

// counts are rows, and bytes of text in them.
type counts struct{ rows, text int64 }

// Close closes the database.
func (db *Database) Close() {
	db.conn.Close()
	if db.release != nil {
		db.release()
	}
}

// Open opens a database read-only. It writes no file next to it and runs no code
// that the database defines: it does not use views, triggers, generated columns or virtual
// tables.
func Open(path string) (*Database, error) {
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
	db := &Database{tables: make(map[string][]string), names: make(map[string]string), most: size,
		shared: make(map[string]string), had: make(map[string]counts), header: h, size: size}
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
		db.Close()
		return nil, Plain(err)
	}
	if err := db.schema(); err != nil {
		db.Close()
		return nil, err
	}
	return db, nil
}

// maxValue is the maximum length of one value of a row in bytes.
const maxValue = 64 << 20

// maxTables is the number of tables that are read; complete exports have about 200.
const maxTables = 4096

// schema finds the tables and their columns.
func (db *Database) schema() error {
	var names []string
	roots := map[int64]string{}
	err := db.Query(`SELECT name, rootpage FROM sqlite_master WHERE type = 'table' AND rootpage > 0`, func(s *sqlite.Stmt) bool {
		name, root := s.ColumnText(0), s.ColumnInt64(1)
		names = append(names, name)
		if first, ok := roots[root]; ok {
			db.shared[name] = first
		} else {
			roots[root] = name
		}
		return len(names) < maxTables
	})
	if err != nil {
		return err
	}
	for _, name := range names {
		var columns []string
		// table_info has neither hidden nor generated columns.
		err := db.Query(`PRAGMA table_info(`+Quote(name)+`)`, func(s *sqlite.Stmt) bool {
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

// Tables returns the names of the tables.
func (db *Database) Tables() []string { return slices.Sorted(maps.Keys(db.tables)) }

// Columns returns the names of a table's columns, and none if there is no such table. It ignores the letter case of the
// table's name, as SQLite does.
func (db *Database) Columns(table string) []string {
	return db.tables[db.names[strings.ToLower(table)]]
}

// Scan calls each with every row of a table, in order, until each returns false. Columns that the table does not have,
// and the column "", are null. The error is the reason why rows are missing.
func (db *Database) Scan(table string, columns []string, each func(*Row) bool) error {
	name := db.names[strings.ToLower(table)]
	if first := db.shared[name]; first != "" {
		return fmt.Errorf("its pages are those of the table %s", first)
	}
	before := db.all // of other tables: one may be read several times
	before.rows, before.text = before.rows-db.had[name].rows, before.text-db.had[name].text
	n := int64(0)
	r := &Row{}
	var over error
	err := db.Query(db.Statement(table, columns), func(s *sqlite.Stmt) bool {
		// A page that is its own child has rows without end.
		if n++; n > db.most/bytesOfRow || before.rows+n > db.most {
			over = fmt.Errorf("more rows than a file of %d bytes can have", db.most)
			return false
		}
		r.s = s
		if r.sample(n, len(columns)); r.read > 4*db.most+32*r.longest || before.text+r.read > 16*db.most+32*r.longest {
			over = fmt.Errorf("more text than a file of %d bytes can have", db.most)
			return false
		}
		return each(r)
	})
	had := counts{max(n, db.had[name].rows), min(max(r.read, db.had[name].text), 4*db.most)}
	db.had[name], db.all = had, counts{before.rows + had.rows, before.text + had.text}
	return errors.Join(over, err)
}

// Statement returns the query of columns of all rows of a table.
func (db *Database) Statement(table string, columns []string) string {
	have := make(map[string]bool)
	for _, c := range db.Columns(table) {
		have[strings.ToLower(c)] = true
	}
	var b strings.Builder
	b.WriteString("SELECT ")
	for i, c := range columns {
		if i > 0 {
			b.WriteString(", ")
		}
		if have[strings.ToLower(c)] {
			b.WriteString(Quote(c))
		} else {
			b.WriteString("NULL")
		}
	}
	return b.String() + " FROM " + Quote(table)
}

// Query runs a statement and calls each for every row until it returns false.
func (db *Database) Query(sql string, each func(*sqlite.Stmt) bool) error {
	s, _, err := db.conn.PrepareTransient(sql)
	if err != nil {
		return Plain(err)
	}
	defer s.Finalize()
	for {
		more, err := s.Step()
		if err != nil {
			return Plain(err)
		}
		if !more || !each(s) {
			return nil
		}
	}
}

// Plain returns an error of SQLite without the text of the statement.
func Plain(err error) error {
	if code := sqlite.ErrCode(err); code != sqlite.ResultError {
		return errors.New(strings.ToLower(code.Message()))
	}
	return err
}

// Quote quotes a name.
func Quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// A Row is the current row of a scan. Its methods take the index of a column in the list that was passed to Scan.
type Row struct {
	s   *sqlite.Stmt
	buf []byte

	read, longest int64 // bytes of text in all rows, by samples, and of one value
}

// sample checks the size of one column of the row as a sample of all columns. Many
// rows may share the pages of one long text, also instead of a number, and a small
// file then has a thousand times its size in values. Checking all columns would take
// a tenth of the time of large exports.
func (r *Row) sample(row int64, columns int) {
	const scatter = 0x9e3779b97f4a7c15
	column := int((uint64(row) * scatter >> 33) % uint64(columns))
	if t := r.s.ColumnType(column); t == sqlite.TypeText || t == sqlite.TypeBlob {
		n := int64(r.s.ColumnLen(column))
		r.read += n * int64(columns)
		r.longest = max(r.longest, n)
	}
}

// Num returns a number, 0 if the value is null.
func (r *Row) Num(column int) int64 { return r.s.ColumnInt64(column) }

// Float returns a number of a column.
func (r *Row) Float(column int) float64 { return r.s.ColumnFloat(column) }

// Null reports whether the value is null.
func (r *Row) Null(column int) bool { return r.s.ColumnType(column) == sqlite.TypeNull }

// NotNumber reports whether the value is neither a number nor null, so that Num means nothing.
func (r *Row) NotNumber(column int) bool {
	t := r.s.ColumnType(column)
	return t == sqlite.TypeText || t == sqlite.TypeBlob
}

// Text returns the bytes of a text, valid until the next call; none if the value is null.
func (r *Row) Text(column int) []byte {
	n := r.s.ColumnLen(column)
	if n == 0 {
		return nil
	}
	if cap(r.buf) < n {
		r.buf = make([]byte, n+n/2)
	}
	return r.buf[:r.s.ColumnBytes(column, r.buf[:n])]
}
