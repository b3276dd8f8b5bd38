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

// Split returns the runs that a summary holds, as [view.Group] defines them.
func Split(s *summary.Summary) []Run {
	var runs []Run
	for _, r := range view.Group(view.Captures(s)).Runs {
		runs = append(runs, Run{s, r.Inputs})
	}
	return runs
}

// has reports whether rows of an input belong to the run.
func (r Run) has(input int) bool {
	_, ok := slices.BinarySearch(r.Inputs, input)
	return ok
}
