package metric

import (
	"errors"
	"strings"

	"assay/summary"
)

// rolledUp returns an error if the metric needs rows of each rank, and s has only their sums: see
// [summary.Summary.Unrolled].
func (m *Metric) rolledUp(s *summary.Summary, sel Selector) error {
	rolled, noSteps := false, false
	for i := range s.Inputs {
		rolled = rolled || s.Inputs[i].RolledUp != ""
		noSteps = noSteps || s.Inputs[i].RolledUp == summary.RolledSteps
	}
	const remedy = "measure the traces, or save the summary with --full"
	ofSteps := strings.HasPrefix(m.Name, "step.") || strings.HasSuffix(m.Name, "per_step") || sel.Value("steps") != ""
	ofPhase := strings.HasPrefix(m.Name, "phase.") // annotations, which have sums
	switch {
	case !rolled:
		return nil
	case sel.Value("rank") != "" || sel.Value("device") != "":
		return errors.New("the summary is rolled up, and has most rows as sums over all ranks, not of one rank or GPU; " +
			remedy)
	case m.needsRows:
		return errors.New("the summary is rolled up, and has these rows as sums over all ranks with some of their values; " + remedy)
	case noSteps && (ofSteps || !ofPhase && sel.Value("phase") != ""):
		return errors.New("the summary is rolled up without the steps and phases of every rank; " + remedy)
	}
	return nil
}
