package gate

import (
	"slices"

	"assay/summary"
	"assay/summary/view"
)

// A Run is one run of a program: what was captured of its ranks.
type Run struct {
	Summary *summary.Summary
}

// Runs returns the runs that summaries hold, as [view.Group] defines them. Inputs
// that hold only totals (counters, profiles, tables) are left out if there are
// others: no metric is measured on them.
func Runs(list []*summary.Summary) []Run {
	inputs := oneByOne(list)
	captures := make([]view.Capture, len(inputs))
	for i, s := range inputs {
		captures[i] = view.Captures(s)[0]
	}
	isTotals := func(c view.Capture) bool { return c.Kind == view.Totals }
	if onlyTotals := !slices.ContainsFunc(captures, func(c view.Capture) bool { return !isTotals(c) }); !onlyTotals {
		inputs = slices.DeleteFunc(inputs, func(s *summary.Summary) bool { return isTotals(view.Captures(s)[0]) })
		captures = slices.DeleteFunc(captures, isTotals)
	}
	var runs []Run
	for _, r := range view.Group(captures).Runs {
		var of []*summary.Summary
		for _, i := range r.Inputs {
			of = append(of, inputs[i])
		}
		runs = append(runs, Run{summary.Merge(of...)})
	}
	return runs
}

// oneByOne returns the summaries of the inputs one by one.
func oneByOne(list []*summary.Summary) []*summary.Summary {
	var out []*summary.Summary
	for _, s := range list {
		if len(s.Inputs) == 1 {
			out = append(out, s)
			continue
		}
		for i := range s.Inputs {
			out = append(out, s.Only(i))
		}
	}
	return out
}
