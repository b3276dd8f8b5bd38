package view

import "assay/summary"

// RootOf returns the waiting of other ranks that began with a rank, in ns.
func RootOf(r summary.RankWait) int64 {
	if r.RootNS != nil {
		return *r.RootNS
	}
	return r.CausedNS
}

// LateRanks returns the ranks for which the others wait. Each causes at least a quarter of the waiting and
// at least 1.5 times its even share, and together they cause at least 60%. It returns none if the ranks are
// late in turn. The rows must be of one job.
func LateRanks(rows []summary.RankWait) (late []summary.RankWait, caused int64) {
	const each, more, together = 0.25, 1.5, 0.6
	wait := int64(0)
	for _, r := range rows {
		wait += r.WaitNS
	}
	least := max(each, more/float64(len(rows)))
	for _, r := range rows {
		if own := RootOf(r); float64(own) >= least*float64(wait) && own > 0 {
			late, caused = append(late, r), caused+own
		}
	}
	if float64(caused) < together*float64(wait) {
		return nil, 0
	}
	return late, caused
}
