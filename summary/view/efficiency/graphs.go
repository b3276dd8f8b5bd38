package efficiency

import (
	"cmp"
	"slices"

	"assay/summary"
)

// A Replays states for which launches of graphs the operators are known from captures.
type Replays struct {
	Launches, Matched int64
	NS                int64 // GPU time of all launches
	KnownNS           int64 // part of NS in nodes whose operators are known
	Unmatched         []Unmatched

	ByNodes Nodes // the matched launches whose operators were found by node IDs
}

// A Nodes has the launches of graphs whose operators are those that were open when the program created the
// nodes.
type Nodes struct {
	Launches, KnownNS int64
	Work, Known       int64 // number of GPU operations, and of those with a known operator
	Lost              []Lost
}

// A Lost counts GPU operations without an operator for one reason: see [summary.NodesLost].
type Lost struct {
	Reason string
	Work   int64
}

// add adds the launches of a graph.
func (n *Nodes) add(r *summary.EfficiencyReplay) {
	n.Launches, n.KnownNS = n.Launches+r.Launches, n.KnownNS+r.KnownNS
	all := summary.Times(r.Nodes, r.Launches)
	n.Work, n.Known = summary.Plus(n.Work, all), summary.Plus(n.Known, all)
	for _, l := range r.NodesLost {
		work := summary.Times(l.Nodes, r.Launches)
		n.Known -= min(work, n.Known)
		at := slices.IndexFunc(n.Lost, func(o Lost) bool { return o.Reason == l.Reason })
		if at < 0 {
			at = len(n.Lost)
			n.Lost = append(n.Lost, Lost{Reason: l.Reason})
		}
		n.Lost[at].Work = summary.Plus(n.Lost[at].Work, work)
	}
}

// An Unmatched counts the launches of graphs without a capture for one reason: a value of
// [summary.EfficiencyReplay.Unmatched].
type Unmatched struct {
	Reason   string
	Launches int64
	NS       int64
}

// ReplaysOf returns the result of joining replays with captures. Reasons with the most time come first.
func ReplaysOf(s *summary.Summary) (out Replays) {
	for i := range s.Efficiency.Replays {
		r := &s.Efficiency.Replays[i]
		out.Launches, out.NS = out.Launches+r.Launches, out.NS+r.GPUNS
		if r.From != "" {
			if r.From == summary.FromNodes {
				out.ByNodes.add(r)
			}
			out.Matched, out.KnownNS = out.Matched+r.Launches, out.KnownNS+r.KnownNS
			continue
		}
		at := slices.IndexFunc(out.Unmatched, func(u Unmatched) bool { return u.Reason == r.Unmatched })
		if at < 0 {
			at = len(out.Unmatched)
			out.Unmatched = append(out.Unmatched, Unmatched{Reason: r.Unmatched})
		}
		u := &out.Unmatched[at]
		u.Launches, u.NS = u.Launches+r.Launches, u.NS+r.GPUNS
	}
	slices.SortFunc(out.Unmatched, func(a, b Unmatched) int { return cmp.Or(cmp.Compare(b.NS, a.NS), cmp.Compare(a.Reason, b.Reason)) })
	slices.SortFunc(out.ByNodes.Lost, func(a, b Lost) int { return cmp.Or(cmp.Compare(b.Work, a.Work), cmp.Compare(a.Reason, b.Reason)) })
	return out
}
