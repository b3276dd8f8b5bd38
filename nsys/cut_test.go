package nsys

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"assay/internal/diag"
	"assay/internal/test/nsysgen"
	"assay/trace"
)

// changed returns the bytes of a small database after some statements.
func changed(t *testing.T, statements ...string) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run.sqlite")
	if err := nsysgen.Write(path, nsysgen.Plan{Kernels: 400, Calls: true, Ranges: 5}); err != nil {
		t.Fatal(err)
	}
	conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range statements {
		if err := sqlitex.ExecuteTransient(conn, s, nil); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// noted returns the issue of a code.
func noted(tr *trace.Trace, code string) diag.Issue {
	for _, is := range tr.Issues {
		if is.Code == code {
			return is
		}
	}
	return diag.Issue{}
}

// kernelsOf returns the start, duration and device of each kernel of a trace.
func kernelsOf(tr *trace.Trace) (out [][3]int64) {
	for a := range tr.Activities.All() {
		out = append(out, [3]int64{a.Start, a.Dur, tr.Tracks[a.Track].Device})
	}
	return out
}

// TestCutAnywhere: what is read of a cut database is a part of what the whole one
// has, and the issue says how many bytes are missing, from where.
func TestCutAnywhere(t *testing.T) {
	whole := generated(t)
	full, err := readBytes(t, whole)
	if err != nil {
		t.Fatal(err)
	}
	want := map[[3]int64]bool{}
	for _, k := range kernelsOf(full) {
		want[k] = true
	}
	read := 0
	for missing := 100; missing < len(whole)-8192; missing += 997 {
		tr, err := readBytes(t, whole[:len(whole)-missing])
		if err != nil {
			continue // refused as a whole
		}
		read++
		for _, k := range kernelsOf(tr) {
			if !want[k] {
				t.Fatalf("%d bytes less: kernel %v is in no row", missing, k)
			}
		}
		is := noted(tr, "export-cut")
		if tr.Complete || is.Count != 1 || is.First.Offset != int64(len(whole)-missing) || !strings.Contains(strings.ReplaceAll(is.Help, ",", ""), "("+strconv.Itoa(missing)+" bytes)") {
			t.Errorf("%d bytes less: complete %v, issue %+v", missing, tr.Complete, is)
		}
	}
	if read < 5 {
		t.Errorf("%d cut databases could be read", read)
	}
	if is := noted(full, "export-cut"); is.Count != 0 || !full.Complete {
		t.Errorf("the whole database: %+v", is)
	}
}

// rootOf returns the bytes of the page that a table begins with.
func rootOf(t *testing.T, b []byte, table string) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run.sqlite")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	conn, err := sqlite.OpenConn(path, sqlite.OpenReadOnly)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	page := int64(0)
	err = sqlitex.ExecuteTransient(conn, "SELECT rootpage FROM sqlite_master WHERE name = ?", &sqlitex.ExecOptions{
		Args: []any{table}, ResultFunc: func(s *sqlite.Stmt) error { page = s.ColumnInt64(0); return nil }})
	if err != nil || page == 0 {
		t.Fatalf("page %d of %s: %v", page, table, err)
	}
	size := int64(binary.BigEndian.Uint16(b[16:]))
	return b[(page-1)*size : page*size]
}

// TestZeroedRoot: a table of device work whose first page is gone is damaged.
func TestZeroedRoot(t *testing.T) {
	b := generated(t)
	clear(rootOf(t, b, "CUPTI_ACTIVITY_KIND_KERNEL"))
	tr, err := readBytes(t, b)
	if err != nil {
		t.Fatal(err)
	}
	if is := noted(tr, "device-table-damaged"); tr.Complete || is.Count != 1 || is.First.Path != "CUPTI_ACTIVITY_KIND_KERNEL[0]" {
		t.Errorf("complete %v, issue %+v", tr.Complete, is)
	}
}

