package view

import (
	"cmp"
	"slices"

	"assay/internal/stat"
	"assay/summary"
)

// Number of ranks that stand out in a run: three eighths of the ranks, but at least 3 and at
// most 8.
const (
	leastStandingOut = 3
	mostStandingOut  = 8
)

// JobsOf returns the runs of several ranks whose traces all have GPU work, each with the inputs of the
// ranks that stand out, ascending: the slowest and the fastest rank, the named ones, and the median rank,
// in this order up to the limit. If the ranks cannot be ordered, those with the most, least and median
// compute time are taken instead. named lists inputs, the most important one first; inputs of other runs
// are ignored.
func JobsOf(s *summary.Summary, named []int) (out []summary.Job) {
	captures := Captures(s)
	devices := make(map[int][]int) // by input
	for i := range s.Devices {
		devices[s.Devices[i].Input] = append(devices[s.Devices[i].Input], i)
	}
	for _, run := range Runs(captures).Runs {
		var job summary.Job
		var of []int
		ranks := map[int]bool{}
		bare := false // a trace has no GPU work
		for _, i := range run.Inputs {
			if captures[i].Kind != OfTimeline {
				continue
			}
			job.Inputs = append(job.Inputs, i)
			of = append(of, devices[i]...)
			ranks[captures[i].Rank] = true
			bare = bare || len(devices[i]) == 0
		}
		if len(ranks) < 2 || bare {
			continue
		}
		standing := standingOut(s, of, named, len(ranks))
		for _, i := range job.Inputs {
			if standing[captures[i].Rank] {
				job.Full = append(job.Full, i)
			}
		}
		out = append(out, job)
	}
	return out
}

// standingOut returns the ranks of one run that stand out. devices are the GPUs of the run.
func standingOut(s *summary.Summary, devices, named []int, ranks int) map[int]bool {
	order := slices.Clone(devices)
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := &s.Devices[i], &s.Devices[j]
		return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Device, b.Device))
	})
	place := make(map[int]bool)
	for _, i := range order {
		place[s.Devices[i].Input] = true
	}
	var list []int // ranks
	add := func(at int) {
		if at >= 0 {
			list = append(list, s.Devices[order[at]].Rank)
		}
	}
	pace := PaceOf(s, order)
	if pace.Unknown != PaceKnown {
		by := make([]int, len(order))
		for i := range by {
			by[i] = i
		}
		slices.SortStableFunc(by, func(i, j int) int {
			return cmp.Compare(s.Devices[order[j]].Activity.Compute(), s.Devices[order[i]].Activity.Compute())
		})
		pace.Slowest, pace.Fastest = by[0], by[len(by)-1]
		_, pace.Median = stat.Middle(by)
	}
	add(pace.Slowest)
	add(pace.Fastest)
	for _, input := range named {
		if place[input] {
			list = append(list, s.Inputs[input].Rank)
		}
	}
	add(pace.Median)
	out, most := map[int]bool{}, min(max(leastStandingOut, ranks*3/8), mostStandingOut)
	for _, rank := range list {
		if len(out) < most {
			out[rank] = true
		}
	}
	return out
}
