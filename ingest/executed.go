package ingest

import (
	"path/filepath"
	"slices"
	"sync"

	"assay/internal/diag"
	"assay/internal/lazyregexp"
	"assay/torchprof/et"
	"assay/trace"
)

// etName matches names of files with execution traces.
var etName = lazyregexp.New(`(?i)(execution[_.-]?trace.*|chakra.*|(^|[_.-])et([_.-].*)?)\.json(\.gz|\.zst)?$`)

// executedBeside returns a function that reads the execution trace of the rank of a trace, in its folder. It returns nil
// unless there is exactly one such file. It is called when a trace has an operator without arguments. The second function
// adds an issue to a trace if the file is from a process in it.
func executedBeside(path string) (read func() *trace.Executed, note func(*trace.Trace)) {
	var all *trace.Executed
	name := ""
	read = sync.OnceValue(func() *trace.Executed {
		rank, known := rankOfName(path)
		list, _ := filepath.Glob(filepath.Join(escapeGlob(filepath.Dir(path)), "*.json*"))
		list = slices.DeleteFunc(list, func(other string) bool {
			of, states := rankOfName(other)
			return !etName().MatchString(filepath.Base(other)) || filepath.Clean(path) == other || known && states && of != rank
		})
		if len(list) != 1 {
			return nil
		}
		f, err := OpenWithoutDigest(list[0], nil)
		if err != nil {
			return nil
		}
		defer f.Close()
		if head, err := f.Peek(); err == nil && et.Sniff(head) {
			name, all = filepath.Base(list[0]), et.Arguments(f)
		}
		return all
	})
	return read, func(t *trace.Trace) {
		if all != nil && slices.ContainsFunc(t.Tracks, func(on trace.Track) bool { return on.PID == all.PID }) {
			t.Issues = append(t.Issues, diag.Issue{Code: "tables-joined", Severity: diag.Info, Count: 1, First: diag.Pos{File: t.File},
				Help: "Shapes of operators come from the execution trace of the same run, " + name + ", by the numbers of their record functions."})
		}
	}
}
