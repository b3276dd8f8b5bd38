package nsysgen

import (
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// Change executes statements of SQL on an export, and returns how many rows the last one
// changed: a known number of records that are lost or false.
func Change(path string, statements ...string) (rows int, err error) {
	conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
	if err != nil {
		return 0, err
	}
	defer func() {
		if closed := conn.Close(); err == nil {
			err = closed
		}
	}()
	for _, s := range statements {
		if err := sqlitex.ExecuteTransient(conn, s, nil); err != nil {
			return 0, err
		}
		rows = conn.Changes()
	}
	return rows, nil
}
