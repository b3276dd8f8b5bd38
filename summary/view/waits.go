package view

import "assay/summary"

// WaitsOfGPUs returns the waits of each GPU. Those of several captures of a process are added up, in the row of
// the first: its ranks were compared in each cycle, and they are one run.
func WaitsOfGPUs(s *summary.Summary) []summary.RankWait {
	whose := whoseOf(s)
	at, job := map[summary.GPU]int{}, map[int]int{}
	var out []summary.RankWait
	for _, r := range s.Ranks {
		gpu := summary.GPU{Input: whose(r.Input), Rank: r.Rank, Device: r.Device}
		i, again := at[gpu]
		if !again {
			at[gpu] = len(out)
			r.Input = gpu.Input
			out = append(out, r)
			continue
		}
		out[i] = plus(out[i], r)
	}
	for _, r := range s.Ranks { // the cycles of a run are jobs of their own: the first stands for all
		first := out[at[summary.GPU{Input: whose(r.Input), Rank: r.Rank, Device: r.Device}]].Job
		if have, ok := job[r.Job]; !ok || first < have {
			job[r.Job] = first
		}
	}
	for i := range out {
		out[i].Job = job[out[i].Job]
	}
	return out
}

// plus adds the waits of a later cycle. What others do in comparison is that of the cycle in which the rank made
// others wait more.
func plus(a, b summary.RankWait) summary.RankWait {
	root := RootOf(a)
	if b.CausedNS > a.CausedNS {
		a.Others = b.Others
	}
	for _, n := range [][2]*int64{{&a.Collectives, &b.Collectives}, {&a.Incomplete, &b.Incomplete}, {&a.TransferNS, &b.TransferNS},
		{&a.WaitNS, &b.WaitNS}, {&a.CausedNS, &b.CausedNS}, {&a.Last, &b.Last},
		{&a.StageMessages, &b.StageMessages}, {&a.SplitBytes, &b.SplitBytes}} {
		*n[0] = summary.Plus(*n[0], *n[1])
	}
	for _, n := range [][2]**int64{{&a.PeerWaitNS, &b.PeerWaitNS}, {&a.PeerCausedNS, &b.PeerCausedNS},
		{&a.StageWaitNS, &b.StageWaitNS}, {&a.WindowNS, &b.WindowNS}} {
		if *n[0] != nil && *n[1] != nil {
			sum := summary.Plus(**n[0], **n[1])
			*n[0] = &sum
		}
	}
	a.StageWaits = addStageWaits(a.StageWaits, b.StageWaits)
	a.Late = lateIn(a.Late, b.Late)
	if a.RootNS != nil || b.RootNS != nil {
		sum := summary.Plus(root, RootOf(b))
		a.RootNS = &sum
	}
	return a
}

// lateIn adds the steps of a later cycle in which a rank was late.
func lateIn(a, b *summary.LateSteps) *summary.LateSteps {
	if a == nil || b == nil {
		return nil // the number of all steps is unknown
	}
	sum := summary.LateSteps{First: a.First, Last: b.Last, Count: a.Count + b.Count, Of: a.Of + b.Of, FromFirst: a.FromFirst + b.Of}
	return &sum
}

// SameGPU returns a function that maps the GPU of a row to the one that stands for it in [WaitsOfGPUs].
func SameGPU(s *summary.Summary) func(summary.GPU) summary.GPU {
	whose := whoseOf(s)
	return func(g summary.GPU) summary.GPU {
		g.Input = whose(g.Input)
		return g
	}
}
