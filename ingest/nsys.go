package ingest

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"assay/internal/database"
	"assay/internal/diag"
	"assay/nsys"
	"assay/nsys/stats"
	"assay/rocm"
	"assay/torchprof"
	"assay/trace"
	"assay/trace/ascend"
)

func isNsysJSON(_ string, head []byte) bool { return nsys.SniffJSON(head) }

func loadNsysJSON(f *File, sel trace.Select, in *Input) (err error) {
	in.Trace, err = nsys.ReadJSON(f, f.Path, sel, f.Tap)
	return err
}

// isStats reports whether a file has output of nsys stats from its first lines on. A
// file that begins with output of the profiled program is read as a text with tables.
func isStats(_ string, head []byte) bool {
	const first = 8
	lines := bytes.Split(head, []byte("\n"))
	return stats.Sniff(bytes.Join(lines[:min(first, len(lines))], []byte("\n"))) && !torchprof.Sniff(head)
}

// isNamedStats reports whether a file in a directory is named like a report of nsys
// stats. The content is not enough, because other programs write similar headers.
func isNamedStats(path string, _ []byte) bool {
	return stats.Named(path) || strings.Contains(strings.ToLower(filepath.Base(path)), "nsys")
}

// rowLimit returns the maximum number of rows of the tables of an input. Until it is
// printed, a row needs about 4 KB; half of the memory is for other data.
func rowLimit(sel trace.Select) int { return int(min(1<<24, sel.Limits.Memory>>14)) }

func loadStats(f *File, sel trace.Select, in *Input) (err error) {
	in.Tables, err = stats.Read(f, f.Path, stats.Limits{Rows: rowLimit(sel)})
	if in.Tables != nil {
		return nil // the reader added an issue for the error
	}
	return err
}

func isSQLite(_ string, head []byte) bool { return database.Sniff(head) }

// isNamedExport reports whether a database in a directory is named like an export.
// Others may be databases of any program.
func isNamedExport(path string, _ []byte) bool {
	name := strings.ToLower(filepath.Base(path))
	for _, packing := range []string{".gz", ".zst"} {
		name = strings.TrimSuffix(name, packing)
	}
	return strings.HasSuffix(name, ".sqlite") || strings.HasSuffix(name, ".rpd") || strings.HasSuffix(name, "results.db") ||
		ascendDatabase().MatchString(name) || ascendPieces().MatchString(name)
}

// searchTexts passes the texts of a database to the search for secrets, if there is one.
func (f *File) searchTexts(path string, in *Input) error {
	if f.Tap == nil {
		return nil
	}
	left, err := nsys.WriteTexts(path, f.Tap)
	in.notSearched(f.Path, left)
	return err
}

// notSearched adds an issue for tables that were not searched for secrets to their end.
func (in *Input) notSearched(path, left string) {
	if left == "" {
		return
	}
	is := diag.Issue{Code: "secrets-not-searched", Severity: diag.Info, Count: 1, First: diag.Pos{File: path},
		Help: "These tables were not searched for secrets to their end: " + left + ". Remove secrets from them before you share the file."}
	if in.Trace != nil {
		in.Trace.Issues = append(in.Trace.Issues, is)
	} else {
		in.Tables.Issues = append(in.Tables.Issues, is)
	}
}

// isParquetExport reports whether a path is that of a directory with the tables of an export; see [openTables].
func isParquetExport(path string, _ []byte) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func loadParquet(f *File, sel trace.Select, in *Input) error {
	dir, done, err := f.inPlace("")
	if err != nil {
		return err
	}
	if in.Trace, err = nsys.ReadParquet(dir, f.Path, sel); err == nil && f.Tap != nil {
		in.notSearched(f.Path, nsys.WriteParquetTexts(dir, f.Tap))
	}
	return errors.Join(err, done())
}

// sizeOf returns the size of a file, or of the tables in a directory.
func sizeOf(path string) (n int64) {
	for _, path := range append(nsys.ParquetFiles(path), path) {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			n += info.Size()
		}
	}
	return n
}

// loadSQLite reads a database without copying it. One that is compressed or comes
// through a pipe is written to a temporary file first, because it needs random access.
func loadSQLite(f *File, sel trace.Select, in *Input) error {
	sample := f.sample(textSample)
	path, done, err := f.inPlace("assay-*.sqlite")
	if err != nil {
		return err
	}
	t, counters, format, err := rocm.ReadSQLite(path, f.Path, sel)
	if format != "" {
		in.Format, in.Tables = format, counters
	} else if ascendDB, ok, wrong := ascend.ReadDatabase(path, f.Path, sel); ok {
		if t = ascendDB; wrong != nil {
			err = &Refusal{f.Path, "is a database of Ascend's profiler without tasks and calls", "copy the file again, or give the trace_view.json of the same capture"}
		} else {
			in.Format = ascend.FormatDB
			ascendRank(f.Path, t)
			compareSteps(f.Path, t)
		}
	} else if in.Tables, ok, wrong = ascend.ReadAnalysis(path, f.Path, rowLimit(sel)); ok {
		if in.Format, err = ascend.FormatCollectives, wrong; wrong != nil {
			err = &Refusal{f.Path, "is a database of Ascend's profiler without collectives that have times", "copy the file again, or give the timeline of the same capture"}
		}
	} else if t, err = nsys.ReadSQLite(path, f.Path, sel); err != nil {
		err = namedOr(f.Path, sample, err)
	}
	if in.Trace = t; err == nil {
		err = f.searchTexts(path, in)
	}
	return errors.Join(err, done())
}
