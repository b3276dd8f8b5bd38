package judge

import (
	"cmp"
	"fmt"
	"maps"
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
	ranks       int   // in the summary
	repeated    bool  // a rank comes in two inputs, so sums mean nothing
	least, most peer  // by work, of the ranks that communicate
	waited      int64 // ns for which all others communicate longer than least
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
	for _, p := range list {
		out.waited = summary.Plus(out.waited, p.ns-out.least.ns)
	}
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

func (p peers) advice() Step {
	switch {
	case p.ranks < 2:
		return advise("give-all-ranks")
	case p.straggler():
		return advise("find-the-late-rank", "rank", strconv.Itoa(p.least.rank))
	case p.comparable():
		return advise("tune-the-communication")
	}
	return advise("compare-the-same-steps")
}

// straggling turns the finding on exposed communication into one on the rank that
// the others wait for, where waiting is half of what is exposed or more. The rank
// that arrives last communicates for as long as the transfer takes; what the others
// communicate for longer, they wait.
func (c *court) straggling(f Finding, p peers, limit float64) Finding {
	exposed, window := c.judged.ExposedComm(), c.judged.Window()
	waited := min(p.waited, exposed)
	if !p.straggler() || waited < exposed-waited {
		return f
	}
	own, over, ok := measured(c.rules[RuleStragglingRank], waited, window)
	if !ok {
		return f
	}
	own.InPlaceOf = f.Rule
	own.Title = fmt.Sprintf("rank %d arrives last and keeps the others waiting for up to %s of %s (%s), %s; %s", p.least.rank,
		unit.Share(waited, window), c.judgedName(), fraction(waited, window), reaches(own, over), f.Title)
	own.Level = max(own.Level, f.Level) // the title names the limits of each
	own.gain(waited, window, c.judgedName())
	own.Evidence = c.whyLate(p.least.rank)
	for _, d := range c.Devices {
		if d.Rank == p.least.rank {
			own.Where = append(own.Where, placeOf(d.Input, d.Rank, d.Device).at(d.StartNS, d.WindowNS))
		}
	}
	return own
}

// A share of a rank is how much of its windows it spends in something.
func (c *court) rankShare(rank int, of func(summary.Activity) int64) (own, others float64) {
	var mine, rest summary.Activity
	for _, d := range c.Devices {
		if d.Rank == rank {
			mine = mine.Plus(d.Activity)
		} else {
			rest = rest.Plus(d.Activity)
		}
	}
	return float64(of(mine)) / float64(max(1, mine.Window())), float64(of(rest)) / float64(max(1, rest.Window()))
}

// whyLate says what a rank does more of than the others.
func (c *court) whyLate(rank int) (out []string) {
	for _, what := range []struct {
		of         func(summary.Activity) int64
		does, hint string
	}{
		{summary.Activity.Compute, "computes", "it has more work, or a slower device"},
		{summary.Activity.Idle, "is idle", "its host is late"},
		{summary.Activity.ExposedCopy, "copies with nothing beside", "it moves more data"},
	} {
		const more = 0.05 // of the window, for less is noise
		if own, others := c.rankShare(rank, what.of); own-others > more {
			out = append(out, fmt.Sprintf("rank %d %s for %s of its window and the others for %s: %s", rank, what.does, percent(own), percent(others), what.hint))
		}
	}
	return out
}

// judgeRanks adds the finding on uneven ranks. Where the rank that computes most is
// the one that keeps the others waiting, that is what it comes to, and it is told
// there.
func (c *court) judgeRanks(judged []Finding) []Finding {
	f, ok := c.unevenRanks()
	if !ok {
		return judged
	}
	late := findingOf(judged, RuleStragglingRank)
	if late == nil || c.peers().least.rank != f.Where[0].Rank {
		return append(judged, f)
	}
	late.tell(append([]string{f.Title}, f.Evidence...), f.Next, false)
	return judged
}

// unevenRanks asks whether one rank computes more than the others that did the same
// steps.
func (c *court) unevenRanks() (Finding, bool) {
	compute, steps := map[int]int64{}, map[int]int{}
	inputs := map[int]int{}
	for _, d := range c.Devices {
		if in, ok := inputs[d.Rank]; ok && in != d.Input {
			return Finding{}, false // a rank comes in two inputs
		}
		inputs[d.Rank] = d.Input
		compute[d.Rank] = summary.Plus(compute[d.Rank], d.Activity.Compute())
	}
	for _, st := range c.Steps {
		steps[st.Rank]++
	}
	if len(compute) < 2 {
		return Finding{}, false
	}
	ranks := byRank(compute)
	sum, first := int64(0), ranks[0]
	for _, r := range ranks {
		if steps[r] != steps[first] {
			return Finding{}, false
		}
		sum = summary.Plus(sum, compute[r])
	}
	most, mean := compute[first], sum/int64(len(ranks))
	f, limit, ok := measured(c.rules[RuleUnevenRanks], most-mean, most)
	if !ok || most == 0 {
		return Finding{}, false
	}
	f.Title = fmt.Sprintf("rank %d computes for %s, the mean of %d ranks for %s: the difference is %s of its compute time (%s), %s", first, unit.Duration(most),
		len(ranks), unit.Duration(mean), unit.Share(most-mean, most), fraction(most-mean, most), reaches(f, limit))
	last := ranks[len(ranks)-1]
	f.Evidence = []string{fmt.Sprintf("rank %d computes least, for %s", last, unit.Duration(compute[last]))}
	for _, d := range c.Devices {
		if d.Rank == first {
			f.Where = append(f.Where, placeOf(d.Input, d.Rank, d.Device).at(d.StartNS, d.WindowNS))
			f.gain(most-mean, d.WindowNS, fmt.Sprintf("the window of rank %d", first))
		}
	}
	f.Next = []Step{advise("even-out-the-work"), advise("check-throttling")}
	return f, true
}

// byRank returns the ranks by falling work.
func byRank(work map[int]int64) []int {
	return slices.SortedFunc(maps.Keys(work), func(a, b int) int { return cmp.Or(cmp.Compare(work[b], work[a]), cmp.Compare(a, b)) })
}
