package summary

import (
	"cmp"
	"slices"
)

// Merge returns one summary of all that the list holds.
//
// Inputs follow each other in the order of the list, and the rows of each keep
// pointing at their own. Rows of different inputs are never added up: two
// ranks, or two captures of one rank, stay apart, and a reader who wants them
// pooled can still do it. Only issues are added up by code: the counts sum,
// the worst severity stays, and so do the First and Help met first.
//
// The result is sorted as by [Summary.Sort] and shares no memory with the
// list. Merging is associative, and an empty summary, like a nil one, changes
// nothing. Merge of nothing is an empty summary.
func Merge(list ...*Summary) *Summary {
	out := &Summary{Schema: Schema, Inputs: []Input{}, Devices: []Device{}, Kernels: []Kernel{}, Issues: []Issue{}}
	for _, s := range list {
		if s != nil {
			out.append(s)
		}
	}
	out.Issues = mergeIssues(out.Issues)
	out.Sort()
	return out
}

// append adds copies of the rows of s behind those of out, with their inputs
// renumbered.
func (out *Summary) append(s *Summary) {
	base := len(out.Inputs)
	for _, in := range s.Inputs {
		own(&in)
		out.Inputs = append(out.Inputs, in)
	}
	for _, k := range kinds {
		k.take(out, s, func(input int) (int, bool) { return base + input, true })
	}
	out.Issues = append(out.Issues, s.Issues...)
}

// Only returns copies of the rows of one input, which is the only one of the result.
// Issues belong to all inputs of a summary, so the result has them all.
func (s *Summary) Only(input int) *Summary {
	in := s.Inputs[input]
	own(&in)
	out := &Summary{Schema: s.Schema, Inputs: []Input{in}, Issues: slices.Clone(s.Issues)}
	for _, k := range kinds {
		k.take(out, s, func(n int) (int, bool) { return 0, n == input })
	}
	return out
}

// mergeIssues adds up the issues of each code, in the order of their first
// appearance.
func mergeIssues(list []Issue) []Issue {
	out := list[:0]
	index := map[string]int{}
	for _, is := range list {
		i, ok := index[is.Code]
		if !ok {
			index[is.Code] = len(out)
			out = append(out, is)
			continue
		}
		have := &out[i]
		have.Count = Plus(have.Count, is.Count)
		have.First = cmp.Or(have.First, is.First)
		have.Help = cmp.Or(have.Help, is.Help)
		if weight(is.Severity) > weight(have.Severity) {
			have.Severity = is.Severity
		}
	}
	return out
}

// weight orders severities. One that is not known, from a later version of the
// schema, counts least.
func weight(severity string) int {
	return slices.Index([]string{"info", "data-loss", "suspect"}, severity)
}

// Sort puts the rows into the one order of the JSON: kernels by falling total,
// then name, device, stream, op, input and rank; issues worst first, then by
// code; steps of a device by their start; all others by their keys, and the rows of
// a table of another tool by falling value. Inputs
// keep their order, for rows point at them. Keys are unique, so the order is
// total.
func (s *Summary) Sort() {
	for _, k := range kinds {
		k.sort(s)
	}
	slices.SortStableFunc(s.Issues, func(a, b Issue) int {
		return cmp.Or(cmp.Compare(weight(b.Severity), weight(a.Severity)), cmp.Compare(a.Code, b.Code))
	})
}
