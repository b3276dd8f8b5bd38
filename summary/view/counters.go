package view

import (
	"slices"

	"assay/summary"
)

// CounterWeights returns the weight of each row in means: its duration in ns or, if no row has a duration,
// its number of launches.
func CounterWeights(s *summary.Summary) (weights []int64, total int64, timed bool) {
	timed = slices.ContainsFunc(s.Counters, func(k summary.Counter) bool { return k.TotalNS > 0 })
	for _, k := range s.Counters {
		w := k.Launches
		if timed {
			w = k.TotalNS
		}
		weights = append(weights, w)
		total += w
	}
	return weights, total, timed
}
