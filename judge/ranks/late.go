package ranks

import (
	"fmt"

	"assay/judge/advice"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/judge/tree"
	"assay/summary"
	"assay/unit"
)

// stragglersOf judges how long the other ranks wait for those that are late.
func stragglersOf(c *Evaluator, w advice.RankWaits) []tree.Reading {
	late, caused := w.Late()
	if len(late) == 0 {
		return nil
	}
	window := c.Judged.Window()
	waited := min(caused, c.Judged.ExposedComm())
	f, limit, ok := rule.Measured(c.Limits[rule.StragglingRank], waited, window)
	what := fmt.Sprintf("Straggler: rank %d", late[0].Rank)
	if len(late) > 1 {
		what = "Stragglers: ranks " + advice.RankList(late)
	}
	f.Title = fmt.Sprintf("%s; the other ranks wait %s of %s", what, unit.Share(waited, window), c.JudgedName()) + rule.Over(limit)
	f.Gain(waited, window, c.JudgedWhole())
	f.Evidence = []string{"waiting: " + c.perStep(waited)}
	for _, r := range late {
		f.Evidence = append(append(f.Evidence, w.Share(r)), whyRankLate(c, r)...)
		if d := c.device(&r); d != nil {
			f.Where = append(f.Where, finding.PlaceOf(d.Input, d.Rank, d.Device).At(d.StartNS, d.WindowNS))
		}
	}
	f.Subject = "rank " + advice.RankList(late)
	f.Next = []finding.Step{w.Advice()}
	r := tree.Reading{Finding: f, Reached: ok, Explains: map[string]int64{rule.ExposedComm: waited}}
	for _, s := range advice.CommAdvice() { // faster communication does not help a straggler
		r.Drops = append(r.Drops, s.ID)
	}
	return r.IfReached()
}

// whyRankLate returns in which steps a rank is late, and what it does more of than the
// others of the same work.
func whyRankLate(c *Evaluator, r summary.RankWait) (out []string) {
	if text := advice.StepsWhenLate(r); text != "" {
		out = append(out, text)
	}
	why, ok := advice.WhyLate(r)
	if !ok {
		why = whyLate(c, r.Rank)
	}
	return append(out, why...)
}

// ranksInTurn judges the waiting in collectives to which no rank is always last.
func (c *Evaluator) ranksInTurn() []tree.Reading {
	w, ok := advice.WaitsOfRanks(c.Summary)
	if late, _ := w.Late(); !ok || len(late) > 0 || !w.Waiting() {
		return nil
	}
	window := c.Judged.Window()
	waited := min(w.Wait, c.Judged.ExposedComm())
	f, limit, reached := rule.Measured(c.Limits[rule.RanksInTurn], waited, window)
	f.Title = fmt.Sprintf("Ranks late in turn: waiting for each other takes %s of %s", unit.Share(waited, window), c.JudgedName()) + rule.Over(limit)
	f.Gain(waited, window, c.JudgedWhole())
	f.Evidence = []string{"waiting: " + c.perStep(waited)}
	for _, r := range w.Ranks[:min(2, len(w.Ranks))] {
		f.Evidence = append(f.Evidence, w.Share(r))
	}
	f.Next = []finding.Step{w.Advice(), finding.Advise("even-out-the-work")}
	r := tree.Reading{Finding: f, Reached: reached, Explains: map[string]int64{rule.ExposedComm: waited}}
	for _, s := range advice.CommAdvice() {
		r.Drops = append(r.Drops, s.ID)
	}
	return r.IfReached()
}

// Evidence returns how the ranks compare: by their waits, or without matched collectives by
// their sums.
func (c *Evaluator) Evidence() []string {
	if w, ok := advice.WaitsOfRanks(c.Summary); ok {
		return w.Evidence()
	}
	return c.peers().evidence()
}

// Advice returns the first step against communication time.
func (c *Evaluator) Advice() finding.Step {
	if w, ok := advice.WaitsOfRanks(c.Summary); ok {
		return w.Advice()
	}
	return c.peers().advice()
}
