package nsys

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"assay/trace"
)

// A timedRow is a row of any table, as far as all are alike.
type timedRow struct {
	table      string
	start, end int64 // end is null if it is -1
}

// others are the columns that one table or another needs besides, each with a value
// that all of them take.
var others = [][2]string{
	{"globalTid", "281475144515595"}, {"globalPid", "281475144515584"}, {"deviceId", "0"}, {"streamId", "7"},
	{"eventType", "59"}, {"eventClass", "0"}, {"nameId", "1"}, {"demangledName", "1"},
}

// fromJSON reads rows as lines.
func fromJSON(t *testing.T, rows []timedRow) *trace.Trace {
	lines := []string{stringRow(1, "gemm")}
	for _, r := range rows {
		line := fmt.Sprintf(`{"table":%q,"start":%d`, r.table, r.start)
		if r.end >= 0 {
			line += fmt.Sprintf(`,"end":%d`, r.end)
		}
		for _, o := range others {
			line += fmt.Sprintf(`,%q:%s`, o[0], o[1])
		}
		lines = append(lines, line+"}")
	}
	return told(t, lines...)
}

// fromSQLite reads rows as a database.
func fromSQLite(t *testing.T, rows []timedRow) *trace.Trace {
	script := `CREATE TABLE StringIds(id, value); INSERT INTO StringIds VALUES(1, 'gemm');`
	made := make(map[string]bool)
	for _, r := range rows {
		columns, values, end := []string{"start", `"end"`}, []string{fmt.Sprint(r.start)}, fmt.Sprint(r.end)
		if r.end < 0 {
			end = "NULL"
		}
		values = append(values, end)
		for _, o := range others {
			columns, values = append(columns, o[0]), append(values, o[1])
		}
		if !made[r.table] {
			script += fmt.Sprintf("CREATE TABLE %s(%s);", r.table, strings.Join(columns, ", "))
			made[r.table] = true
		}
		script += fmt.Sprintf("INSERT INTO %s VALUES(%s);", r.table, strings.Join(values, ", "))
	}
	path := filepath.Join(t.TempDir(), "in.sqlite")
	conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite, sqlite.OpenCreate)
	if err != nil {
		t.Fatal(err)
	}
	err = sqlitex.ExecuteScript(conn, "PRAGMA journal_mode = OFF;"+script, nil)
	if closed := conn.Close(); err != nil || closed != nil {
		t.Fatal(err, closed)
	}
	tr, err := ReadSQLite(path, "in.sqlite", trace.SelectAll())
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// TestPosition: a row that cannot be used is named by its own table and by its place
// in that, whatever other tables hold and wherever their rows are.
func TestPosition(t *testing.T) {
	var names []string
	for _, table := range tables {
		if table.name != "SCHED_EVENTS" && table.name != "CUPTI_ACTIVITY_KIND_CUDA_EVENT" { // whose rows have no end
			names = append(names, table.name)
		}
	}
	for _, wrong := range names {
		var rows []timedRow
		for i := range int64(5) {
			for _, name := range names {
				r := timedRow{name, 100 * i, 100*i + 50}
				switch {
				case name == wrong && i == 2:
					r.end = r.start - 1
				case name == wrong && i == 4:
					r.end = -1
				}
				rows = append(rows, r)
			}
		}
		want := []string{"event-bad-time 1 " + wrong + "[4]", "event-negative-duration 1 " + wrong + "[2]"}
		if wrong == "NVTX_EVENTS" {
			want = want[1:] // a range without an end is one that was not closed
		}
		for form, tr := range map[string]*trace.Trace{"json": fromJSON(t, rows), "sqlite": fromSQLite(t, rows)} {
			var got []string
			for _, is := range tr.Issues {
				if strings.HasPrefix(is.Code, "event-") {
					got = append(got, fmt.Sprint(is.Code, " ", is.Count, " ", is.First.Path))
				}
			}
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("%s: %q, want %q", form, got, want)
			}
		}
	}
}
