package timeline

import (
	"fmt"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/judge/tree"
	"assay/summary"
	"assay/summary/view"
)

// lateComm judges communication that starts when it is launched, though all else that it waits for on the GPU is done. What this costs
// is what a replay of the typical step gives that launches it in time.
func lateComm(c *Evaluator) []tree.Reading {
	p := view.FollowedOf(c.Summary)
	if p == nil || float64(c.Total.Idle()) >= c.Limits[rule.GPUIdle].Warn*float64(c.Total.Window()) {
		return nil
	}
	f := p.By(summary.ByEarly)
	if f == nil || f.Verdict != "ok" || f.Gain() <= 0 {
		return nil
	}
	var lines []string
	var where []finding.Place
	for _, k := range p.Communication {
		if k.Late == 0 {
			continue
		}
		if len(lines) < finding.MostPlaces {
			lines = append(lines, fmt.Sprintf("%q: %s of %s in the step could start %s earlier on average", k.Name, unit.Count(k.Late),
				label.Plural(k.Count, "launch"), unit.Duration(k.LateNS/k.Late)))
		}
		where = append(where, finding.Place{Input: p.Input, Rank: p.Rank, Step: p.Step, Kernel: k.Name, NS: k.NS})
	}
	r, ok := c.Evaluate(tree.Measured{Rule: rule.LateComm, Part: f.Gain(), Of: f.MeasuredNS,
		Lists: map[string][]string{"kernels": lines}, Where: finding.Longest(where)})
	if !ok {
		return nil
	}
	return []tree.Reading{r}
}
