package compare

import (
	"slices"

	"assay/summary"
	"assay/summary/view"
)

// A Run is one run: some inputs of a summary, one for each rank.
type Run struct {
	*summary.Summary
	Inputs []int
}

// Split returns the runs in a summary, as [view.Runs] defines them.
func Split(s *summary.Summary) []Run { return split(s, view.Runs(view.Captures(s))) }

func split(s *summary.Summary, g view.Grouping) (runs []Run) {
	for _, r := range g.Runs {
		runs = append(runs, Run{s, r.Inputs})
	}
	return runs
}

// has reports whether rows of an input belong to the run.
func (r Run) has(input int) bool {
	_, ok := slices.BinarySearch(r.Inputs, input)
	return ok
}
