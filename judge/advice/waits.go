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

// RankName returns a rank as the subject of a finding.
func RankName(rank int) string { return "rank " + strconv.Itoa(rank) }

// RankWaits are the ranks of a run whose collectives were matched: who waited, and for whom.
// Without them, ranks are compared by their sums of communication time: see peers.
type RankWaits struct {
	Ranks          []summary.RankWait // those that the others wait for most first
	Wait, transfer int64              // ns over all GPUs
	partial        string             // "2 of 128" if ranks of a group were not given
	missing        bool               // ranks of the job were not given, and one of them may be late
}

// DifferentWork reports whether ranks of the summary do different work, as stages of a
// pipeline do, or may do so.
func DifferentWork(c *summary.Summary) bool {
	return slices.ContainsFunc(c.Topologies, func(t summary.Topology) bool { return t.PeersFrom != "all" })
}

// WaitsOfRanks returns the waits of a run in collectives of ranks that do the same work, and
// whether its ranks can be compared by them: at least half of the communication time is in
// matched collectives, sends and receives between stages of a pipeline apart.
func WaitsOfRanks(c *summary.Summary) (RankWaits, bool) {
	w := RankWaits{Ranks: waitingMost(c.Ranks)}
	stages, inputs := false, map[int]bool{}
	for i := range w.Ranks {
		r := &w.Ranks[i]
		inputs[r.Input] = true
		if stages = stages || r.StageMessages > 0; r.PeerWaitNS != nil && r.PeerCausedNS != nil {
			r.WaitNS, r.CausedNS = *r.PeerWaitNS, *r.PeerCausedNS
		}
		w.Wait, w.transfer = w.Wait+r.WaitNS, w.transfer+r.TransferNS
	}
	all := int64(0)
	for _, k := range c.Kernels {
		if k.Class == "comm" && inputs[k.Input] && !(stages && k.Category == "send-recv") {
			all += k.TotalNS
		}
	}
	for _, r := range c.Collectives {
		if r.Partial && r.TransferNS != nil && len(w.Ranks) > 0 && r.Job == w.Ranks[0].Job {
			w.partial = fmt.Sprintf("%d of %d", r.Ranks, max(r.GroupSize, r.Ranks+1))
		}
	}
	w.missing = w.partial != "" || slices.ContainsFunc(c.Issues, func(is summary.Issue) bool { return is.Code == "ranks-missing" })
	slices.SortStableFunc(w.Ranks, func(a, b summary.RankWait) int { return cmp.Compare(b.CausedNS, a.CausedNS) })
	of := w.Wait + w.transfer
	unknown := slices.ContainsFunc(c.Topologies, func(t summary.Topology) bool { return t.PeersFrom == "" })
	return w, len(w.Ranks) >= 2 && of > 0 && of >= all-of && !unknown
}

// waitingMost returns copies of the rows of the job whose ranks wait most: those of several
// jobs, a trainer and a server, are no peers.
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

// Late returns the ranks that the others wait for: see [view.LateRanks].
func (w RankWaits) Late() (out []summary.RankWait, caused int64) { return view.LateRanks(w.Ranks) }

// Waiting reports whether waiting is most of the time in matched collectives.
func (w RankWaits) Waiting() bool { return w.Wait > w.transfer }

func (w RankWaits) Evidence() []string {
	line := fmt.Sprintf("waiting is %s of the time in matched collectives; the transfer takes %s per GPU", unit.Share(w.Wait, w.Wait+w.transfer),
		unit.Duration(w.transfer/int64(len(w.Ranks))))
	return append([]string{line}, w.Caveat()...)
}

// Caveat says that ranks of a group are missing, or the end of their files, and that one of
// them may be late.
func (w RankWaits) Caveat() []string {
	if w.partial == "" {
		return nil
	}
	return []string{w.partial + " ranks of a group were given, so a rank that is not here may be late"}
}

// Share returns how much of the waiting a rank causes, and how often it is last.
func (w RankWaits) Share(r summary.RankWait) string {
	return fmt.Sprintf("%s: last in %s of %s, causes %s of the waiting", w.Name(r), unit.Count(r.Last), label.Plural(r.Collectives, "collective"), unit.Share(r.CausedNS, w.Wait))
}

func (w RankWaits) Advice() finding.Step {
	late, _ := w.Late()
	if !w.Waiting() {
		if w.missing {
			return finding.Advise("give-all-ranks")
		}
		return finding.Advise("transfer-less")
	}
	if len(late) > 0 {
		if step, ok := AgainstLate(w.Names(late), late); ok {
			return step
		}
	}
	switch {
	case len(late) == 1:
		return finding.Advise("find-the-late-rank", "rank", w.Names(late))
	case len(late) > 1:
		return finding.Advise("find-the-late-ranks", "ranks", w.Names(late))
	}
	return finding.Advise("even-out-each-step")
}

// UselessWithCause returns the ids of the steps against communication time as such, which do
// not help if the division of the work or a link is the cause.
func UselessWithCause() []string {
	out := []string{"find-the-late-rank", "find-the-late-ranks", "even-out-each-step", "transfer-less", "tune-the-communication", "compare-the-same-steps",
		"compare-the-gpu", "compare-the-work", "compare-the-input", "compare-the-host", "send-less-between-ranks", "give-all-ranks"}
	return append(out, AnyCommAdvice()...)
}
