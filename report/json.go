package report

import (
	"io"

	"assay/internal/jsontext"
	"assay/judge"
	"assay/summary"
)

// JSON writes the summary as one object, with verdict, findings,
// sides of kernels and the software that was found among its fields. Lists of numbers are set in one line; everything else is indented.
func (d Doc) JSON(w io.Writer) error {
	if d.comparison != nil {
		return jsontext.Write(w, d.comparison)
	}
	return summary.Write(w, d.summary, d.madeBy, struct {
		Verdict  judge.Verdict `json:"verdict"`
		Findings []findingJSON `json:"findings"`
		Sides    []judge.Side  `json:"sides,omitempty"`

		States []judge.StepState    `json:"step_states,omitempty"`
		Groups []judge.StepGroup    `json:"step_groups,omitempty"`
		Phases []judge.PhaseVerdict `json:"phase_verdicts,omitempty"`
		Stacks []judge.Stack        `json:"stacks,omitempty"`
	}{d.result.Verdict, findingsJSON(d.result.Findings), d.result.Sides, d.result.States, d.result.Groups, d.result.Phases, d.result.Stacks})
}

// MadeBy returns the document with the version of assay in its JSON, as saved summaries
// have it.
func (d Doc) MadeBy(version string) Doc {
	d.madeBy = version
	return d
}

// A findingJSON is a finding with the texts and sources of its steps, which the data
// itself has by id.
type findingJSON struct {
	judge.Finding
	Next    []string       `json:"next,omitempty"`
	Sources []judge.Source `json:"next_sources,omitempty"` // of each of Next
}

func findingsJSON(list []judge.Finding) []findingJSON {
	out := make([]findingJSON, len(list))
	for i, f := range list {
		out[i].Finding = f
		for _, s := range f.Next {
			out[i].Next, out[i].Sources = append(out[i].Next, s.Text()), append(out[i].Sources, s.Source())
		}
	}
	return out
}
