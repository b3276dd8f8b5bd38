package view

import (
	"math"
	"slices"
)

// Apart returns the largest difference of a time from the median of its row, as a share of the median. It
// is infinite if a time was not recorded.
func Apart(rows []RankRow) (most float64) {
	for _, r := range rows {
		if slices.Min(r.NS) < 0 {
			return math.Inf(1)
		}
		for _, ns := range r.NS {
			most = max(most, math.Abs(float64(ns)-float64(r.Median))/float64(max(1, r.Median)))
		}
	}
	return most
}

// EvenRanks is the largest difference, as a share of the median, up to which ranks count as equal. A heat
// map cannot show smaller ones.
const EvenRanks = 0.005
