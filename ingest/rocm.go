package ingest

import (
	"io"
	"os"
	"path/filepath"
	"strings"

	"assay/internal/diag"
	"assay/internal/profile"
	"assay/rocm"
	"assay/trace"
)

func isRocmJSON(_ string, head []byte) bool   { return rocm.SniffJSON(head) }
func isRocmChrome(_ string, head []byte) bool { return rocm.SniffChrome(head) != "" }

func loadRocmJSON(f *File, sel trace.Select, in *Input) (err error) {
	in.Trace, err = rocm.ReadJSON(f, f.Path, sel)
	return err
}

func loadRocmChrome(f *File, sel trace.Select, in *Input) (err error) {
	in.Format = rocm.SniffChrome(f.sample(sniffLen))
	in.Trace, err = rocm.ReadChrome(f, f.Path, sel)
	return err
}

func isRocmCSV(_ string, head []byte) bool {
	format, counters := rocm.SniffCSV(head)
	return format != "" && !counters
}

// isRocmTable returns the test for a table without a timeline.
func isRocmTable(format string) func(string, []byte) bool {
	return func(_ string, head []byte) bool { return rocm.SniffTable(head) == format }
}

// rocmTable returns a loader of a table without a timeline.
func rocmTable(read func(io.Reader, string, int) (*profile.Tables, error)) func(*File, trace.Select, *Input) error {
	return func(f *File, sel trace.Select, in *Input) (err error) {
		in.Tables, err = read(f, f.Path, rowLimit(sel))
		return err
	}
}

// isRocmTableAlone reports whether a table of totals in a directory has no timeline beside it, which says the same and more.
func isRocmTableAlone(path string, _ []byte) bool {
	for _, pattern := range []string{"*_trace.csv", "*results.db", "*results.json", "*.rpd", "*.pftrace"} {
		if found, _ := filepath.Glob(filepath.Join(filepath.Dir(path), pattern)); len(found) > 0 {
			return false
		}
	}
	return true
}

// isFirstOfCSV reports whether a table in a directory is the one with which the others of its capture are read.
func isFirstOfCSV(path string, head []byte) bool {
	family := familyOf(path)
	return !strings.HasSuffix(path, csvAgents) && (len(family) == 0 || family[0] == filepath.Clean(path)) && isBestForm(path, head)
}

// captureForms are the endings of the names of the forms in which a profiler of ROCm writes one capture, the most complete first:
// tables lack the bytes of copies, and Perfetto the number of the GPU of copies.
var captureForms = [][]string{
	{"results.db", "results.json", "kernel_trace.csv", "hip_api_trace.csv", "results.pftrace"},
	{".rpd", ".json"},
}

// isBestForm reports whether no more complete form of the same capture is in the directory of a file.
func isBestForm(path string, _ []byte) bool {
	for _, endings := range captureForms {
		for i, ending := range endings {
			stem, ok := strings.CutSuffix(path, ending)
			if !ok {
				continue
			}
			for _, better := range endings[:i] {
				if info, err := os.Stat(stem + better); err == nil && info.Mode().IsRegular() {
					return false
				}
			}
		}
	}
	return true
}

// csvEndings are the endings of the names of the tables that rocprofv3 writes of one capture, in the order in which the
// first of a capture is chosen.
var csvEndings = []string{
	"kernel_trace.csv", "hip_api_trace.csv", "memory_copy_trace.csv", "marker_api_trace.csv", "hsa_api_trace.csv", "rccl_api_trace.csv",
}

// csvAgents is the table of GPUs, which has no events.
const csvAgents = "agent_info.csv"

// familyOf returns the tables of the capture to which the table at path belongs, itself among them: those in its directory with
// the same beginning of their names. It is empty for files that are not named as rocprofv3 names them.
func familyOf(path string) (family []string) {
	stem, ok := csvStem(path)
	if !ok {
		return nil
	}
	for _, ending := range csvEndings {
		if info, err := os.Stat(stem + ending); err == nil && info.Mode().IsRegular() {
			family = append(family, filepath.Clean(stem+ending))
		}
	}
	return family
}

// csvStem returns what the names of all tables of a capture begin with.
func csvStem(path string) (stem string, ok bool) {
	for _, ending := range csvEndings {
		if stem, ok := strings.CutSuffix(path, ending); ok && (stem == "" || strings.HasSuffix(stem, "_") || os.IsPathSeparator(stem[len(stem)-1])) {
			return stem, true
		}
	}
	return "", false
}

// withoutRelated drops tables that are read with an earlier one of the same capture.
func withoutRelated(paths []string) (out []string) {
	first := map[string]bool{}
	for _, path := range paths {
		stem, ok := csvStem(path)
		if ok && first[stem] {
			continue
		}
		first[stem] = ok
		out = append(out, path)
	}
	return out
}

// loadRocmCSV reads a table together with the others of its capture, which are in its directory.
func loadRocmCSV(f *File, sel trace.Select, in *Input) error {
	in.Format, _ = rocm.SniffCSV(f.sample(sniffLen))
	var parts []rocm.Part
	var beside []string
	stem, ok := csvStem(f.Path)
	if ok && f.Path != stdinName {
		for _, path := range append(familyOf(f.Path), stem+csvAgents) {
			if path == filepath.Clean(f.Path) {
				continue
			}
			other, err := OpenWithoutDigest(path, nil)
			if err != nil {
				continue
			}
			defer other.Close()
			parts = append(parts, rocm.Part{Name: filepath.Base(path), In: other})
			beside = append(beside, filepath.Base(path))
		}
	}
	if n := len(parts); n > 0 && beside[n-1] == filepath.Base(stem+csvAgents) { // GPUs come before their work
		parts = append([]rocm.Part{parts[n-1]}, parts[:n-1]...)
	}
	parts = append(parts, rocm.Part{Name: filepath.Base(f.Path), In: io.Reader(f)})
	t, err := rocm.ReadCSV(parts, f.Path, sel)
	if err != nil {
		return &Refusal{f.Path, "is a table of rocprofv3 or rocprof without rows that have times", "record again with --kernel-trace --hip-trace, or --sys-trace"}
	}
	if len(beside) > 0 {
		t.Issues = append(t.Issues, diag.Issue{Code: "tables-joined", Severity: diag.Info, Count: int64(len(beside)), First: diag.Pos{File: f.Path},
			Help: "These tables of the same capture were read with it: " + strings.Join(beside, ", ") + "."})
	}
	in.Trace = t
	return nil
}
