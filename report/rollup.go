package report

import (
	"assay/judge/finding"
	"assay/judge/timeline"
	"assay/summary"
	"assay/summary/view"
)

// WithoutDetails returns the report without the timelines of GPUs, which only its page and
// its JSON have.
func (d Report) WithoutDetails() Report {
	if d.summary != nil && d.summary.Details != nil {
		s := *d.summary
		s.Details = nil
		d.summary = &s
	}
	return d
}

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
	if len(jobs) == 0 {
		return d
	}
	rolled := d.summary.RollUp(jobs)
	if len(rolled.Steps) < len(d.summary.Steps) {
		d.result.States = statesOf(d.summary, rolled, d.result.States)
	}
	d.summary = rolled
	return d
}

// statesOf returns the states of the steps that are left, because each belongs to the row of
// steps with its number.
func statesOf(all, rolled *summary.Summary, states []timeline.StepState) (left []timeline.StepState) {
	for i := range states {
		if i < len(all.Steps) && rolled.Inputs[all.Steps[i].Input].RolledUp != summary.RolledSteps {
			left = append(left, states[i])
		}
	}
	return left
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
