package partial

import (
	"cmp"
	"maps"
	"slices"

	"assay/analyze/clocks"
	"assay/analyze/efficiency/graphjoin"
	"assay/analyze/goodput"
	"assay/analyze/ranks"
	"assay/analyze/roles"
	"assay/summary"
	"assay/summary/view"
)

// sortRanks sorts the traces of each run by rank, because all reports follow the order of
// inputs, and a shell sorts rank10 before rank2. Other files keep their positions.
func sortRanks(all []Part) {
	for _, run := range runsOf(all, Part.isTimeline) {
		files := make([]Part, len(run))
		for k, i := range run {
			files[k] = all[i]
		}
		slices.SortStableFunc(files, func(a, b Part) int { return cmp.Compare(a.Summary.Inputs[0].Rank, b.Summary.Inputs[0].Rank) })
		for k, i := range run {
			all[i] = files[k]
		}
	}
}

// CountRuns returns the number of runs to which the traces among the parts belong.
func CountRuns(all []Part) int { return len(runsOf(once(all), Part.isTimeline)) }

// isTimeline reports whether a part is of a trace.
func (p Part) isTimeline() bool {
	return len(p.Summary.Inputs) == 1 && !p.isCopy() && !p.isSource() && view.Captures(p.Summary)[0].Kind == view.OfTimeline
}

// hasCollectives reports whether a part can be compared with other ranks.
func (p Part) hasCollectives() bool { return len(p.Members) > 0 }

// isMeasured reports whether a part is as it was measured, and not the summary of a run.
func (p Part) isMeasured() bool { return p.path == "" || p.name != "" }

// Runs returns one summary for the traces of each run whose ranks can be compared, one for all
// logs if some are of jobs, and one for each other part. The parts must not be used afterwards,
// because it modifies their summaries.
func Runs(all []Part) []*summary.Summary {
	var out []*summary.Summary
	all, captures := handOver(all)
	runs := make(map[int][]Part) // by the index of the first part of the run
	with := make(map[int]bool)   // the other parts of runs
	for _, run := range append(runsOf(all, Part.hasCollectives), logsOfJobs(all)...) {
		for n, i := range run {
			runs[run[0]] = append(runs[run[0]], all[i])
			with[i] = n > 0
		}
	}
	for i, p := range all {
		switch {
		case len(runs[i]) > 0:
			runs[i][0].Summary.Efficiency.Captures = slices.Concat(runs[i][0].Summary.Efficiency.Captures, captures)
			out = append(out, Join(runs[i]))
		case !with[i]:
			p.Summary.Partial = nil
			p.Summary.Efficiency.Captures = slices.Concat(p.Summary.Efficiency.Captures, captures)
			graphjoin.Replays(p.Summary)
			out = append(out, p.Summary)
		}
	}
	return out
}

// logsOfJobs returns the indices of all logs if some have attempts of jobs: which
// attempts form a job, and who waits for whom, is known from all together.
func logsOfJobs(all []Part) [][]int {
	var logs []int
	attempts := false
	for i, p := range all {
		if len(p.Summary.Series)+len(p.Summary.Attempts) > 0 && len(p.Summary.Devices) == 0 {
			logs, attempts = append(logs, i), attempts || len(p.Summary.Attempts) > 0
		}
	}
	if !attempts {
		return nil
	}
	return [][]int{logs}
}

// Join returns one summary of all parts, in their order, with the comparison of the ranks
// of each run. The parts must not be used afterwards, because it modifies their summaries.
func Join(all []Part) *summary.Summary {
	return join(all, func(_ int, members []ranks.Member) *ranks.Job { return ranks.Match(members) })
}

