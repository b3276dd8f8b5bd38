package compare

import (
	"path/filepath"
	"slices"

	"assay/summary"
)

// A Run is one run: some inputs of a summary, one for each rank.
type Run struct {
	*summary.Summary
	Inputs []int
}

// Split takes a summary apart into runs. If no rank is there twice, all inputs
// are of one run. Else inputs of one directory with different ranks are of one
// run, those of the same rank of different ones: the first of each rank are the
// first run of the directory. Inputs without a timeline, such as tables, belong
// to the first run of their directory.
func Split(s *summary.Summary) []Run {
	type place struct {
		dir  string
		rank int
	}
	timed := map[int]bool{}
	for _, d := range s.Devices {
		timed[d.Input] = true
	}
	repeated := false
	ranks := map[int]bool{}
	for i, in := range s.Inputs {
		if timed[i] {
			repeated = repeated || ranks[in.Rank]
			ranks[in.Rank] = true
		}
	}
	seen := map[place]int{}
	index := map[string][]int{} // by directory: the runs in it
	var runs []Run
	for i, in := range s.Inputs {
		dir, nth := "", 0
		if repeated {
			dir = filepath.Dir(in.Path)
		}
		if timed[i] {
			p := place{dir, in.Rank}
			nth = seen[p]
			seen[p]++
		}
		at := maxRuns - 1 // what is beyond counts for the last run
		switch known := index[dir]; {
		case nth < len(known):
			at = known[nth]
		case len(runs) < maxRuns:
			at = len(runs)
			index[dir] = append(known, at)
			runs = append(runs, Run{Summary: s})
		}
		runs[at].Inputs = append(runs[at].Inputs, i)
	}
	return runs
}

// maxRuns is how many runs a summary is taken apart into: each is a walk over
// all rows.
const maxRuns = 256

// has reports whether rows of an input belong to the run.
func (r Run) has(input int) bool {
	_, ok := slices.BinarySearch(r.Inputs, input)
	return ok
}
