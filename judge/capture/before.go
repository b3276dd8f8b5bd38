package capture

import (
	"fmt"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
	"assay/summary/view"
)

// queuedBefore judges the work that was queued when the capture began: its share of GPU time says
// how much of the capture is not the profiled code. The host of a training loop is ahead by a step,
// whose work is like that of the profiled ones.
func (c *evaluator) queuedBefore() (finding.Finding, bool) {
	n, ns, other := int64(0), int64(0), int64(0)
	for _, l := range c.Launches {
		n, ns, other = n+l.Before, summary.Plus(ns, l.BeforeNS), summary.Plus(other, l.OtherNS)
	}
	work, limits := view.GPUWork(c.Summary), c.Limits[rule.QueuedBefore]
	if _, _, ok := rule.Measured(limits, other, work); !ok && float64(ns) < limits.MinShare*float64(work) {
		return finding.Finding{}, false
	}
	f, limit, ok := rule.Measured(limits, ns, work)
	if !ok || n == 0 {
		return finding.Finding{}, false
	}
	f.Title = fmt.Sprintf("%s of GPU time (%s) is work queued before the capture began", unit.Share(ns, work), unit.DurationOf(ns, work)) +
		rule.Over(limit)
	f.Evidence = []string{label.Plural(n, "GPU operation") + " without a launch call ran before the first launched work of the stream",
		"the launched work takes " + unit.Duration(work-ns)}
	f.Next = []finding.Step{finding.Advise("synchronize-before-the-profiler")}
	return f, true
}
