package ingest

import (
	"io"
	"os"
	"path/filepath"
	"strings"

	"assay/internal/profile"
	"assay/rocm"
	"assay/trace"
)

func isRocmJSON(_ string, head []byte) bool   { return rocm.SniffJSON(head) }
func isRocmChrome(_ string, head []byte) bool { return rocm.SniffChrome(head) != "" }

func loadRocmJSON(f *File, sel trace.Select, in *Input) (err error) {
	if in.Trace, in.Tables, err = rocm.ReadJSON(f, f.Path, sel); in.Tables != nil && in.Trace.Activities.Len() == 0 {
		in.Trace, in.Format = nil, rocm.FormatCounters // what ran when was not recorded
	}
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

// rowTable returns a loader of a table without a timeline.
func rowTable(read func(io.Reader, string, int) (*profile.Tables, error)) func(*File, trace.Select, *Input) error {
	return func(f *File, sel trace.Select, in *Input) (err error) {
		in.Tables, err = read(f, f.Path, rowLimit(sel))
		return err
	}
}

// isRocmTableAlone reports whether a table of totals in a directory has no timeline in its folder, which says the same and more.
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

// csvAgents is the table of GPUs, which has no events.
const csvAgents = "agent_info.csv"

// loadRocmCSV reads a table together with the others of its capture, which are in its directory.
func loadRocmCSV(f *File, sel trace.Select, in *Input) error {
	in.Format, _ = rocm.SniffCSV(f.sample(sniffLen))
	var parts []rocm.Part
	var beside []string
	stem, _, ok := csvStem(f.Path)
	if ok {
		for _, other := range openBeside(f, append(familyOf(f.Path), stem+csvAgents)) {
			defer other.Close()
			parts = append(parts, rocm.Part{Name: filepath.Base(other.Path), In: other})
			beside = append(beside, filepath.Base(other.Path))
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
		t.Issues = append(t.Issues, tablesJoined(f, beside))
	}
	in.Trace = t
	return nil
}
