package ranks

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/judge/advice"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/judge/tree"
	"assay/summary"
	"assay/summary/view"
)

// A peer is one rank with its communication.
type peer struct {
	rank     int
	ns, runs int64 // ns and launches of its communication kernels
}

// worldSizesDiffer is the code of the issue that traces state different numbers of ranks.
const worldSizesDiffer = "world-sizes-differ"

// A peers compares the ranks of a run by their sums of communication time.
type peers struct {
	ranks       int   // number of ranks in the summary
	repeated    bool  // two inputs have the same rank, or one is a copy, so sums are wrong
	differ      bool  // ranks do different work, or may do so
	between     bool  // most communication is between two ranks each
	mixed       bool  // the traces belong to jobs of different sizes
	least, most peer  // the ranks with the least and the most communication time
	waited      int64 // ns that all others communicate longer than least
}

func (c *Evaluator) peers() peers {
	byRank := map[int]peer{}
	input := map[int]int{}
	var out peers
	for _, d := range c.Devices {
		if in, ok := input[d.Rank]; ok && in != d.Input {
			out.repeated = true
		}
		input[d.Rank] = d.Input
	}
	out.ranks, out.differ = len(input), advice.DifferentWork(c.Summary)
	out.between = advice.BetweenPeers(c.Summary)
	out.mixed = c.Issue(worldSizesDiffer) != nil
	for _, k := range c.Kernels {
		if k.Class == "comm" {
			p := byRank[k.Rank]
			byRank[k.Rank] = peer{k.Rank, p.ns + k.TotalNS, p.runs + k.Count}
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
		out.waited += p.ns - out.least.ns
	}
	return out
}

// comparable reports whether the two ranks did the same communication, by their number of launches.
// A rank that recorded fewer steps is not a straggler.
func (p peers) comparable() bool {
	apart := p.most.runs - p.least.runs
	return !p.repeated && !p.differ && !p.mixed && p.least.runs > 0 && max(apart, -apart) <= p.most.runs/10
}

// straggler reports whether one rank communicates so much less than another that the others must
// wait for it.
func (p peers) straggler() bool {
	return p.comparable() && p.most.ns-p.least.ns > p.most.ns/5
}

func (p peers) evidence() []string {
	if p.repeated || p.least.runs == 0 {
		return nil
	}
	if p.mixed {
		return []string{"sums of ranks are not compared, because the traces are of jobs of different sizes"}
	}
	if p.differ {
		return []string{"sums of ranks are not compared, because the ranks may do different work: their kernels differ, or they send to each other"}
	}
	line := fmt.Sprintf("communication kernels take %s on rank %d and %s on rank %d", unit.Duration(p.most.ns),
		p.most.rank, unit.Duration(p.least.ns), p.least.rank)
	switch {
	case p.straggler():
		line += fmt.Sprintf(": rank %d is the straggler", p.least.rank)
	case !p.comparable():
		line += fmt.Sprintf(", but the numbers of launches differ (%s and %s), so the ranks recorded different work",
			unit.Count(p.most.runs), unit.Count(p.least.runs))
	default:
		line += ": no straggler"
	}
	return []string{line}
}

func (p peers) advice() finding.Step {
	switch {
	case p.between:
		return finding.Advise("give-both-sides")
	case p.ranks < 2:
		return finding.Advise("give-all-ranks")
	case p.differ:
		return finding.Advise("send-less-between-ranks")
	case p.straggler():
		return finding.Advise("find-the-late-rank", "rank", advice.RankName(p.least.rank)).For("late=one")
	case p.comparable():
		return finding.Advise("tune-the-communication").For("late=none")
	}
	return finding.Advise("compare-the-same-steps").For("late=incomparable")
}

// stragglingRank judges how long the other ranks wait for one. That rank is the last to arrive, so
// its communication time is the transfer; the additional communication time of the others is
// waiting.
func (c *Evaluator) stragglingRank() []tree.Reading {
	if w, ok := advice.WaitsOfRanks(c.Summary); ok {
		return stragglersOf(c, w)
	}
	p := c.peers()
	if !p.straggler() {
		return nil
	}
	waited := min(p.waited, c.Judged.ExposedComm())
	waiters := c.others(func(d *summary.Device) bool { return d.Rank != p.least.rank })
	f, limit, ok := rule.Measured(c.Limits[rule.StragglingRank], waited, waiters.window)
	c.GainOfJudged(&f, waited)
	f.Title = fmt.Sprintf("Straggler: rank %d; %s %sup to %s of GPU time", p.least.rank,
		label.Plural(int64(p.ranks-1), "other rank"), wait(p.ranks-1), unit.Share(waited, waiters.window)) + c.LeftOut() +
		" (" + c.each(waited, waiters) + ")" + rule.Over(limit)
	why := whyLate(c, p.least.rank)
	f.Evidence = append([]string{"waiting: " + c.perStep(waited, waiters)}, why...)
	if len(why) > 0 {
		f.Cause = fmt.Sprintf("rank %d: %s", p.least.rank, why[0])
	}
	for _, d := range c.Devices {
		if d.Rank == p.least.rank {
			f.Where = append(f.Where, finding.PlaceOf(d.Input, d.Rank, d.Device).At(d.StartNS, d.WindowNS))
		}
	}
	f.Subject = advice.RankName(p.least.rank)
	r := tree.Reading{Finding: f, Reached: ok, Explains: map[string]int64{rule.ExposedComm: waited}}
	r.Drops = advice.AnyCommAdvice() // faster communication does not help a straggler
	return r.IfReached()
}

// whyLate compares the windows of a rank with those of the others: which share is larger, and what
// that suggests.
func whyLate(c *Evaluator, rank int) (out []string) {
	var own, others summary.Activity
	for _, d := range c.Devices {
		if d.Rank == rank {
			own = own.Plus(d.Activity)
		} else {
			others = others.Plus(d.Activity)
		}
	}
	share := func(a summary.Activity, of func(summary.Activity) int64) float64 {
		return float64(of(a)) / float64(max(1, a.Window()))
	}
	for _, what := range []struct {
		of         func(summary.Activity) int64
		name, hint string
	}{
		{summary.Activity.Compute, "compute", "more work, or a slower GPU"},
		{summary.Activity.Idle, "idle", "its CPU launches late"},
		{summary.Activity.ExposedCopy, "exposed copies", "more data"},
	} {
		const more = 0.05 // share of the window; smaller differences are noise
		if share(own, what.of)-share(others, what.of) > more {
			out = append(out, fmt.Sprintf("%s: %s of the window on rank %d, %s on the others (%s)", what.name,
				unit.Share(what.of(own), own.Window()), rank, unit.Share(what.of(others), others.Window()), what.hint))
		}
	}
	return out
}

// unevenRanks judges whether one rank computes more than the others in the same number of steps.
// The others wait for it, each as long as it computes less.
func (c *Evaluator) unevenRanks() []tree.Reading {
	compute, steps := map[int]int64{}, map[int]int{}
	inputs, same := map[int]int{}, view.SameGPU(c.Summary)
	for _, d := range c.Devices {
		if in, ok := inputs[d.Rank]; ok && same(summary.GPU{Input: in}) != same(summary.GPU{Input: d.Input}) {
			return nil // two inputs have the same rank
		}
		inputs[d.Rank] = d.Input
		compute[d.Rank] += d.Activity.Compute()
	}
	for _, st := range c.Steps {
		steps[st.Rank]++
	}
	if len(compute) < 2 || advice.DifferentWork(c.Summary) {
		return nil
	}
	ranks := byRank(compute)
	sum, first := int64(0), ranks[0]
	for _, r := range ranks {
		if steps[r] != steps[first] {
			return nil
		}
		sum += compute[r]
	}
	most, mean := compute[first], sum/int64(len(ranks))
	f, limit, ok := rule.Measured(c.Limits[rule.UnevenRanks], most-mean, most)
	if !ok || most == 0 {
		return nil
	}
	f.Title = fmt.Sprintf("Compute imbalance: rank %d takes %s; the mean is %s (%s less)", first, unit.Duration(most),
		unit.Duration(mean), unit.Share(most-mean, most)) + rule.Over(limit)
	last := ranks[len(ranks)-1]
	f.Evidence = []string{fmt.Sprintf("least compute: rank %d with %s, of %d ranks", last, unit.Duration(compute[last]),
		len(ranks))}
	for _, d := range c.Devices {
		if d.Rank == first {
			f.Where = append(f.Where, finding.PlaceOf(d.Input, d.Rank, d.Device).At(d.StartNS, d.WindowNS))
			f.Gain(most-mean, d.WindowNS, fmt.Sprintf("the window of rank %d", first))
		}
	}
	f.Next = []finding.Step{finding.Advise("even-out-the-work"), finding.Advise("check-throttling")}
	f.Subject = advice.RankName(first)
	waits := int64(0)
	for _, ns := range compute {
		waits = summary.Plus(waits, most-ns)
	}
	return []tree.Reading{{Finding: f, Reached: true,
		Explains: map[string]int64{rule.StragglingRank: waits, rule.UnevenExperts: waits},
		Below:    append([]string{f.Title}, f.Evidence...), Advice: f.Next}}
}

// byRank returns the ranks by falling work.
func byRank(work map[int]int64) []int {
	return slices.SortedFunc(maps.Keys(work), func(a,
		b int) int {
		return cmp.Or(cmp.Compare(work[b], work[a]), cmp.Compare(a, b))
	})
}
