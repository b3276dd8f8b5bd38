package efficiency

import (
	"cmp"
	"slices"

	"assay/summary"
)

// Replays says for which launches of graphs the operators are known from captures.
type Replays struct {
	Launches, Matched int64
	NS                int64 // GPU time of all launches
	KnownNS           int64 // of these, of nodes whose operators are known
	Unmatched         []Unmatched
}

// Unmatched are the launches of graphs without a capture, for one reason: one of
// [summary.EfficiencyReplay.Unmatched].
type Unmatched struct {
	Reason   string
	Launches int64
	NS       int64
}

// ReplaysOf returns what the join of replays and captures matched. Reasons with the most
// time come first.
func ReplaysOf(s *summary.Summary) (out Replays) {
	for i := range s.Efficiency.Replays {
		r := &s.Efficiency.Replays[i]
		out.Launches, out.NS = summary.Plus(out.Launches, r.Launches), summary.Plus(out.NS, r.GPUNS)
		if r.From != "" {
			out.Matched, out.KnownNS = summary.Plus(out.Matched, r.Launches), summary.Plus(out.KnownNS, r.KnownNS)
			continue
		}
		at := slices.IndexFunc(out.Unmatched, func(u Unmatched) bool { return u.Reason == r.Unmatched })
		if at < 0 {
			at = len(out.Unmatched)
			out.Unmatched = append(out.Unmatched, Unmatched{Reason: r.Unmatched})
		}
		u := &out.Unmatched[at]
		u.Launches, u.NS = summary.Plus(u.Launches, r.Launches), summary.Plus(u.NS, r.GPUNS)
	}
	slices.SortFunc(out.Unmatched, func(a, b Unmatched) int { return cmp.Or(cmp.Compare(b.NS, a.NS), cmp.Compare(a.Reason, b.Reason)) })
	return out
}
