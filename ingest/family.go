package ingest

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"assay/internal/diag"
	"assay/nsys/stats"
	"assay/trace"
)

// This file joins the tables in CSV that belong to one capture.

// csvEndings are the endings of the names of the tables that rocprofv3 and nsys stats write of one capture, in the order in
// which the first of a capture is chosen.
var csvEndings = [][]string{
	{"kernel_trace.csv", "hip_api_trace.csv", "memory_copy_trace.csv", "marker_api_trace.csv", "hsa_api_trace.csv", "rccl_api_trace.csv"},
	{"cuda_gpu_trace.csv", "cuda_api_trace.csv", "nvtx_pushpop_trace.csv"},
	{"gputrace.csv", "cudaapitrace.csv", "nvtxpptrace.csv"}, // until 2022
}

// familyOf returns the tables of the capture to which the table at path belongs, itself among them: those in its directory with
// the same beginning of their names. It is empty for files that are not named as rocprofv3 names them.
func familyOf(path string) (family []string) {
	stem, endings, ok := csvStem(path)
	if !ok {
		return nil
	}
	for _, ending := range endings {
		if info, err := os.Stat(stem + ending); err == nil && info.Mode().IsRegular() {
			family = append(family, filepath.Clean(stem+ending))
		}
	}
	return family
}

// csvStem returns what the names of all tables of a capture begin with, and their endings.
func csvStem(path string) (stem string, endings []string, ok bool) {
	for _, endings := range csvEndings {
		for _, ending := range endings {
			if stem, ok := strings.CutSuffix(path, ending); ok && (stem == "" || strings.HasSuffix(stem, "_") || os.IsPathSeparator(stem[len(stem)-1])) {
				return stem, endings, true
			}
		}
	}
	return "", nil, false
}

// withoutRelated drops tables that are read with an earlier one of the same capture.
func withoutRelated(paths []string) (out []string) {
	first := map[string]bool{}
	for _, path := range paths {
		stem, _, ok := csvStem(path)
		if ok && first[stem] {
			continue
		}
		first[stem] = ok
		out = append(out, path)
	}
	return out
}

// openBeside opens files beside an input, which the caller closes. Those that cannot be read are left out.
func openBeside(f *File, paths []string) (others []*File) {
	for _, path := range paths {
		if path == filepath.Clean(f.Path) || f.Path == stdinName {
			continue
		}
		if other, err := OpenWithoutDigest(path, nil); err == nil {
			others = append(others, other)
		}
	}
	return others
}

// tablesJoined says that tables of the same capture were read with an input.
func tablesJoined(f *File, beside []string) diag.Issue {
	return diag.Issue{Code: "tables-joined", Severity: diag.Info, Count: int64(len(beside)), First: diag.Pos{File: f.Path},
		Help: "These tables of the same capture were read with it: " + strings.Join(beside, ", ") + "."}
}

// isNsysTrace reports whether a file is a report of events of nsys stats that is read as a timeline: of the work of GPUs, or
// one in its directory. Without that work the report is added up by name.
func isNsysTrace(path string, head []byte) bool {
	is, work := stats.SniffTimeline(head)
	family := familyOf(path)
	return is && (work || len(family) > 0 && strings.Contains(filepath.Base(family[0]), "gpu"))
}

// loadNsysTrace reads a report of events together with the others of its capture, which are in its directory: calls
// first, because work is linked to them.
func loadNsysTrace(f *File, sel trace.Select, in *Input) error {
	var parts []stats.Part
	var beside []string
	for _, other := range openBeside(f, familyOf(f.Path)) {
		defer other.Close()
		beside = append(beside, filepath.Base(other.Path))
		parts = append(parts, stats.Part{Name: filepath.Base(other.Path), In: other})
	}
	parts = append(parts, stats.Part{Name: filepath.Base(f.Path), In: f})
	slices.SortStableFunc(parts, func(a, b stats.Part) int { // work is last
		return cmp.Compare(strings.Count(a.Name, "gpu"), strings.Count(b.Name, "gpu"))
	})
	t, err := stats.ReadTimeline(parts, f.Path, sel)
	if err != nil {
		return &Refusal{f.Path, "is a report of nsys stats without rows that have times", "print it again: nsys stats -r cuda_gpu_trace,cuda_api_trace,nvtx_pushpop_trace --format csv -o BASE REPORT"}
	}
	if len(beside) > 0 {
		t.Issues = append(t.Issues, tablesJoined(f, beside))
	}
	in.Trace = t
	return nil
}

// isFirstReport reports whether a report of events in a directory is the one with which the others of its capture are read.
func isFirstReport(path string, _ []byte) bool {
	family := familyOf(path)
	return len(family) == 0 || family[0] == filepath.Clean(path)
}
