package partial

import (
	"slices"

	"assay/internal/diag"
	"assay/summary"
)

// codeBounds is the code of the issue that numbers of an input are too large to be true.
const codeBounds = "numbers-implausible"

// bound leaves out what damaged times and sizes of a capture have made, so that nobody who adds up
// rows has to expect them.
func (p *Part) bound() {
	p.Summary.CutWindows()
	p.take(summary.NewBounds())
}

// boundAll takes the numbers of parts that are joined from the bounds of one job.
func boundAll(all []Part) {
	bounds := summary.NewBounds()
	for i := range all {
		all[i].take(bounds)
	}
}

// take takes the numbers of a part from the bounds. If they do not fit, its rows are left out.
func (p *Part) take(bounds *summary.Bounds) {
	err := bounds.Take(p.Summary)
	if err == nil {
		return
	}
	in := slices.Clone(p.Summary.Inputs)
	p.Summary = &summary.Summary{Schema: summary.Schema, Partial: p.Summary.Partial, Inputs: in,
		Issues: append(slices.Clone(p.Summary.Issues), issueOfBounds(in, err))}
	p.Members, p.Track = nil, nil
	if bounds.Take(p.Summary) == nil {
		return
	}
	for i := range in { // a wrong time most often; how large the file is stays known
		in[i].SpanNS = 0
	}
	if bounds.Take(p.Summary) == nil {
		return
	}
	for i := range in {
		in[i].Bytes, in[i].Events = 0, 0
	}
	p.Summary.Issues = p.Summary.Issues[len(p.Summary.Issues)-1:]
}

// boundJoined leaves out the rows that joining has made if they do not fit.
func boundJoined(s *summary.Summary) {
	if err := summary.NewBounds().Take(s); err != nil {
		s.Collectives, s.Ranks, s.Topologies, s.Monitored, s.Efficiency = nil, nil, nil, nil, summary.Efficiency{}
		s.Issues = append(s.Issues, issueOfBounds(s.Inputs, err))
		s.Sort()
	}
}

func issueOfBounds(in []summary.Input, err error) summary.Issue {
	first := err.Error()
	if len(in) > 0 {
		first = in[0].Path + ": " + first
	}
	return summary.Issue{Code: codeBounds, Severity: diag.Suspect.String(), Count: 1, First: first,
		Help: "A number is more than any job can have (36 years, 1 EiB), so a time or a size is wrong. The rows of its input were left out. The first is " +
			first + ". Use the original file, or record again."}
}
