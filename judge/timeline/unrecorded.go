package timeline

import (
	"fmt"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
)

// leaveOutUnrecorded removes from the judged windows the time in which GPUs ran work that is
// missing from the capture, because it is not idle time. Steps and the windows of devices keep it.
func leaveOutUnrecorded(c *Evaluator) {
	ns, _ := idleWithCause(c, func(r summary.Idle) bool { return r.Owner == summary.OwnerNotRecorded })
	if _, _, ok := rule.Measured(c.Limits[rule.NotRecorded], ns, c.Total.Window()); !ok || ns > c.Total.Idle() {
		return
	}
	c.Unrecorded = ns
	c.Total[0] -= ns
	c.Judged = c.Total
}

// mayBeUnrecorded reports whether the idle time of an activity may be the time in which unrecorded
// work ran.
func mayBeUnrecorded(c *Evaluator, a summary.Activity) bool {
	return c.Unrecorded > 0 && a.Idle() >= c.Unrecorded
}

// recordedIdle returns the causes of the idle time that is judged.
func recordedIdle(c *Evaluator) []summary.Idle {
	if c.Unrecorded == 0 {
		return c.Idle
	}
	return withoutUnrecorded(c.Idle)
}

// notRecorded reports the time that leaveOutUnrecorded removed.
func (c *Evaluator) notRecorded() (finding.Finding, bool) {
	window := summary.Plus(c.Total.Window(), c.Unrecorded)
	f, limit, ok := rule.Measured(c.Limits[rule.NotRecorded], c.Unrecorded, window)
	if !ok || c.Unrecorded == 0 {
		return finding.Finding{}, false
	}
	f.Title = fmt.Sprintf("GPU work that was not recorded: %s of the window (%s)", unit.Share(c.Unrecorded, window),
		unit.DurationOf(c.Unrecorded, window)) + rule.Over(limit)
	f.Evidence = []string{"launched work waited, and nothing before it on its stream is in the capture"}
	f.Next = []finding.Step{finding.Advise("record-the-batch-before"), finding.Advise("record-whole-steps")}
	if is := c.Issue("steps-without-calls"); is != nil {
		f.Evidence = []string{label.Plural(is.Count, "step") + " without any CUDA or HIP call, although their operators launch GPU work in other steps"}
		f.Next = []finding.Step{finding.Advise("record-all-steps")}
	}
	f.Evidence = append(f.Evidence, "shares of the window leave this time out")
	_, f.Where = idleWithCause(c, func(r summary.Idle) bool { return r.Owner == summary.OwnerNotRecorded })
	return f, true
}
