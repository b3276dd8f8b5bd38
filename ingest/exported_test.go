package ingest

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"assay/summary"
)

// TestExported: a report of nsys in a directory is left out if the directory has its database, and that is not older.
func TestExported(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		name     string
		database string
		age      time.Duration
		left     bool
	}{
		{"the database of the report", "run.sqlite", time.Minute, true},
		{"made at once", "run.sqlite", 0, true},
		{"of an earlier report", "run.sqlite", -time.Minute, false},
		{"of another report", "run2.sqlite", time.Minute, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			report, database := filepath.Join(dir, "run.nsys-rep"), filepath.Join(dir, c.database)
			for path, content := range map[string]string{report: "NVIDIA Tegra Profiler Report 1.", database: "SQLite format 3\x00"} {
				if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			for path, at := range map[string]time.Time{report: now, database: now.Add(c.age)} {
				if err := os.Chtimes(path, at, at); err != nil {
					t.Fatal(err)
				}
			}
			got := Paths([]string{dir})
			if slices.Contains(got.Files, report) == c.left {
				t.Errorf("files are %q", got.Files)
			}
			if left := slices.Contains(got.Left, summary.LeftOutFile{Path: report, Why: summary.LeftExported}); left != c.left {
				t.Errorf("left out are %v", got.Left)
			}
			if named := Paths([]string{report, database}); len(named.Files) != 2 {
				t.Errorf("of two named files %q are read", named.Files)
			}
		})
	}
}
