package ranks

import (
	"fmt"
	"strings"

	"assay/internal/unit"
	"assay/judge/advice"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/judge/tree"
	"assay/summary"
	"assay/summary/view"
)

// An Evaluator applies the rules to the ranks of a summary.
type Evaluator struct{ *tree.Context }

// New returns an evaluator for a context.
func New(c *tree.Context) *Evaluator { return &Evaluator{c} }

// Rules returns the rules, in any order. Causes in the division of the work have precedence over
// late ranks, because they explain why ranks are late. There are none if the ranks cannot be compared.
func (c *Evaluator) Rules() []tree.Row {
	if len(view.RanksApart(c.Summary)) > 0 {
		return nil
	}
	under := []string{rule.ExposedComm}
	return []tree.Row{
		{ID: rule.UnevenStages, Part: tree.PartComm, Under: under, Precedence: 6, Replaces: true, Worth: tree.WorthOfRule,
			Measure: c.unevenStages},
		{ID: rule.PipelineBubble, Part: tree.PartComm, Under: under, Precedence: 7, Replaces: true, Worth: tree.WorthOfRule,
			Measure: c.pipelineBubble},
		{ID: rule.UnevenExperts, Part: tree.PartComm, Under: under, Precedence: 8, Replaces: true, Worth: tree.WorthOfRule,
			Measure: c.unevenExperts},
		{ID: rule.StragglingRank, Part: tree.PartComm, Under: under, Precedence: 10, Replaces: true,
			Worth: tree.WorthOfRule, Measure: c.stragglingRank},
		{ID: rule.RanksInTurn, Part: tree.PartComm, Under: under, Precedence: 11, Replaces: true, Worth: tree.WorthOfRule,
			Measure: c.ranksInTurn},
		{ID: rule.SlowCollectives, Part: tree.PartComm, Under: under, Precedence: 12, Replaces: true,
			Worth: tree.WorthOfRule, Measure: c.slowCollectives},
		{ID: rule.UnevenRanks, Part: tree.BasisRanks, Under: []string{rule.StragglingRank, rule.UnevenExperts},
			Precedence: 10, Last: true, Measure: c.unevenRanks},
	}
}

// reading returns the reading of a rule about ns of the exposed communication, summed over all
// GPUs. Title is a format for the share; the durations in the title are means per GPU.
func (c *Evaluator) reading(id, title string, ns int64) tree.Reading {
	window := c.Judged.Window()
	ns = min(ns, c.Judged.ExposedComm())
	f, limit, ok := rule.Measured(c.Limits[id], ns, window)
	what := fmt.Sprintf(title, unit.Share(ns, window)+" of "+c.JudgedName())
	f.Title = what + " (" + c.each(ns, c.all()) + ")" + rule.Over(limit)
	c.GainOfJudged(&f, ns)
	return tree.Reading{Finding: f, Reached: ok && window > 0, What: what,
		Explains: map[string]int64{rule.ExposedComm: ns}}
}

// complete adds cause, evidence and fixes to a reading, for its own finding and for the finding of
// its part.
func complete(r tree.Reading, cause string, evidence []string, next []finding.Step) []tree.Reading {
	r.Cause, r.Evidence, r.Next, r.Drops = cause, evidence, next, advice.UselessWithCause()
	if r.Reached {
		r.Below, r.Advice = append([]string{r.What}, evidence...), next
	}
	return r.IfReached()
}

// perStep prints a sum over GPUs as the mean per GPU, and per step if all GPUs have the same number
// of steps: "54 ms of 254 ms, mean of 8 GPUs (9 ms of 42.3 ms per step)".
func (c *Evaluator) perStep(ns int64, over devices) string {
	gpus := int64(max(1, over.gpus))
	text := unit.DurationOf(ns/gpus, over.window/gpus)
	if gpus > 1 {
		text += fmt.Sprintf(", mean of %d GPUs", gpus)
	}
	if n := view.StepsOfEachGPU(c.Summary); n > 1 && c.Judged == c.Total {
		text += fmt.Sprintf(" (%s per step)", unit.DurationOf(ns/(n*gpus), over.window/(n*gpus)))
	}
	return text
}

// each prints a sum over GPUs as the mean per GPU, and per step if all GPUs have the same number of
// steps: "6.75 of 31.8 ms per step".
func (c *Evaluator) each(ns int64, over devices) string {
	n, per := int64(max(1, over.gpus)), ""
	if steps := view.StepsOfEachGPU(c.Summary); steps > 1 && c.Judged == c.Total {
		n, per = n*steps, " per step"
	}
	part, whole, _ := strings.Cut(unit.DurationOf(ns/n, over.window/n), " of ")
	if number, scale, ok := strings.Cut(part, " "); ok && strings.HasSuffix(whole, " "+scale) {
		part = number
	}
	return part + " of " + whole + per
}

// device returns the GPU of a row, or nil.
func (c *Evaluator) device(r *summary.RankWait) *summary.Device {
	for i := range c.Devices {
		if d := &c.Devices[i]; d.Input == r.Input && d.Rank == r.Rank && d.Device == r.Device {
			return d
		}
	}
	return nil
}
