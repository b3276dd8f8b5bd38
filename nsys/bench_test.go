//go:build unix

package nsys

import (
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"zombiezen.com/go/sqlite"

	"assay/internal/database"
	"assay/internal/test/nsysgen"
	"assay/trace"
)

// BenchmarkReadSQLite reads an export of kernels and their calls, in turns with a bare
// scan by the library, which runs the same statements and reads each column as a number.
// It prints the rows that are read in a second of processor time, and the ratio of both
// processor times, as medians.
func BenchmarkReadSQLite(b *testing.B) {
	const kernels = 300_000
	path := filepath.Join(b.TempDir(), "run.sqlite")
	if err := nsysgen.Write(path, nsysgen.Plan{Kernels: kernels, Calls: true, Ranges: 1000}); err != nil {
		b.Fatal(err)
	}
	var whole, bare []time.Duration
	for b.Loop() {
		whole = append(whole, processorTime(func() {
			if _, err := ReadSQLite(path, path, trace.SelectAll()); err != nil {
				b.Fatal(err)
			}
		}))
		bare = append(bare, processorTime(func() { scanBare(b, path) }))
	}
	slices.Sort(whole)
	slices.Sort(bare)
	read, scan := whole[len(whole)/2], bare[len(bare)/2]
	b.ReportMetric(2*kernels/read.Seconds(), "rows/cpu-s")
	b.ReportMetric(read.Seconds()/scan.Seconds(), "x-scan")
}

// scanBare reads what a loader reads with nothing but the library.
func scanBare(b *testing.B, path string) {
	db, err := database.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	l := newLoader(export{db}, path, trace.SelectAll())
	for i := range tables {
		t := &tables[i]
		if len(db.Columns(t.name)) == 0 {
			continue
		}
		err := db.Query(db.Statement(t.name, l.columns(t)), func(s *sqlite.Stmt) bool {
			for column := range t.columns {
				s.ColumnInt64(column)
			}
			return true
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}

// processorTime returns how long the cores worked for this process during f.
func processorTime(f func()) time.Duration {
	used := func() time.Duration {
		var u syscall.Rusage
		syscall.Getrusage(syscall.RUSAGE_SELF, &u)
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	before := used()
	f()
	return used() - before
}
