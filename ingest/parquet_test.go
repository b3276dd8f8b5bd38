package ingest

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/internal/test"
	"assay/trace"
)

// TestParquetPaths: a directory with tables of an export is one input, however it is named, and a table of another name in it
// belongs to it; Parquet files of other programs are none.
func TestParquetPaths(t *testing.T) {
	dir := t.TempDir()
	for _, rank := range []string{"rank0_pqtdir", "rank1_pqtdir"} {
		if err := os.CopyFS(filepath.Join(dir, "run", rank), os.DirFS("../testdata/parquet/snappy_pqtdir")); err != nil {
			t.Fatal(err)
		}
	}
	table, err := os.ReadFile("../testdata/parquet/snappy_pqtdir/StringIds.parquet")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"run/rank0_pqtdir/DX12_API.parquet": string(table), "run/rank0_pqtdir/StringIds.parquet": string(table), "run/rank1_pqtdir/NVTX_EVENTS.parquet": "",
		"lake/part-0000.parquet": string(table), "run/notes.parquet": string(table),
		"report/a.nsys-rep": "x", "report/b.nsys-rep": "x", "report/a_pqtdir/StringIds.parquet": string(table),
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		err := os.MkdirAll(filepath.Dir(path), 0o777)
		if err == nil {
			err = os.WriteFile(path, []byte(text), 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	old := time.Now().Add(-time.Hour) // the reports are older than their exports
	for _, report := range []string{"a", "b"} {
		if err := os.Chtimes(filepath.Join(dir, "report", report+".nsys-rep"), old, old); err != nil {
			t.Fatal(err)
		}
	}
	for args, want := range map[string]string{
		"run":                                "run/rank0_pqtdir run/rank1_pqtdir; left run/notes.parquet",
		"run/rank0_pqtdir":                   "run/rank0_pqtdir; left ",
		"run/rank0_pqtdir/":                  "run/rank0_pqtdir; left ",
		"run/rank0_pqtdir/StringIds.parquet": "run/rank0_pqtdir; left ",
		"run/rank*_pqtdir":                   "run/rank0_pqtdir run/rank1_pqtdir; left ",
		"run/rank0_pqtdir/*.parquet":         "run/rank0_pqtdir; left ",
		"lake/part-0000.parquet":             "lake/part-0000.parquet; left ",
		"report":                             "report/a_pqtdir report/b.nsys-rep; left report/a.nsys-rep",
	} {
		got := Paths([]string{filepath.Join(dir, args)})
		rel := func(path string) string {
			path, _ = filepath.Rel(dir, path)
			return filepath.ToSlash(path)
		}
		var files, left []string
		for _, path := range got.Files {
			files = append(files, rel(path))
		}
		for _, f := range got.Left {
			left = append(left, rel(f.Path))
		}
		slices.Sort(left)
		if text := strings.Join(files, " ") + "; left " + strings.Join(left, " "); text != want || len(got.Failed) > 0 {
			t.Errorf("%s: %s, want %s; %v", args, text, want, got.Failed)
		}
	}
	if got := Paths([]string{filepath.Join(dir, "lake")}); len(got.Files) > 0 || len(got.Failed) != 1 {
		t.Errorf("files of another program: %+v", got)
	}
}

// TestParquetLoad: size and digest are those of all tables, in the order of their names; the rank is that in the name of the
// directory.
func TestParquetLoad(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "rank3_pqtdir")
	if err := os.CopyFS(dir, os.DirFS("../testdata/parquet/zstd_pqtdir")); err != nil {
		t.Fatal(err)
	}
	sum, size := sha256.New(), 0
	for _, path := range test.Files(t, filepath.Join(dir, "*.parquet")) {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		sum.Write(b)
		size += len(b)
	}
	load := func(sel trace.Select) (*Input, error) {
		f, err := Open(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		return Load(f, sel)
	}
	in, err := load(trace.SelectAll())
	if err != nil {
		t.Fatal(err)
	}
	if in.Bytes != int64(size) || in.SHA256 != hex.EncodeToString(sum.Sum(nil)) || in.Rank != 3 || in.RankFrom != "name" || in.Format != "nsys-parquet" {
		t.Errorf("%d bytes, %s, rank %d (%s), %s; want %d bytes", in.Bytes, in.SHA256, in.Rank, in.RankFrom, in.Format, size)
	}
	sel := trace.SelectAll()
	sel.Limits.Input = int64(size) - 1
	if _, err := load(sel); err == nil || !strings.Contains(err.Error(), "--max-input") {
		t.Errorf("over the limit of the size: %v", err)
	}
	if f, err := Open(filepath.Dir(dir), nil); err == nil {
		defer f.Close()
		if _, err := Load(f, trace.SelectAll()); err == nil {
			t.Error("a directory without tables was read")
		}
	}
}
