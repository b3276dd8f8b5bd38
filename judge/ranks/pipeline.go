package ranks

import (
	"cmp"
	"fmt"
	"slices"

	"assay/judge/finding"
	"assay/judge/rule"
	"assay/judge/tree"
	"assay/summary"
	"assay/unit"
)

// A stage is one stage of a pipeline with the sums of its GPUs.
type stage struct {
	number, gpus  int
	wait, compute int64 // ns
}

// A pipeline is the stages of a job, and how their waiting divides.
type pipeline struct {
	stages []stage
	job    int
	// uneven is waiting for the stage that computes longest, and bubble the rest.
	uneven, bubble int64
	windows        int64 // of the GPUs of all stages
}

// pipelines returns the pipelines of the summary. A stage waits for its pipeline while
// others fill and drain it, which is the bubble, and while a stage with more work computes:
// as much longer in each step as that stage computes longer.
func (c *Evaluator) pipelines() (out []pipeline) {
	for _, t := range c.Topologies {
		if t.Stages < 2 {
			continue
		}
		p := pipeline{job: t.Job}
		for i := range c.Ranks {
			r := &c.Ranks[i]
			d := c.device(r)
			if r.Job != t.Job || r.Stage == nil || r.StageWaitNS == nil || d == nil {
				continue
			}
			at, ok := slices.BinarySearchFunc(p.stages, *r.Stage, func(s stage, n int) int { return cmp.Compare(s.number, n) })
			if !ok {
				p.stages = slices.Insert(p.stages, at, stage{number: *r.Stage})
			}
			s := &p.stages[at]
			s.gpus++
			s.wait = summary.Plus(s.wait, min(*r.StageWaitNS, d.Activity.ExposedComm()))
			s.compute = summary.Plus(s.compute, d.Activity.Compute())
			p.windows = summary.Plus(p.windows, d.WindowNS)
		}
		if len(p.stages) != t.Stages {
			continue // the stage that others wait for may be missing
		}
		longest := p.longest()
		for _, s := range p.stages {
			more := min(s.wait, (longest.compute/int64(longest.gpus)-s.compute/int64(s.gpus))*int64(s.gpus))
			p.uneven = summary.Plus(p.uneven, more)
			p.bubble = summary.Plus(p.bubble, s.wait-more)
		}
		out = append(out, p)
	}
	return out
}

// longest returns the stage whose GPUs compute longest.
func (p *pipeline) longest() stage {
	return slices.MaxFunc(p.stages, func(a, b stage) int { return cmp.Compare(a.compute/int64(a.gpus), b.compute/int64(b.gpus)) })
}

// mean returns the mean compute time of a GPU of the other stages.
func (p *pipeline) mean(but int) int64 {
	ns, n := int64(0), int64(0)
	for _, s := range p.stages {
		if s.number != but {
			ns, n = summary.Plus(ns, s.compute), n+int64(s.gpus)
		}
	}
	return ns / max(1, n)
}

// pipelineBubble judges the time in which stages wait while the pipeline fills and drains.
func (c *Evaluator) pipelineBubble() (out []tree.Reading) {
	for _, p := range c.pipelines() {
		r := c.reading(rule.PipelineBubble, "Pipeline bubble: %s", p.bubble)
		evidence := []string{"waiting between stages: " + c.perStep(p.bubble)}
		evidence = append(evidence, c.closedForm(p)...)
		least := slices.MinFunc(p.stages, func(a, b stage) int { return cmp.Compare(a.wait/int64(a.gpus), b.wait/int64(b.gpus)) })
		most := slices.MaxFunc(p.stages, func(a, b stage) int { return cmp.Compare(a.wait/int64(a.gpus), b.wait/int64(b.gpus)) })
		if most.number != least.number {
			evidence = append(evidence, fmt.Sprintf("stage %d waits %s per GPU, stage %d %s; their compute time is %s and %s", most.number, unit.Duration(most.wait/int64(most.gpus)),
				least.number, unit.Duration(least.wait/int64(least.gpus)), unit.Duration(most.compute/int64(most.gpus)), unit.Duration(least.compute/int64(least.gpus))))
		}
		next := []finding.Step{finding.Advise("more-micro-batches"), finding.Advise("interleave-stages"), finding.Advise("balance-stages")}
		out = append(out, complete(r, evidence, next)...)
	}
	return out
}

// closedForm compares the bubble with that of the schedule, (p-1)/(m+p-1) of the step with p
// stages and m micro-batches, if these are known.
func (c *Evaluator) closedForm(p pipeline) []string {
	i := slices.IndexFunc(c.Topologies, func(t summary.Topology) bool { return t.Job == p.job })
	if i < 0 || c.Topologies[i].Messages == nil || p.windows <= 0 {
		return []string{fmt.Sprintf("%d stages; the number of micro-batches is not known", len(p.stages))}
	}
	n, m := int64(len(p.stages)), *c.Topologies[i].Messages
	return []string{fmt.Sprintf("%d stages, %d micro-batches: a pipeline of equal stages idles (p-1)/(m+p-1) = %s of a step; measured %s", n, m,
		unit.Share(n-1, m+n-1), unit.Share(p.bubble, p.windows))}
}

// unevenStages judges the time in which stages wait because one of them computes longer.
func (c *Evaluator) unevenStages() (out []tree.Reading) {
	margin := c.Limits[rule.UnevenStages].Margin
	for _, p := range c.pipelines() {
		longest := p.longest()
		own, mean := longest.compute/int64(longest.gpus), p.mean(longest.number)
		if float64(own-mean) < margin*float64(mean) {
			continue
		}
		r := c.reading(rule.UnevenStages, fmt.Sprintf("Uneven stages: waiting for stage %d takes %%s", longest.number), p.uneven)
		r.Subject = fmt.Sprintf("stage %d", longest.number)
		evidence := []string{"waiting: " + c.perStep(p.uneven),
			fmt.Sprintf("compute: %s per GPU on stage %d, %s on the other stages (%s more)", unit.Duration(own), longest.number, unit.Duration(mean), unit.Share(own-mean, max(1, mean))),
			"bubble of the pipeline besides that: " + c.perStep(p.bubble)}
		r.Where = c.placesOf(p.job, longest.number)
		out = append(out, complete(r, evidence, []finding.Step{finding.Advise("balance-stages"), finding.Advise("more-micro-batches")})...)
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
