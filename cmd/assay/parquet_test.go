package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/test"
)

// TestParquetSummary: the tables of an export in Parquet give the summary that its database gives, whether their directory or
// all its files are named.
func TestParquetSummary(t *testing.T) {
	database := filepath.Join(t.TempDir(), "nsys.sqlite")
	if err := os.WriteFile(database, test.Unpacked(t, "../../testdata/parquet/nsys.sqlite.gz"), 0o666); err != nil {
		t.Fatal(err)
	}
	files := test.Files(t, "../../testdata/parquet/zstd_pqtdir/*.parquet")
	want := documentOf(t, database)
	for _, args := range [][]string{{"../../testdata/parquet/snappy_pqtdir"}, {"../../testdata/parquet/zstd_pqtdir/"}, {"../../testdata/parquet/groups_pqtdir"}, files} {
		got := documentOf(t, args...)
		for _, d := range []document{got, want} {
			input := d["inputs"].([]any)[0].(map[string]any)
			for _, own := range []string{"file", "path", "format", "bytes", "sha256"} {
				delete(input, own)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%v: %s", args, diff)
		}
	}
}
