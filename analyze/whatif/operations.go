package whatif

import "assay/analyze/operations"

// An OfOperations is the answer for one timeline of operations.
type OfOperations struct {
	Input  int    `json:"input"`
	Path   string `json:"path"`
	Change string `json:"change,omitempty"`
	operations.Answer
}

// operations answers for the inputs that are timelines of operations, and returns the others.
func (a *Answer) operations(inputs []Input, q Question) (others []Input, err error) {
	for _, in := range inputs {
		if !operations.Is(in.Trace) {
			others = append(others, in)
			continue
		}
		row := OfOperations{Input: in.Index, Path: in.Path, Change: a.Change}
		j, why := operations.Of(in.Trace, in.Part)
		if why != nil {
			row.Answer = operations.Answer{Verdict: "abstain", Reasons: []string{why.Error()}}
		} else if part, err := j.Answer(q.Changes); err == nil {
			row.Answer = *part
		} else {
			return nil, err
		}
		a.Operations = append(a.Operations, row)
	}
	return others, nil
}
