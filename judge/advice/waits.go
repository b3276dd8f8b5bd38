package advice

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/judge/finding"
	"assay/summary"
	"assay/summary/view"
)

// RankName returns the name of a rank in findings: "rank 5".
func RankName(rank int) string { return "rank " + strconv.Itoa(rank) }

// RankWaits has the ranks of a run whose collectives were matched, with the time that each waits
// and that each makes others wait.
type RankWaits struct {
	Ranks          []summary.RankWait // the rank that makes others wait most is first
	Wait, transfer int64              // ns, summed over all GPUs
	partial        string             // "2 of 128" if the inputs lack ranks of a group, else empty
	follow         []summary.RankWait // the ranks that came last because they had waited for others
	missing        bool               // the inputs lack ranks of the job, and one of those may be the late one
}

// DifferentWork reports whether ranks of the summary do different work, like stages of a pipeline,
// or whether that is unknown.
func DifferentWork(c *summary.Summary) bool {
	return slices.ContainsFunc(c.Topologies, func(t summary.Topology) bool { return t.PeersFrom != "all" })
}

// WaitsOfRanks returns the waits of a run in the collectives of ranks that do the same work, and
// whether its ranks can be compared by them: at least half of the communication time must be in
// matched collectives. Sends and receives between stages of a pipeline do not count.
func WaitsOfRanks(c *summary.Summary) (RankWaits, bool) {
	w := RankWaits{Ranks: waitingMost(view.WaitsOfGPUs(c))}
	stages, inputs, same := false, map[int]bool{}, view.SameGPU(c)
	for i := range w.Ranks {
		r := &w.Ranks[i]
		inputs[r.Input] = true
		if stages = stages || r.StageMessages > 0; r.PeerWaitNS != nil && r.PeerCausedNS != nil {
			r.WaitNS, r.CausedNS = *r.PeerWaitNS, *r.PeerCausedNS
		}
		if r.RootNS != nil && *r.RootNS < r.CausedNS {
			w.follow = append(w.follow, *r)
		}
		r.CausedNS, r.RootNS = view.RootOf(*r), nil
		w.Wait, w.transfer = w.Wait+r.WaitNS, w.transfer+r.TransferNS
	}
	all := int64(0)
	for _, k := range c.Kernels {
		if k.Class == "comm" && inputs[same(summary.GPU{Input: k.Input}).Input] && !(stages && k.Category == "send-recv") {
			all += k.TotalNS
		}
	}
	for _, r := range c.Collectives {
		if r.Partial && r.TransferNS != nil && len(w.Ranks) > 0 && r.Job == w.Ranks[0].Job {
			w.partial = fmt.Sprintf("%d of %d", r.Ranks, max(r.GroupSize, r.Ranks+1))
		}
	}
	w.missing = w.partial != "" || c.Issue("ranks-missing") != nil
	slices.SortStableFunc(w.Ranks, func(a, b summary.RankWait) int { return cmp.Compare(b.CausedNS, a.CausedNS) })
	matched := w.Wait + w.transfer
	unknown := slices.ContainsFunc(c.Topologies, func(t summary.Topology) bool { return t.PeersFrom == "" })
	return w, len(w.Ranks) >= 2 && matched > 0 && matched >= all-matched && !unknown
}

// waitingMost returns copies of the rows of the job whose ranks wait most. Ranks of different jobs,
// such as a trainer and a server, cannot be compared.
func waitingMost(rows []summary.RankWait) (out []summary.RankWait) {
	wait, first := map[int]int64{}, -1
	for _, r := range rows {
		if wait[r.Job] += r.WaitNS; first < 0 || r.Job < first {
			first = r.Job
		}
	}
	for job, ns := range wait {
		if ns > wait[first] || ns == wait[first] && job < first {
			first = job
		}
	}
	for _, r := range rows {
		if r.Job == first {
			out = append(out, r)
		}
	}
	return out
}

// Late returns the ranks that others wait for, and the ns that they cause: see [view.LateRanks].
func (w RankWaits) Late() (out []summary.RankWait, caused int64) { return view.LateRanks(w.Ranks) }

// Waiting reports whether waits take longer than transfers in matched collectives: on all ranks, or on
// those that wait for late ones. A late rank transfers as long as the others, and waits for none.
func (w RankWaits) Waiting() bool {
	late, _ := w.Late()
	wait, transfer := w.Wait, w.transfer
	for _, r := range late {
		wait, transfer = wait-r.WaitNS, transfer-r.TransferNS
	}
	return w.Wait > w.transfer || len(late) < len(w.Ranks) && wait > transfer
}

// Evidence returns the share of waiting in matched collectives and the mean transfer time per GPU,
// with [RankWaits.Caveat].
func (w RankWaits) Evidence() []string {
	line := fmt.Sprintf("waiting is %s of the time in matched collectives; the transfer takes %s per GPU",
		unit.Share(w.Wait, w.Wait+w.transfer),
		unit.Duration(w.transfer/int64(len(w.Ranks))))
	return append([]string{line}, w.Caveat()...)
}

// Caveat returns a line if the inputs lack ranks of a group, because one of those may be the late
// one.
func (w RankWaits) Caveat() []string {
	if w.partial == "" {
		return nil
	}
	return []string{w.partial + " ranks of a group were given, so a rank that is not here may be late"}
}

// Share returns a line with the share of the waiting that a rank causes, and how often it is last.
func (w RankWaits) Share(r summary.RankWait) string {
	return fmt.Sprintf("%s: last in %s of %s, causes %s of the waiting", w.Name(r), unit.Count(r.Last),
		label.Plural(r.Collectives, "collective"), unit.Share(r.CausedNS, w.Wait))
}

// Followers returns a line with the ranks that came last because they had waited for others.
func (w RankWaits) Followers() []string {
	if len(w.follow) == 0 {
		return nil
	}
	return []string{w.Names(w.follow) + " came last in other groups after waiting for other ranks, which is counted for these"}
}

// Advice returns the first fix for the waits: it depends on whether waits or transfers take longer,
// and on which ranks are late.
func (w RankWaits) Advice() finding.Step {
	late, _ := w.Late()
	if !w.Waiting() {
		if w.missing {
			return finding.Advise("give-all-ranks")
		}
		return finding.Advise("transfer-less").For("late=none")
	}
	if len(late) > 0 {
		if step, ok := AgainstLate(w.Names(late), late); ok {
			return step
		}
	}
	switch {
	case len(late) == 1:
		return finding.Advise("find-the-late-rank", "rank", w.Names(late)).For("late=one")
	case len(late) > 1:
		return finding.Advise("find-the-late-ranks", "ranks", w.Names(late)).For("late=several")
	}
	return finding.Advise("even-out-each-step").For("late=in-turn")
}

// UselessWithCause returns the ids of the steps that do not help if the division of the work or a
// link is the cause of the waiting.
func UselessWithCause() []string {
	out := []string{"find-the-late-rank", "find-the-late-ranks", "even-out-each-step", "transfer-less",
		"tune-the-communication", "compare-the-same-steps",
		"compare-the-gpu", "compare-the-work", "compare-the-input", "compare-the-host", "send-less-between-ranks",
		"give-all-ranks"}
	return append(out, AnyCommAdvice()...)
}
