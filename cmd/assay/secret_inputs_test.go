package main

import (
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"assay/internal/test"
	"assay/internal/test/nsysgen"
)

// appendPickle appends a value as a pickle of protocol 2 has it.
func appendPickle(out []byte, v any) []byte {
	switch v := v.(type) {
	case string:
		return append(binary.LittleEndian.AppendUint32(append(out, 'X'), uint32(len(v))), v...)
	case int:
		return binary.LittleEndian.AppendUint32(append(out, 'J'), uint32(v))
	case []any:
		out = append(out, "]("...)
		for _, e := range v {
			out = appendPickle(out, e)
		}
		return append(out, 'e')
	case [][2]any: // a dict
		out = append(out, "}("...)
		for _, e := range v {
			out = appendPickle(appendPickle(out, e[0]), e[1])
		}
		return append(out, 'u')
	}
	panic("no such value in a snapshot")
}

// plantedSnapshot returns a snapshot of memory whose frames have the texts as files
// and functions.
func plantedSnapshot(all []planted) []byte {
	var blocks []any
	for i, p := range all {
		frame := [][2]any{{"filename", p.text}, {"name", p.text}, {"line", 7}}
		blocks = append(blocks, [][2]any{{"size", 512}, {"requested_size", 512}, {"address", 4096 + 512*i}, {"state", "active_allocated"}, {"frames", []any{frame}}})
	}
	size := 512 * len(all)
	segment := [][2]any{{"device", 0}, {"address", 4096}, {"total_size", size}, {"allocated_size", size}, {"active_size", size}, {"stream", 0}, {"segment_type", "large"}, {"blocks", blocks}}
	return append(appendPickle([]byte("\x80\x02"), [][2]any{{"segments", []any{segment}}, {"device_traces", []any{[]any{}}}}), '.')
}

// plantInExport puts the texts into the names and the environment of an export of
// Nsight Systems.
func plantInExport(t *testing.T, path string, all []planted) {
	t.Helper()
	if err := nsysgen.Write(path, nsysgen.Plan{Kernels: 2000, Calls: true, Ranges: 3}); err != nil {
		t.Fatal(err)
	}
	db, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var ids []int64
	exec := func(query string, row func(*sqlite.Stmt) error, args ...any) {
		if err := sqlitex.Execute(db, query, &sqlitex.ExecOptions{Args: args, ResultFunc: row}); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
	exec("SELECT id FROM StringIds ORDER BY id", func(s *sqlite.Stmt) error { ids = append(ids, s.ColumnInt64(0)); return nil })
	for i, id := range ids {
		exec("UPDATE StringIds SET value = ? WHERE id = ?", nil, all[i%len(all)].text, id)
	}
	exec("CREATE TABLE IF NOT EXISTS TARGET_INFO_SYSTEM_ENV (name TEXT, value TEXT)", nil)
	for _, p := range all {
		exec("INSERT INTO TARGET_INFO_SYSTEM_ENV (name, value) VALUES ('DeviceEnvironment', ?)", nil, p.text)
	}
}

// TestNoSecretLeavesDatabases: exports and pickles are masked as traces are, and
// doctor counts what they hold.
func TestNoSecretLeavesDatabases(t *testing.T) {
	seed := test.Seed(t)
	all := plants(rand.New(rand.NewPCG(seed, 9)))
	s := newSearch(t, all)
	dir := t.TempDir()
	snapshot, export := filepath.Join(dir, "snapshot.pickle"), filepath.Join(dir, "run.sqlite")
	if err := os.WriteFile(snapshot, plantedSnapshot(all), 0o666); err != nil {
		t.Fatal(err)
	}
	plantInExport(t, export, all)
	for _, path := range []string{snapshot, export} {
		for _, args := range [][]string{
			{"summary", path}, {"summary", path, "--format", "json"}, {"summary", path, "--format", "md"}, {"report", path, "-o", filepath.Join(dir, "out")},
			{"doctor", path}, {"doctor", path, "--format", "json"}, {"convert", path, "--to", "folded"}, {"convert", path, "--to", "pprof"},
		} {
			if status, out := s.run(args...); status != exitOK || out == "" {
				t.Errorf("%q: exit status %d", args, status)
			}
		}
		if _, out := s.run("summary", path, "--format", "json"); !strings.Contains(out, "secrets-masked") || !strings.Contains(out, "[hf]") {
			t.Errorf("no text of %s is shown, so nothing was tried", filepath.Base(path))
		}
		if status, out := s.run("doctor", path); status == exitOK && strings.Contains(out, "Nothing in it looks like a secret") {
			t.Errorf("doctor finds no secret in %s", filepath.Base(path))
		}
	}
	s.files(dir, snapshot, export)
}
