package judge

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"assay/summary"
	"assay/unit"
)

// A peer is the communication of one rank.
type peer struct {
	rank     int
	ns, runs int64 // of its communication kernels
}

// Peers are the ranks of a run whose communication can be compared.
type peers struct {
	ranks       int  // in the summary
	repeated    bool // a rank comes in two inputs, so sums mean nothing
	least, most peer // by work, of the ranks that communicate
}

func (c *court) peers() peers {
	byRank := map[int]peer{}
	input := map[int]int{}
	var out peers
	for _, d := range c.Devices {
		if in, ok := input[d.Rank]; ok && in != d.Input {
			out.repeated = true
		}
		input[d.Rank] = d.Input
	}
	out.ranks = len(input)
	for _, k := range c.Kernels {
		if k.Class == "comm" {
			p := byRank[k.Rank]
			byRank[k.Rank] = peer{k.Rank, summary.Plus(p.ns, k.TotalNS), summary.Plus(p.runs, k.Count)}
		}
	}
	var list []peer
	for _, p := range byRank {
		list = append(list, p)
	}
	if len(list) < 2 {
		return out
	}
	slices.SortFunc(list, func(a, b peer) int { return cmp.Or(cmp.Compare(a.ns, b.ns), cmp.Compare(a.rank, b.rank)) })
	out.least, out.most = list[0], list[len(list)-1]
	return out
}

// comparable reports whether two ranks did the same communication, as far as
// their number of kernels tells. A rank that recorded fewer steps is no
// straggler.
func (p peers) comparable() bool {
	apart := p.most.runs - p.least.runs
	return !p.repeated && p.least.runs > 0 && max(apart, -apart) <= p.most.runs/10
}

// straggler reports whether one rank waits so much less than another that it
// must be the one that is waited for.
func (p peers) straggler() bool {
	return p.comparable() && p.most.ns-p.least.ns > p.most.ns/5
}

func (p peers) evidence() []string {
	if p.repeated || p.least.runs == 0 {
		return nil
	}
	line := fmt.Sprintf("comm kernels run %s on rank %d and %s on rank %d", unit.Duration(p.most.ns), p.most.rank, unit.Duration(p.least.ns), p.least.rank)
	switch {
	case p.straggler():
		line += fmt.Sprintf(": rank %d arrives last and the others wait", p.least.rank)
	case !p.comparable():
		line += fmt.Sprintf(", but their numbers differ (%s and %s), so the ranks did not record the same work",
			plural(p.most.runs, "run"), plural(p.least.runs, "run"))
	default:
		line += ": no rank keeps the others waiting"
	}
	return []string{line}
}

func (p peers) advice() string {
	switch {
	case p.ranks < 2:
		return say("give-all-ranks")
	case p.straggler():
		return say("find-the-late-rank", "rank", strconv.Itoa(p.least.rank))
	case p.comparable():
		return say("tune-the-communication")
	}
	return say("compare-the-same-steps")
}
