package layers

import (
	"maps"
	"slices"
)

// mostRuns is the number of runs of a step that have rows of their own. A row has a number for each layer.
const mostRuns = 32

// runsOf numbers the runs through a model within each step and pass: a draft model runs several times before the model that checks its
// tokens, and a pipeline runs its layers for each micro-batch. Between runs there is something else. If a run would have one layer
// only, what is between may be a layer that is not recognized, so the pass is one run; and so it is if there are very many.
func runsOf(list []timed) []int32 {
	type one struct {
		pass uint64
		run  int32
	}
	of, runs := make([]int32, len(list)), make(map[uint64]int32)
	counts, broken := make(map[one]int), make(map[uint64]bool)
	var names []string
	pass := func(l *timed) uint64 {
		at := slices.Index(names, l.pass)
		if at < 0 {
			at = len(names)
			names = append(names, l.pass)
		}
		return uint64(at)<<32 | uint64(uint32(l.step+l.turn))
	}
	n := 0 // layers of the last run
	for i := range list {
		p := pass(&list[i])
		if i > 0 && !list[i].follows {
			clear(broken)
		}
		if !broken[p] { // the first layer of the pass since something else ran
			broken[p] = true
			runs[p]++
		}
		of[i] = runs[p]
		if n++; i+1 == len(list) || !list[i+1].follows || pass(&list[i+1]) != p {
			counts[one{p, of[i]}] += n
			n = 0
		}
	}
	short := make(map[uint64]bool)
	for k, n := range counts {
		short[k.pass] = short[k.pass] || n < 2 || runs[k.pass] > mostRuns
	}
	if !slices.Contains(slices.Collect(maps.Values(short)), true) {
		return of
	}
	for i := range list {
		if short[pass(&list[i])] {
			of[i] = 0
		}
	}
	return of
}
