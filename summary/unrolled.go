package summary

import "fmt"

// anyRank is the rank, device and stream of a row that is a sum over ranks.
const anyRank = -1

// RolledUpInputs returns the number of inputs whose rows were replaced by sums.
func (s *Summary) RolledUpInputs() (n int) {
	for i := range s.Inputs {
		if s.Inputs[i].RolledUp != "" {
			n++
		}
	}
	return n
}

// Unrolled returns a summary for code that needs only sums over all ranks. For each job that is rolled up,
// the rows of kernels, copies, spans, annotations, passes, calls, graphs, idle time and waiting calls are
// the sums, with rank, device and stream -1. Operators, modules, lines, streams and calls of copies are
// left out, and so are steps and phases if the summary does not have those of all ranks. If nothing is
// rolled up, the result is s.
//
// It returns an error if the summary has a rolled-up input without the other ranks of its job, because the
// sums are over all of them.
func (s *Summary) Unrolled() (*Summary, error) {
	if s.RolledUpInputs() == 0 {
		return s, nil
	}
	rolled, summed := map[int]bool{}, map[int]bool{} // by job
	for i := range s.Rolled {
		summed[s.Rolled[i].Job] = true
	}
	job := map[int]int{} // by input
	for i := range s.Ranks {
		job[s.Ranks[i].Input] = s.Ranks[i].Job
	}
	steps := false
	for i := range s.Inputs {
		in := &s.Inputs[i]
		if in.RolledUp == "" {
			continue
		}
		of, ok := job[i]
		if !ok || !summed[of] {
			return nil, fmt.Errorf("%s (rank %d) is rolled up, and not all ranks of its run are here; measure the traces, or save the summary with --full", in.Path, in.Rank)
		}
		rolled[of] = true
		steps = steps || in.RolledUp != RolledRows
	}
	out := new(Summary)
	*out = *s
	out.Rolled = nil
	whole := func(input int) bool { of, ok := job[input]; return !ok || !rolled[of] }
	for _, k := range members {
		k.keep(out, func(f fold, input int) bool {
			return whole(input) || f == stays || f == slim || f == few && !steps
		})
	}
	for i := range s.Rolled {
		if r := &s.Rolled[i]; rolled[r.Job] {
			out.unroll(r)
		}
	}
	out.Sort()
	return out, nil
}

// keep removes the rows of the kind from s that want does not select.
func (k *rows[Row]) keep(s *Summary, want func(f fold, input int) bool) {
	var out []Row
	for _, r := range *k.In(s) {
		if want(k.Fold, *k.At(&r).Input) {
			out = append(out, r)
		}
	}
	*k.In(s) = out
}

// unroll adds a sum as a row of its kind.
func (s *Summary) unroll(r *Rolled) {
	var cpu int64
	if r.CPUNS != nil {
		cpu = *r.CPUNS
	}
	switch r.Of {
	case "kernels":
		name := r.Name
		if name == PooledRows {
			name = PooledKernels
		}
		s.Kernels = append(s.Kernels, Kernel{Name: name, Class: r.Class, Category: r.Category, Rule: r.Rule, Op: r.Op, Input: r.Input,
			Rank: anyRank, Device: anyRank, Stream: anyRank, Count: r.Count, TotalNS: r.TotalNS, MaxNS: r.LongestNS})
	case "copies":
		s.Copies = append(s.Copies, Copy{Name: r.Name, Class: r.Class, Input: r.Input, Rank: anyRank, Device: anyRank, Stream: anyRank,
			Count: r.Count, TotalNS: r.TotalNS, MaxNS: r.LongestNS, Bytes: r.Bytes})
	case "syncs":
		s.Syncs = append(s.Syncs, Sync{Input: r.Input, Rank: anyRank, Device: anyRank, Calls: r.Count, HostNS: r.TotalNS, MaxNS: r.LongestNS})
	case "spans":
		s.Spans = append(s.Spans, Span{Name: r.Name, Category: r.Category, Input: r.Input, Rank: anyRank, Count: r.Count, TotalNS: r.TotalNS, MaxNS: r.LongestNS})
	case "annotations":
		s.Annotations = append(s.Annotations, Annotation{Name: r.Name, Input: r.Input, Rank: anyRank, Count: r.Count, CPUTotalNS: cpu, GPUTotalNS: r.TotalNS})
	case "passes":
		s.Passes = append(s.Passes, Pass{Name: r.Name, Input: r.Input, Rank: anyRank, Device: anyRank, Count: r.Count, GPUNS: r.TotalNS})
	case "calls":
		s.Calls = append(s.Calls, Call{Name: r.Name, Kind: r.Kind, Input: r.Input, Rank: anyRank, Count: r.Count, TotalNS: r.TotalNS, MaxNS: r.LongestNS, Launched: r.Launched})
	case "graphs":
		s.Graphs = append(s.Graphs, Graph{Input: r.Input, Rank: anyRank, Device: anyRank, Call: r.Op, First: r.Name, Launches: r.Count, WorkNS: r.TotalNS, Opaque: r.Kind != ""})
	case "idle":
		s.Idle = append(s.Idle, Idle{Input: r.Input, Rank: anyRank, Device: anyRank, Owner: r.Owner, State: r.State, Name: r.Name, NS: r.TotalNS, Count: r.Count, MaxNS: r.LongestNS})
	}
}
