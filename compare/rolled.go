package compare

import (
	"fmt"

	"assay/summary"
)

// unrolled returns the runs with sums over their ranks instead of rolled-up rows, because sums are
// all that a comparison needs of most rows. It returns an error if a summary does not have the
// sums, or lacks the steps of some ranks.
func unrolled(runs []Run) ([]Run, error) {
	var out []Run
	for _, r := range runs {
		rolled := ""
		for _, i := range r.Inputs {
			if of := r.Summary.Inputs[i].RolledUp; of != "" && rolled != summary.RolledSteps {
				rolled = of
			}
		}
		if rolled == "" {
			out = append(out, r)
			continue
		}
		path := r.Summary.Inputs[r.Inputs[0]].Path
		if rolled != summary.RolledRows {
			return nil, fmt.Errorf("the summary of %s is rolled up without the steps of every rank, so it cannot be compared per step; measure the traces, or save the summary with --full", path)
		}
		s, err := r.Summary.Pick(r.Inputs).Unrolled()
		if err != nil {
			return nil, err
		}
		inputs := make([]int, len(s.Inputs))
		for i := range inputs {
			inputs[i] = i
		}
		out = append(out, Run{s, inputs})
	}
	return out, nil
}

// rolled reports whether rows of a run are sums over ranks, without operators.
func rolled(runs []Run) bool {
	for _, r := range runs {
		if r.Summary.RolledUpInputs() > 0 {
			return true
		}
	}
	return false
}