// TestTextsForNumbers: times and devices that are no numbers make bad rows.
func TestTextsForNumbers(t *testing.T) {
	for _, tc := range []struct {
		name, statement, code, path string
		bad                         int64
	}{
		{"a start", `UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = 'never' WHERE rowid = 3`, "event-bad-time", "CUPTI_ACTIVITY_KIND_KERNEL[2]", 1},
		{"a date", `UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = '2024-05-01' WHERE rowid % 4 = 0`, "event-bad-time", "CUPTI_ACTIVITY_KIND_KERNEL[3]", 100},
		{"an end", `UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET "end" = x'00ff' WHERE rowid <= 40`, "event-bad-time", "CUPTI_ACTIVITY_KIND_KERNEL[0]", 40},
		{"both", `UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = 'a', "end" = 'b' WHERE rowid = 400`, "event-bad-time", "CUPTI_ACTIVITY_KIND_KERNEL[399]", 1},
		{"a device", `UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET deviceId = 'gpu' WHERE rowid % 2`, "event-bad-device", "CUPTI_ACTIVITY_KIND_KERNEL[0]", 200},
	} {
		tr, err := readBytes(t, changed(t, tc.statement))
		if err != nil {
			t.Fatal(err)
		}
		is := noted(tr, tc.code)
		if is.Count != tc.bad || is.First.Path != tc.path || is.Severity != diag.DataLoss || tr.Activities.Len() != 400-int(tc.bad) {
			t.Errorf("%s: %d kernels, issue %+v; want %d bad rows from %s", tc.name, tr.Activities.Len(), is, tc.bad, tc.path)
		}
		for _, k := range kernelsOf(tr) {
			if k[0] < nsysgen.Start(0) || k[1] > 7000 || k[2] != 0 {
				t.Fatalf("%s: kernel %v", tc.name, k)
			}
		}
	}
	// The same in JSON.
	lines := `{"id":1,"table":"StringIds","value":"gemm"}
{"start":"soon","end":2,"deviceId":0,"streamId":7,"correlationId":1,"globalPid":281475047440384,"demangledName":1,"table":"CUPTI_ACTIVITY_KIND_KERNEL"}
{"start":1,"end":2,"deviceId":"x","streamId":7,"correlationId":1,"globalPid":281475047440384,"demangledName":1,"table":"CUPTI_ACTIVITY_KIND_KERNEL"}
{"start":"5","end":"9","deviceId":"0","streamId":7,"correlationId":1,"globalPid":281475047440384,"demangledName":1,"table":"CUPTI_ACTIVITY_KIND_KERNEL"}
`
	tr, err := ReadJSON(strings.NewReader(lines), "in.jsonl", trace.SelectAll(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := kernelsOf(tr); len(got) != 1 || got[0] != [3]int64{5, 4, 0} || noted(tr, "event-bad-time").Count != 1 || noted(tr, "event-bad-device").Count != 1 {
		t.Errorf("kernels %v, issues %+v", got, tr.Issues)
	}
}

// TestNamesInAnyCase: SQLite's names have no case.
func TestNamesInAnyCase(t *testing.T) {
	tr, err := readBytes(t, changed(t, `ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL RENAME TO x`, `ALTER TABLE x RENAME TO cupti_activity_kind_Kernel`,
		`ALTER TABLE StringIds RENAME TO y`, `ALTER TABLE y RENAME TO STRINGIDS`))
	if err != nil {
		t.Fatal(err)
	}
	full, err := readBytes(t, generated(t))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(kernelsOf(tr), kernelsOf(full)) || len(tr.Issues) != len(full.Issues) {
		t.Errorf("%d kernels, want %d; issues %+v", tr.Activities.Len(), full.Activities.Len(), tr.Issues)
	}
}

// TestHotJournal: a journal with something to roll back is named, an empty or a
// finished one is not.
func TestHotJournal(t *testing.T) {
	for _, tc := range []struct {
		journal []byte
		hot     bool
	}{
		{append([]byte{0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7}, bytes.Repeat([]byte{0}, 504)...), true},
		{nil, false},
		{make([]byte, 512), false},
	} {
		path := filepath.Join(t.TempDir(), "run.sqlite")
		if err := os.WriteFile(path, generated(t), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path+"-journal", tc.journal, 0o600); err != nil {
			t.Fatal(err)
		}
		tr, err := ReadSQLite(path, "run.sqlite", trace.SelectAll())
		if err != nil {
			t.Fatal(err)
		}
		if is := noted(tr, "export-unfinished"); (is.Count == 1 && strings.Contains(is.Help, "-journal")) != tc.hot {
			t.Errorf("%d bytes of a journal: %+v, hot %v", len(tc.journal), is, tc.hot)
		}
		if after, err := os.ReadFile(path + "-journal"); err != nil || !bytes.Equal(after, tc.journal) {
			t.Errorf("the journal has changed: %v", err)
		}
	}
}
