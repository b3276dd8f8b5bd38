package torchprof

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/internal/profile"
	"assay/internal/test"
)

// FuzzRead: for any text the reader ends without a panic, tables are
// consistent, there are no more rows than lines, and the row limit holds.
func FuzzRead(f *testing.F) {
	f.Add(small)
	f.Add("[rank0]:" + strings.ReplaceAll(small, "\n", "\n[rank0]:"))
	f.Add("2025-01-22 15:37:32,001 INFO " + small[1:] + "\n=======================\nx\n" + small)
	f.Add("---  ---\nName  Self CPU\n---  ---\na  1us\n---  ---\nSelf CPU time total: 1us\n")
	f.Add("---  ---  ---\nName  Self CPU  Source Location\n---  ---  ---\na  1us  f\n               g\nb    h\n")
	for _, file := range test.Files(f, filepath.Join(made, "*.txt")) {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		const most = 40
		tables, err := Read(strings.NewReader(text), "in", Limits{Rows: most})
		if err != nil {
			if tables != nil {
				t.Fatalf("tables and %v", err)
			}
			return
		}
		lines, rows := strings.Count(text, "\n")+1, 0
		left := int64(0)
		for _, table := range tables.List {
			if err := table.Check(); err != nil {
				t.Fatal(err)
			}
			if table.Line < 1 || table.Line > lines {
				t.Fatalf("a table on line %d of %d", table.Line, lines)
			}
			rows += len(table.Rows)
			left += table.Left
			checkFuzzed(t, table)
		}
		if rows > most || int64(rows)+left > int64(lines) || tables.Records < int64(rows) {
			t.Fatalf("%d rows, %d pooled, %d records, of %d lines", rows, left, tables.Records, lines)
		}
	})
}

func checkFuzzed(t *testing.T, table *profile.Table) {
	for _, r := range table.Rows {
		if r.Name == "" || strings.TrimSpace(r.Name) != r.Name {
			t.Fatalf("a row is called %q", r.Name)
		}
		for i, l := range r.Labels {
			if i > 0 && r.Labels[i-1].Key > l.Key {
				t.Fatalf("labels are %v", r.Labels)
			}
		}
	}
}