// join is Join with the function that compares the ranks of a job, which has a number.
func join(all []Part, match func(job int, ranks []ranks.Member) *ranks.Job) *summary.Summary {
	all = once(all)
	whole := len(all) == 1 && !all[0].isMeasured() // a run that was joined before
	if !whole {
		boundAll(all)
	}
	joinSamples(all)
	first, inputs := make([]int, len(all)), 0
	for i, p := range all {
		first[i] = inputs
		inputs += len(p.Summary.Inputs)
	}
	jobs, together, runs := jobsOf(all, Part.hasCollectives), jobsOf(all, Part.isTimeline), len(runsOf(all, Part.isTimeline)) // before Join takes the summaries
	list := make([]*summary.Summary, len(all))
	for i, p := range all {
		all[i].coarsen(halvings(len(all)))
		list[i] = p.Summary
	}
	ready := readyOf(all, together, first)
	s := summary.Join(list...)
	tracks := make([]*clocks.Track, len(s.Inputs))
	for i := range all {
		all[i].Summary = nil // frees 1.5 KB even for a summary without rows
		if first[i] < len(tracks) {
			tracks[first[i]], all[i].Track = all[i].Track, nil
		}
	}
	clocks.Join(s, tracks)
	if runs == 1 {
		ranks.NoteInputs(s)
	}
	apart := incomparable(s, together, first)
	for n, part := range jobs {
		if job := match(n, membersOf(all, part, first)); job != nil && !apart {
			job.AddTo(s)
		}
	}
	for _, job := range ready {
		addPaths(s, job)
	}
	joinCompilations(s)
	goodput.Join(s)
	roles.Join(s, tracks)
	graphjoin.Replays(s)
	if !whole {
		boundJoined(s)
	}
	s.LimitDetails()
	ranks.AlignDetails(s)
	return s
}

// incomparable reports whether the ranks of a run cannot be compared, and adds an issue that says why. first has
// the first input of each part.
func incomparable(s *summary.Summary, runs [][]int, first []int) (apart bool) {
	for _, run := range runs {
		var inputs []int
		for _, i := range run {
			inputs = append(inputs, first[i])
		}
		apart = !ranks.NoteIncomparable(s, inputs) || apart
	}
	if apart {
		s.Sort()
	}
	return apart
}

// jobsOf returns the wanted parts whose ranks are compared with each other, as ascending indices:
// those of each run or, because they are recorded one after the other, of each stage of a
// server and of each cycle of a profiler's schedule.
func jobsOf(all []Part, wanted func(Part) bool) (out [][]int) {
	type one struct {
		stage string
		cycle int
	}
	runs, cycle := grouped(all, wanted)
	for _, run := range runs {
		jobs := map[one][]int{}
		for _, i := range run {
			of := one{view.StageOf(all[i].Summary.Inputs[0].Path), cycle[i]}
			jobs[of] = append(jobs[of], i)
		}
		order := func(a, b one) int { return cmp.Or(cmp.Compare(a.stage, b.stage), cmp.Compare(a.cycle, b.cycle)) }
		for _, of := range slices.SortedFunc(maps.Keys(jobs), order) {
			out = append(out, jobs[of])
		}
	}
	return out
}

// membersOf returns the members of a job. first has the first input of each part.
func membersOf(all []Part, run, first []int) (ranks []ranks.Member) {
	for _, i := range run {
		for _, m := range all[i].Members {
			m.Input = first[i]
			ranks = append(ranks, m)
		}
	}
	return ranks
}

// runsOf returns the wanted parts, which have one input each, by their runs: as ascending
// indices.
func runsOf(all []Part, wanted func(Part) bool) [][]int {
	runs, _ := grouped(all, wanted)
	return runs
}

// grouped returns runsOf, and the cycle of each part: see [view.Grouping].
func grouped(all []Part, wanted func(Part) bool) (out [][]int, cycle map[int]int) {
	var captures []view.Capture
	var of []int
	for i, p := range all {
		if wanted(p) {
			c := view.Captures(p.Summary)[0]
			c.SHA256 = "" // not every command computes it
			captures = append(captures, c)
			of = append(of, i)
		}
	}
	g := view.Runs(captures)
	cycle = make(map[int]int, len(of))
	for i, part := range of {
		cycle[part] = g.Cycle[i]
	}
	for _, run := range g.Runs {
		var list []int
		for _, i := range run.Inputs {
			list = append(list, of[i])
		}
		out = append(out, list)
	}
	return out, cycle
}
