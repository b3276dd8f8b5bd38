package gate

import (
	"path"
	"slices"
	"strings"

	"assay/internal/lazyregexp"
	"assay/summary"
)

// A Run is one run of a program: what was captured of its ranks.
type Run struct {
	Summary *summary.Summary
}

// Runs sorts what was read into runs of the program.
//
// A run has one capture of each rank. A rank that was captured again, in another
// directory or in the same, begins another run, unless the files are named as
// captures of one process: these say nothing of how runs differ. Inputs whose
// ranks differ are one run, and a file that is given twice counts once.
func Runs(list []*summary.Summary) []Run {
	var order []string // directories
	groups := make(map[string][]pieces)
	seen := make(map[string]bool)
	for _, p := range timelines(split1(list)) {
		in := p.Inputs[0]
		if in.SHA256 != "" && seen[in.SHA256] {
			continue
		}
		seen[in.SHA256] = true
		dir := path.Dir(slashes(in.Path))
		if groups[dir] == nil {
			order = append(order, dir)
		}
		groups[dir] = join(groups[dir], pieces{p})
	}
	var all []pieces
	for _, dir := range order {
		if g := groups[dir]; len(g) == 1 {
			all = join(all, g[0]) // the ranks of a run may be in several directories
		} else {
			all = append(all, g...)
		}
	}
	var runs []Run
	for _, p := range all {
		runs = append(runs, Run{summary.Merge(p...)})
	}
	return runs
}

// pieces are what belongs to one run, an input each.
type pieces []*summary.Summary

// join adds more to the first of the runs that has none of its ranks, or has the
// same process, or else as another run.
func join(runs []pieces, more pieces) []pieces {
	for i, r := range runs {
		if r.takes(more) {
			runs[i] = append(r, more...)
			return runs
		}
	}
	return append(runs, more)
}

func (r pieces) takes(more pieces) bool {
	for _, m := range more {
		for _, have := range r {
			a, b := have.Inputs[0], m.Inputs[0]
			if a.Rank == b.Rank && ofMemory(have) == ofMemory(m) && (process(a.Path) == "" || process(a.Path) != process(b.Path)) {
				return false
			}
		}
	}
	return true
}

// ofMemory reports whether an input tells of memory alone, as snapshots of the
// allocator do. One lies beside the trace of its rank and is of the same run.
func ofMemory(s *summary.Summary) bool {
	return len(s.Snapshots)+len(s.MemoryTimelines) > 0 && len(s.Devices) == 0
}

// workerFile matches what PyTorch's tensorboard_trace_handler calls its files:
// host and process, then the time.
var workerFile = lazyregexp.New(`^(.+_\d+)\.\d{10,}\.pt\.trace\.json(\.gz|\.zst)?$`)

// process returns what a file's name says of the process that wrote it, or "".
func process(file string) string {
	file = slashes(file)
	m := workerFile().FindStringSubmatch(path.Base(file))
	if m == nil {
		return ""
	}
	return path.Join(path.Dir(file), m[1])
}

func slashes(file string) string { return strings.ReplaceAll(file, `\`, "/") }

// split1 returns the summaries of the inputs one by one. Issues are of all inputs
// of a summary, so each keeps them all.
func split1(list []*summary.Summary) []*summary.Summary {
	var out []*summary.Summary
	for _, s := range list {
		for i := range s.Inputs {
			if len(s.Inputs) == 1 {
				out = append(out, s)
			} else {
				out = append(out, s.Only(i))
			}
		}
	}
	return out
}

// timelines leaves out inputs of counters, of profiles and of tables of sums where
// there is something else: they are of the same runs, and no metric is measured
// on them.
func timelines(list []*summary.Summary) []*summary.Summary {
	sums := func(s *summary.Summary) bool {
		rows := len(s.Devices) + len(s.Spans) + len(s.Annotations) + len(s.Steps) + len(s.Snapshots) + len(s.MemoryTimelines)
		return rows == 0 && len(s.Counters)+len(s.Tables)+len(s.Flames) > 0
	}
	if !slices.ContainsFunc(list, func(s *summary.Summary) bool { return !sums(s) }) {
		return list
	}
	return slices.DeleteFunc(list, sums)
}
