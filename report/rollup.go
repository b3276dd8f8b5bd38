package report

import (
	"assay/judge/finding"
	"assay/summary/view"
)

// RolledUp returns the report with a JSON of bounded size: runs of several ranks have the sums
// over their ranks, and all rows of the ranks only that stand out or that a finding names.
// If full is true, the JSON has the sums and the rows of all ranks. Nothing else of the
// report changes.
func (d Report) RolledUp(full bool) Report {
	if d.summary == nil {
		return d
	}
	jobs := view.JobsOf(d.summary, named(d.result.Findings))
	if full {
		for i := range jobs {
			jobs[i].Full = jobs[i].Inputs
		}
	}
	if len(jobs) > 0 {
		d.summary = d.summary.RollUp(jobs)
	}
	return d
}

// named returns the inputs of the places of findings, in their order.
func named(list []finding.Finding) (inputs []int) {
	for i := range list {
		for _, at := range list[i].Where {
			inputs = append(inputs, at.Input)
		}
	}
	return inputs
}
