package nsysgen

import (
	"cmp"
	"fmt"
	"strings"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// A database is an export that is being written, in one transaction. It keeps the first error,
// after which it writes nothing.
type database struct {
	conn    *sqlite.Conn
	tables  map[string]*sqlite.Stmt // statements that insert a row
	strings map[string]int
	rows    int64
	err     error
	own     map[string]string // columns of tables that differ from the newest schema
}

// columnsOf returns the columns of a table.
func (db *database) columnsOf(table string) string {
	if own, ok := db.own[table]; ok {
		return own
	}
	return columns[table]
}

// write creates a database at a path that does not exist; fill adds its rows.
func write(path string, fill func(*database) error) (err error) {
	conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite, sqlite.OpenCreate)
	if err != nil {
		return err
	}
	defer func() {
		if closed := conn.Close(); err == nil {
			err = closed
		}
	}()
	for _, pragma := range []string{"PRAGMA journal_mode = OFF", "PRAGMA synchronous = OFF"} {
		if err := sqlitex.ExecuteTransient(conn, pragma, nil); err != nil {
			return err
		}
	}
	defer sqlitex.Transaction(conn)(&err)
	db := &database{conn: conn, tables: make(map[string]*sqlite.Stmt), strings: make(map[string]int)}
	db.row("META_DATA_EXPORT", "EXPORT_SCHEMA_VERSION", "3.25.0")
	return cmp.Or(fill(db), db.err)
}

// table returns the statement that adds a row to a table. It creates the table
// first.
func (db *database) table(name string) (*sqlite.Stmt, error) {
	if stmt := db.tables[name]; stmt != nil {
		return stmt, nil
	}
	if err := sqlitex.ExecuteTransient(db.conn, "CREATE TABLE "+name+" ("+db.columnsOf(name)+")", nil); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	more := strings.Count(db.columnsOf(name), ",")
	stmt, err := db.conn.Prepare("INSERT INTO " + name + " VALUES (?" + strings.Repeat(", ?", more) + ")")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	db.tables[name] = stmt
	return stmt, nil
}

// row adds a row with values in the order of the columns.
func (db *database) row(table string, values ...any) {
	if db.err == nil {
		db.err = db.insert(table, values)
	}
}

func (db *database) insert(table string, values []any) error {
	stmt, err := db.table(table)
	if err != nil {
		return err
	}
	if n := stmt.BindParamCount(); n != len(values) {
		return fmt.Errorf("%s: %d values for %d columns", table, len(values), n)
	}
	for i, v := range values {
		switch v := v.(type) {
		case nil:
			stmt.BindNull(i + 1)
		case int:
			stmt.BindInt64(i+1, int64(v))
		case int64:
			stmt.BindInt64(i+1, v)
		case string:
			stmt.BindText(i+1, v)
		default:
			return fmt.Errorf("%s: column %d: a %T cannot be stored", table, i, v)
		}
	}
	db.rows++
	if _, err := stmt.Step(); err != nil {
		return fmt.Errorf("%s: %w", table, err)
	}
	return stmt.Reset()
}

// string returns the id of a text in StringIds.
func (db *database) string(text string) int {
	id, ok := db.strings[text]
	if ok {
		return id
	}
	id = len(db.strings) + 1
	db.strings[text] = id
	db.row("StringIds", id, text)
	return id
}

// A kernel has the values that vary between rows of the kernels' table.
type kernel struct {
	start, dur           int64
	device, stream       int
	correlation, process int64
	name, short          string
	grid, block          [3]int64
	registers, shared    int64
	node                 any // graphNodeId, or nil
}

func (db *database) kernel(k kernel) {
	name, short := db.string(k.name), db.string(k.short)
	const regular = 1 // launchType
	db.row("CUPTI_ACTIVITY_KIND_KERNEL", k.start, k.start+k.dur, k.device, 1, nil, k.stream, k.correlation, k.process,
		name, short, nil, regular, 0, k.registers, k.grid[0], k.grid[1], k.grid[2], k.block[0], k.block[1], k.block[2], 0, k.shared, 0, 0, k.correlation, 16384,
		k.node, 0, nil, nil, nil, nil, 0, 0, 0, 0, 0, 0, 0, "[]")
}

// call adds a call of the runtime, which has class 0, or of the driver.
func (db *database) call(name string, class int, thread, correlation, start, dur int64) {
	db.row("CUPTI_ACTIVITY_KIND_RUNTIME", start, start+dur, class, thread, correlation, db.string(name), 0, nil)
}

// pushPop adds a push/pop range in the default domain.
func (db *database) pushPop(text string, thread, start, dur int64) {
	const pushPopRange = 59
	db.row("NVTX_EVENTS", start, start+dur, pushPopRange, nil, nil, nil, text, thread, nil, nil, 0,
		nil, nil, nil, nil, nil, nil, nil, nil, nil)
}
