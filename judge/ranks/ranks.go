// Package ranks judges how the ranks of a job wait for each other: for ranks that are late,
// and because of how the work is divided: stages of a pipeline, experts, and the links that
// collectives run over.
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

// New returns the evaluator of a context.
func New(c *tree.Context) *Evaluator { return &Evaluator{c} }

// Rules returns the rules. Their order has no meaning. A cause that says how the work is
// divided comes before ranks that are late.
func (c *Evaluator) Rules() []tree.Row {
	under := []string{rule.ExposedComm}
	return []tree.Row{
		{ID: rule.UnevenStages, Part: tree.PartComm, Under: under, Precedence: 6, Replaces: true, Worth: tree.WorthOfRule, Measure: c.unevenStages},
		{ID: rule.PipelineBubble, Part: tree.PartComm, Under: under, Precedence: 7, Replaces: true, Worth: tree.WorthOfRule, Measure: c.pipelineBubble},
		{ID: rule.UnevenExperts, Part: tree.PartComm, Under: under, Precedence: 8, Replaces: true, Worth: tree.WorthOfRule, Measure: c.unevenExperts},
		{ID: rule.StragglingRank, Part: tree.PartComm, Under: under, Precedence: 10, Replaces: true, Worth: tree.WorthOfRule, Measure: c.stragglingRank},
		{ID: rule.RanksInTurn, Part: tree.PartComm, Under: under, Precedence: 11, Replaces: true, Worth: tree.WorthOfRule, Measure: c.ranksInTurn},
		{ID: rule.SlowCollectives, Part: tree.PartComm, Under: under, Precedence: 12, Replaces: true, Worth: tree.WorthOfRule, Measure: c.slowCollectives},
		{ID: rule.UnevenRanks, Part: tree.BasisRanks, Under: []string{rule.StragglingRank, rule.UnevenExperts}, Precedence: 10, Last: true, Measure: c.unevenRanks},
	}
}

// reading returns the reading of a rule about ns of the exposed communication of all GPUs,
// at most all of it. Its title is the given format, whose verb is the share. The numbers are
// those of one GPU.
func (c *Evaluator) reading(id, title string, ns int64) tree.Reading {
	window := c.Judged.Window()
	ns = min(ns, c.Judged.ExposedComm())
	f, limit, ok := rule.Measured(c.Limits[id], ns, window)
	what := fmt.Sprintf(title, unit.Share(ns, window)+" of "+c.JudgedName())
	f.Title = what + " (" + c.each(ns, c.all()) + ")" + rule.Over(limit)
	c.GainOfJudged(&f, ns)
	return tree.Reading{Finding: f, Reached: ok && window > 0, What: what, Explains: map[string]int64{rule.ExposedComm: ns}}
}

// complete sets what a reading says, also if its part is the finding.
func complete(r tree.Reading, cause string, evidence []string, next []finding.Step) []tree.Reading {
	r.Cause, r.Evidence, r.Next, r.Drops = cause, evidence, next, advice.UselessWithCause()
	if r.Reached {
		r.Below, r.Advice = append([]string{r.What}, evidence...), next
	}
	return r.IfReached()
}

// perStep returns a sum over GPUs as a mean of one GPU, and of one step if all GPUs have
// the same number of steps: "54 ms of 254 ms, mean of 8 GPUs (9 ms of 42.3 ms per step)".
func (c *Evaluator) perStep(ns int64, of devices) string {
	gpus := int64(max(1, of.gpus))
	text := unit.DurationOf(ns/gpus, of.window/gpus)
	if gpus > 1 {
		text += fmt.Sprintf(", mean of %d GPUs", gpus)
	}
	if n := view.StepsOfEachGPU(c.Summary); n > 1 && c.Judged == c.Total {
		text += fmt.Sprintf(" (%s per step)", unit.DurationOf(ns/(n*gpus), of.window/(n*gpus)))
	}
	return text
}

// each returns a sum over GPUs as a mean of one GPU, of one step if all GPUs have the same
// number of steps: "6.75 of 31.8 ms per step".
func (c *Evaluator) each(ns int64, of devices) string {
	n, per := int64(max(1, of.gpus)), ""
	if steps := view.StepsOfEachGPU(c.Summary); steps > 1 && c.Judged == c.Total {
		n, per = n*steps, " per step"
	}
	part, whole, _ := strings.Cut(unit.DurationOf(ns/n, of.window/n), " of ")
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
