package whatif

import (
	"errors"

	"assay/analyze/operations"
)

// An OfOperations is the answer for one timeline of operations.
type OfOperations struct {
	Input  int    `json:"input"`
	Path   string `json:"path"`
	Change string `json:"change,omitempty"`
	operations.Answer
}

// OfNegotiations are the waits of Horovod's timeline in one input.
type OfNegotiations struct {
	Input int    `json:"input"`
	Path  string `json:"path"`
	operations.Negotiations
}

// operations answers for the inputs that are timelines of operations, and returns the others.
func (a *Answer) operations(inputs []Input, q Question) (others []Input, err error) {
	for _, in := range inputs {
		if n := operations.NegotiationsOf(in.Trace); n != nil {
			if len(q.Changes) > 0 {
				return nil, errors.New(in.Path + ": a timeline of Horovod tells what ranks wait for, and not what they compute, so no change can be forecast")
			}
			a.Negotiations = append(a.Negotiations, OfNegotiations{in.Index, in.Path, *n})
			continue
		}
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
