package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"assay/internal/label"
	"assay/judge/advice"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/judge/tree"
	"assay/summary"
	"assay/unit"
)

// rankWaits are the ranks of a run whose collectives were matched: who waited, and for whom.
// Without them, ranks are compared by their sums of communication time: see peers.
type rankWaits struct {
	ranks          []summary.RankWait // those that the others wait for most first
	wait, transfer int64              // ns over all GPUs
	partial        string             // "2 of 128" if ranks of a group were not given
}

// waitsOfRanks returns the waits of a run, and whether its ranks can be compared by them: at
// least half of the communication time is in matched collectives.
func waitsOfRanks(c *Evaluator) (rankWaits, bool) {
	w := rankWaits{ranks: slices.Clone(c.Ranks)}
	for _, r := range w.ranks {
		w.wait, w.transfer = summary.Plus(w.wait, r.WaitNS), summary.Plus(w.transfer, r.TransferNS)
	}
	all := int64(0)
	for _, k := range c.Kernels {
		if k.Class == "comm" {
			all = summary.Plus(all, k.TotalNS)
		}
	}
	for _, r := range c.Collectives {
		if r.Partial && r.TransferNS != nil {
			w.partial = fmt.Sprintf("%d of %d", r.Ranks, r.GroupSize)
		}
	}
	slices.SortStableFunc(w.ranks, func(a, b summary.RankWait) int { return cmp.Compare(b.CausedNS, a.CausedNS) })
	of := summary.Plus(w.wait, w.transfer)
	return w, len(w.ranks) >= 2 && of > 0 && of >= all-of
}

// late returns the ranks that the others wait for: each causes a quarter of the waiting
// or half as much again as its even share, and together they cause most of it. It
// returns none if the ranks are late in turn.
func (w rankWaits) late() (out []summary.RankWait, caused int64) {
	const each, more, together = 0.25, 1.5, 0.6
	least := max(each, more/float64(len(w.ranks)))
	for _, r := range w.ranks {
		if float64(r.CausedNS) >= least*float64(w.wait) && r.CausedNS > 0 {
			out, caused = append(out, r), summary.Plus(caused, r.CausedNS)
		}
	}
	if float64(caused) < together*float64(w.wait) {
		return nil, 0
	}
	return out, caused
}

// waiting reports whether waiting is most of the time in matched collectives.
func (w rankWaits) waiting() bool { return w.wait > w.transfer }

func (w rankWaits) evidence() []string {
	line := fmt.Sprintf("waiting is %s of the time in matched collectives; the transfer takes %s per GPU", unit.Share(w.wait, summary.Plus(w.wait, w.transfer)),
		unit.Duration(w.transfer/int64(len(w.ranks))))
	if w.partial != "" {
		line += "; " + w.partial + " ranks of a group were given, so a rank that is not here may be late"
	}
	return []string{line}
}

// share returns how much of the waiting a rank causes, and how often it is last.
func (w rankWaits) share(r summary.RankWait) string {
	return fmt.Sprintf("%s: last in %s of %s, causes %s of the waiting", rankName(r.Rank), unit.Count(r.Last), label.Plural(r.Collectives, "collective"), unit.Share(r.CausedNS, w.wait))
}

func (w rankWaits) advice() finding.Step {
	late, _ := w.late()
	switch {
	case !w.waiting():
		return finding.Advise("transfer-less")
	case len(late) == 1:
		return finding.Advise("find-the-late-rank", "rank", strconv.Itoa(late[0].Rank))
	case len(late) > 1:
		return finding.Advise("find-the-late-ranks", "ranks", rankList(late))
	}
	return finding.Advise("even-out-each-step")
}

// rankList returns the numbers of ranks in order: "0 and 6".
func rankList(list []summary.RankWait) string {
	var numbers []int
	for _, r := range list {
		numbers = append(numbers, r.Rank)
	}
	slices.Sort(numbers)
	var words []string
	for _, n := range slices.Compact(numbers) {
		words = append(words, strconv.Itoa(n))
	}
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

// stragglersOf judges how long the other ranks wait for those that are late.
func stragglersOf(c *Evaluator, w rankWaits) []tree.Reading {
	late, caused := w.late()
	if len(late) == 0 {
		return nil
	}
	window := c.Judged.Window()
	waited := min(caused, c.Judged.ExposedComm())
	f, limit, ok := rule.Measured(c.Limits[rule.StragglingRank], waited, window)
	what := fmt.Sprintf("Straggler: rank %d", late[0].Rank)
	if len(late) > 1 {
		what = "Stragglers: ranks " + rankList(late)
	}
	f.Title = fmt.Sprintf("%s; the other ranks wait %s of %s", what, unit.Share(waited, window), c.JudgedName()) + rule.Over(limit)
	f.Gain(waited, window, c.JudgedWhole())
	f.Evidence = []string{"waiting: " + c.PerGPU(waited, window)}
	for _, r := range late {
		f.Evidence = append(append(f.Evidence, w.share(r)), whyLate(c, r.Rank)...)
		f.Where = append(f.Where, windowsOf(c, r)...)
	}
	f.Subject = "rank " + rankList(late)
	f.Next = []finding.Step{w.advice()}
	r := tree.Reading{Finding: f, Reached: ok, Explains: map[string]int64{rule.ExposedComm: waited}}
	for _, s := range advice.CommAdvice() { // faster communication does not help a straggler
		r.Drops = append(r.Drops, s.ID)
	}
	return r.IfReached()
}

// ranksInTurn judges the waiting in collectives to which no rank is always last.
func (c *Evaluator) ranksInTurn() []tree.Reading {
	w, ok := waitsOfRanks(c)
	if late, _ := w.late(); !ok || len(late) > 0 || !w.waiting() {
		return nil
	}
	window := c.Judged.Window()
	waited := min(w.wait, c.Judged.ExposedComm())
	f, limit, reached := rule.Measured(c.Limits[rule.RanksInTurn], waited, window)
	f.Title = fmt.Sprintf("Ranks late in turn: waiting for each other takes %s of %s", unit.Share(waited, window), c.JudgedName()) + rule.Over(limit)
	f.Gain(waited, window, c.JudgedWhole())
	f.Evidence = []string{"waiting: " + c.PerGPU(waited, window)}
	for _, r := range w.ranks[:min(2, len(w.ranks))] {
		f.Evidence = append(f.Evidence, w.share(r))
	}
	f.Next = []finding.Step{w.advice(), finding.Advise("even-out-the-work")}
	r := tree.Reading{Finding: f, Reached: reached, Explains: map[string]int64{rule.ExposedComm: waited}}
	for _, s := range advice.CommAdvice() {
		r.Drops = append(r.Drops, s.ID)
	}
	return r.IfReached()
}

// windowsOf returns the windows of a rank as places.
func windowsOf(c *Evaluator, r summary.RankWait) (out []finding.Place) {
	for _, d := range c.Devices {
		if d.Rank == r.Rank && d.Device == r.Device && d.Input == r.Input {
			out = append(out, finding.PlaceOf(d.Input, d.Rank, d.Device).At(d.StartNS, d.WindowNS))
		}
	}
	return out
}

// rankEvidence returns how the ranks compare: by their waits, or without matched
// collectives by their sums.
func rankEvidence(c *Evaluator) []string {
	if w, ok := waitsOfRanks(c); ok {
		return w.evidence()
	}
	return c.peers().evidence()
}

// rankAdvice returns the first step against communication time.
func rankAdvice(c *Evaluator) finding.Step {
	if w, ok := waitsOfRanks(c); ok {
		return w.advice()
	}
	return c.peers().advice()
}
