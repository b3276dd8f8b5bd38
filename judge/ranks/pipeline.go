package ranks

import (
	"cmp"
	"fmt"
	"slices"

	"assay/internal/unit"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/judge/tree"
	"assay/summary/view"
)

// pipelines returns the pipelines whose stages are all in the summary. A stage waits while others
// fill and drain the pipeline, which is the bubble, and while a stage with more work computes: in
// each step, as much as that stage computes longer.
func (c *Evaluator) pipelines() []view.Pipeline {
	return slices.DeleteFunc(view.Pipelines(c.Summary), func(p view.Pipeline) bool { return !p.Whole() })
}

// meanCompute returns the mean compute time in ns of a GPU of the stages other than but.
func meanCompute(p view.Pipeline, but int) int64 {
	ns, n := int64(0), int64(0)
	for _, s := range p.Stages {
		if s.Number != but {
			ns, n = ns+s.Compute, n+s.GPUs
		}
	}
	return ns / max(1, n)
}

// pipelineBubble judges the time in which stages wait while the pipeline fills and drains.
func (c *Evaluator) pipelineBubble() (out []tree.Reading) {
	for _, p := range c.pipelines() {
		r := c.reading(rule.PipelineBubble, "Pipeline bubble: %s", p.Bubble())
		evidence := []string{"waiting between stages: " + c.perStep(p.Bubble(), c.all())}
		schedule := c.closedForm(p)
		evidence = append(evidence, schedule)
		byWait := func(a, b view.PipelineStage) int { return cmp.Compare(a.Wait/a.GPUs, b.Wait/b.GPUs) }
		least, most := slices.MinFunc(p.Stages, byWait), slices.MaxFunc(p.Stages, byWait)
		if most.Number != least.Number {
			evidence = append(evidence, fmt.Sprintf("stage %d waits %s per GPU, stage %d %s; their compute time is %s and %s",
				most.Number, unit.Duration(most.Wait/most.GPUs),
				least.Number, unit.Duration(least.Wait/least.GPUs), unit.Duration(most.Compute/most.GPUs),
				unit.Duration(least.Compute/least.GPUs)))
		}
		if w, all, ok := most.Mostly(); ok {
			evidence = append(evidence, fmt.Sprintf("in sends and receives, stage %d waits mostly for stage %d: %s per GPU (%s)",
				most.Number, w.Stage, unit.Duration(w.NS/most.GPUs), unit.Share(w.NS, all)))
		}
		next := []finding.Step{finding.Advise("more-micro-batches"), finding.Advise("interleave-stages"),
			finding.Advise("balance-stages")}
		out = append(out, complete(r, schedule, evidence, next)...)
	}
	return out
}

// closedForm compares the bubble with that of an ideal schedule: (p-1)/(m+p-1) of the step with p
// stages and m micro-batches.
func (c *Evaluator) closedForm(p view.Pipeline) string {
	if p.Messages == nil || p.Windows() <= 0 {
		return fmt.Sprintf("%d stages; the number of micro-batches is not known", len(p.Stages))
	}
	n, m := int64(len(p.Stages)), *p.Messages
	return fmt.Sprintf("%d stages, %d micro-batches: a pipeline of equal stages idles (p-1)/(m+p-1) = %s of a step; measured %s", n, m,
		unit.Share(n-1, m+n-1), unit.Share(p.Bubble(), p.Windows()))
}

// unevenStages judges the time in which stages wait because one of them computes longer.
func (c *Evaluator) unevenStages() (out []tree.Reading) {
	margin := c.Limits[rule.UnevenStages].Margin
	for _, p := range c.pipelines() {
		longest := p.Longest()
		own, mean := longest.Compute/longest.GPUs, meanCompute(p, longest.Number)
		if float64(own-mean) < margin*float64(mean) {
			continue
		}
		r := c.reading(rule.UnevenStages, fmt.Sprintf("Uneven stages: waiting for stage %d takes %%s", longest.Number),
			p.Uneven())
		r.Subject = fmt.Sprintf("stage %d", longest.Number)
		compute := fmt.Sprintf("compute: %s per GPU on stage %d, %s on the other stages (%s more)", unit.Duration(own),
			longest.Number, unit.Duration(mean), unit.Share(own-mean, max(1, mean)))
		evidence := []string{"waiting: " + c.perStep(p.Uneven(), c.all()), compute,
			"bubble of the pipeline besides that: " + c.perStep(p.Bubble(), c.all())}
		r.Where = c.placesOf(p.Job, longest.Number)
		out = append(out, complete(r, compute, evidence,
			[]finding.Step{finding.Advise("balance-stages"), finding.Advise("more-micro-batches")})...)
	}
	return out
}

// placesOf returns the windows of the GPUs of a stage.
func (c *Evaluator) placesOf(job, number int) (out []finding.Place) {
	for i := range c.Ranks {
		if r := &c.Ranks[i]; r.Job == job && r.Stage != nil && *r.Stage == number {
			if d := c.device(r); d != nil {
				out = append(out, finding.PlaceOf(d.Input, d.Rank, d.Device).At(d.StartNS, d.WindowNS))
			}
		}
	}
	return out[:min(len(out), finding.MostPlaces)]
}
