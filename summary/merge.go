package summary

import (
	"cmp"
	"slices"
)

// Merge returns one summary with the content of all summaries in the list.
//
// Inputs keep the order of the list, and rows keep referring to their own input. Rows of different inputs
// are never added up: two ranks, or two captures of one rank, stay separate, so that the caller can still
// combine them in any way. Only issues are added up by code: the counts are summed, the worst severity is
// kept, and First and Help are those of the first occurrence.
//
// The result is sorted as by [Summary.Sort] and shares no memory with the list. Merging is associative. An
// empty or nil summary changes nothing. Merge of an empty list is an empty summary.
func Merge(list ...*Summary) *Summary {
	out := newSummary()
	for _, s := range list {
		if s != nil {
			out.append(s)
		}
	}
	out.Issues = mergeIssues(out.Issues)
	out.Sort()
	return out
}

// Join returns the same as [Merge], but moves the rows instead of copying them: the summaries of the list
// have no rows afterwards. With many summaries it needs half the memory of Merge. No summary may be in the
// list twice.
func Join(list ...*Summary) *Summary {
	list = slices.DeleteFunc(slices.Clone(list), func(s *Summary) bool { return s == nil })
	out := newSummary()
	first := make([]int, len(list)) // the number in out of the first input of each
	inputs, issues := 0, 0
	for i, s := range list {
		first[i] = inputs
		inputs += len(s.Inputs)
		issues += len(s.Issues)
	}
	out.Inputs, out.Issues = slices.Grow(out.Inputs, inputs), slices.Grow(out.Issues, issues)
	for _, s := range list {
		out.LeftOut = out.LeftOut.Plus(s.LeftOut)
		out.Inputs = append(out.Inputs, s.Inputs...)
		out.Issues = append(out.Issues, s.Issues...)
	}
	for _, k := range members {
		k.move(out, list, first)
	}
	for _, s := range list {
		*s = Summary{}
	}
	out.Issues = mergeIssues(out.Issues)
	out.Sort()
	return out
}

// OfOneInput joins several summaries of the same input, as [Join] does, and keeps the input of the first.
func OfOneInput(list ...*Summary) *Summary {
	out := newSummary()
	out.Inputs = append(out.Inputs, list[0].Inputs...)
	for _, s := range list {
		out.Issues = append(out.Issues, s.Issues...)
		if s != list[0] {
			out.Inputs[0].Complete = out.Inputs[0].Complete && s.Inputs[0].Complete
			out.Inputs[0].SpanNS = max(out.Inputs[0].SpanNS, s.Inputs[0].SpanNS)
		}
	}
	for _, k := range members {
		k.move(out, list, make([]int, len(list)))
	}
	out.Issues = mergeIssues(out.Issues)
	out.Sort()
	return out
}

// newSummary returns a summary without content. The lists that JSON always has are empty, not nil.
func newSummary() *Summary {
	return &Summary{Schema: Schema, Inputs: []Input{}, Devices: []Device{}, Kernels: []Kernel{}, Issues: []Issue{}}
}

// append adds copies of the rows of s to out, with their inputs renumbered.
func (out *Summary) append(s *Summary) {
	base := len(out.Inputs)
	for _, in := range s.Inputs {
		own(&in)
		out.Inputs = append(out.Inputs, in)
	}
	for _, k := range members {
		k.take(out, s, func(input int) (int, bool) { return base + input, true })
	}
	out.Issues = append(out.Issues, s.Issues...)
	out.LeftOut = out.LeftOut.Plus(s.LeftOut)
}

// Only returns copies of the rows of one input, which is the only input of the result: see [Summary.Pick].
func (s *Summary) Only(input int) *Summary { return s.Pick([]int{input}) }

// Pick returns copies of the rows of some inputs, which are the inputs of the result in the order given.
// Issues are not assigned to inputs, so the result has all of them.
//
// Rows that compare or add up the ranks of one job ([Collective], [RankWait], [Topology], [Rolled]) are
// kept only if the result has all inputs of the job, because their sums are over all of them.
func (s *Summary) Pick(inputs []int) *Summary {
	out := &Summary{Schema: s.Schema, Issues: slices.Clone(s.Issues)}
	number := make(map[int]int, len(inputs))
	for _, n := range inputs {
		in := s.Inputs[n]
		own(&in)
		number[n] = len(out.Inputs)
		out.Inputs = append(out.Inputs, in)
	}
	cut := make(map[int]bool) // jobs with an input that is not selected
	for i := range s.Ranks {
		if _, ok := number[s.Ranks[i].Input]; !ok {
			cut[s.Ranks[i].Job] = true
		}
	}
	for _, k := range members {
		k.take(out, s, func(n int) (int, bool) { to, ok := number[n]; return to, ok })
	}
	out.Collectives = slices.DeleteFunc(out.Collectives, func(c Collective) bool { return cut[inputs[c.Job]] })
	out.Ranks = slices.DeleteFunc(out.Ranks, func(r RankWait) bool { return cut[inputs[r.Job]] })
	out.Topologies = slices.DeleteFunc(out.Topologies, func(t Topology) bool { return cut[inputs[t.Job]] })
	out.Rolled = slices.DeleteFunc(out.Rolled, func(r Rolled) bool { return cut[inputs[r.Job]] })
	return out
}

// Sort sorts the rows into the fixed order of the JSON: kernels by descending
// total, then name, device, stream, op, input and rank; issues worst first,
// then by code; steps of a device by their start; rows of a table of another
// tool by descending value; and all others by their keys. Inputs keep their
// order, because rows refer to them. Keys are unique, so the order is total.
func (s *Summary) Sort() {
	for _, k := range members {
		k.sort(s)
	}
	slices.SortStableFunc(s.Issues, func(a, b Issue) int {
		return cmp.Or(cmp.Compare(weight(b.Severity), weight(a.Severity)), cmp.Compare(a.Code, b.Code))
	})
}
