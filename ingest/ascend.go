package ingest

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"assay/internal/lazyregexp"
	"assay/trace"
	"assay/trace/ascend"
)

func isAscendCSV(_ string, head []byte) bool { return ascend.SniffCSV(head) }

func loadAscendCSV(f *File, sel trace.Select, in *Input) (err error) {
	if in.Trace, err = ascend.ReadCSV(f, f.Path, sel); err != nil {
		return &Refusal{f.Path, "is a table of Ascend's profiler without a task that has a time", "copy the file again, or give the trace_view.json of the same capture"}
	}
	ascendRank(f.Path, in.Trace)
	compareSteps(f.Path, in.Trace)
	return nil
}

// recastAscend gives the spans of a trace of Ascend's profilers their meaning.
func recastAscend(path string, t *trace.Trace) bool {
	if !ascend.Recast(t) {
		return false
	}
	if path != stdinName {
		ascendRank(path, t)
		compareSteps(path, t)
	}
	return true
}

// compareSteps compares a timeline with the table of its steps, which the profiler writes in the same folder: as text, as a
// table of a database, or as both, which say the same.
func compareSteps(path string, t *trace.Trace) {
	dir := filepath.Dir(path)
	if f, err := OpenWithoutDigest(filepath.Join(dir, "step_trace_time.csv"), nil); err == nil {
		defer f.Close()
		ascend.CompareSteps(t, f, f.Path)
	} else if in, err := os.Stat(filepath.Join(dir, "analysis.db")); err == nil && in.Mode().IsRegular() {
		ascend.CompareAnalysis(t, filepath.Join(dir, "analysis.db"))
	}
}

// Files of a capture of Ascend: the timelines, and what is read with one of them. The profiler of PyTorch writes
// <host>_<pid>_<time>_ascend_pt with ASCEND_PROFILER_OUTPUT, and PROF_*, where msprof wrote its own timeline.
var (
	ascendFacts    = lazyregexp.New(`^profiler_(?:info(?:_\d+)?|metadata)\.json$`)
	ascendRankOf   = lazyregexp.New(`^profiler_info_(\d{1,6})\.json$`)
	ascendPieces   = lazyregexp.New(`^(?:kernel_details\.csv|step_trace_time\.csv|communication(?:_matrix)?\.json|analysis\.db|communication_analyzer\.db)$`)
	ascendDatabase = lazyregexp.New(`^(?:ascend_pytorch_profiler|msprof)(?:_\d+)*\.db$`)
	msprofPieces   = lazyregexp.New(`^op_summary(?:_\d+)*\.csv$`)
	msprofRawPath  = lazyregexp.New(`^(.*)[/\\]PROF_[^/\\]*[/\\].*$`)
)

// isAscendPiece reports whether a file in a directory says again, or with less, what a timeline of the same capture of Ascend
// says.
func isAscendPiece(path string) bool {
	dir, name := filepath.Split(path)
	exists := func(elem ...string) bool {
		found, _ := filepath.Glob(filepath.Join(elem...))
		return len(found) > 0
	}
	switch {
	case ascendFacts().MatchString(name):
		return exists(dir, "ASCEND_PROFILER_OUTPUT") || exists(dir, "PROF_*")
	case ascendPieces().MatchString(name):
		return exists(escaped(dir), "trace_view.json") || exists(escaped(dir), "ascend_pytorch_profiler*.db") ||
			name[0] != 'k' && exists(escaped(dir), "kernel_details.csv") || strings.HasSuffix(name, ".db") && exists(escaped(dir), "communication.json")
	case (msprofPieces().MatchString(name) || ascendDatabase().MatchString(name)) && exists(escaped(dir), "msprof_*.json"):
		return true
	case ascendDatabase().MatchString(name):
		return exists(escaped(dir), "trace_view.json")
	}
	m := msprofRawPath().FindStringSubmatch(path)
	return m != nil && exists(escaped(m[1]), "ASCEND_PROFILER_OUTPUT", "trace_view.json")
}

// escaped returns a path as a pattern that matches only itself.
func escaped(path string) string { return globMeta().ReplaceAllString(path, `\$0`) }

var globMeta = lazyregexp.New(`[\\*?\[]`)

// ascendRank takes the rank of a capture from the name of a file in its folder.
func ascendRank(path string, t *trace.Trace) {
	if t.Meta.Rank != nil {
		return
	}
	for _, dir := range []string{filepath.Dir(filepath.Dir(path)), filepath.Dir(path)} {
		list, _ := os.ReadDir(dir)
		i := slices.IndexFunc(list, func(d os.DirEntry) bool { return ascendRankOf().MatchString(d.Name()) })
		if i < 0 {
			continue
		}
		if rank, err := strconv.Atoi(ascendRankOf().FindStringSubmatch(list[i].Name())[1]); err == nil {
			t.Meta.Rank = &rank
		}
		return
	}
}
