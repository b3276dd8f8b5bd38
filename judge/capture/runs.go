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

// runsDiffer judges whether one verdict describes all captures. It does not if they come from different programs or
// roles, or from runs whose windows are divided in different ways.
func (c *evaluator) runsDiffer() (finding.Finding, bool) {
	list, unlike := view.Programs(c.Summary)
	if len(list) < 2 {
		return finding.Finding{}, false
	}
	limits := c.Limits[rule.RunsDiffer]
	f := finding.Finding{Rule: limits.ID, Level: finding.Warn, Warn: limits.Warn}
	part := ""
	for _, p := range []struct {
		name string
		of   func(summary.Activity) int64
	}{{"compute", summary.Activity.Compute}, {"exposed communication", summary.Activity.ExposedComm},
		{"exposed copies", summary.Activity.ExposedCopy}, {"idle time", summary.Activity.Idle}} {
		least, most := 1.0, 0.0
		for _, run := range list {
			share := float64(p.of(run.Activity)) / float64(run.Activity.Window())
			least, most = min(least, share), max(most, share)
		}
		if most-least > f.Value {
			f.Value, part = most-least, fmt.Sprintf("%s is %s to %s of the windows", p.name, unit.Percent(least), unit.Percent(most))
		}
	}
	runs := label.Plural(int64(len(list)), "run")
	switch {
	case unlike:
		f.Title = runs + " with different kernels, judged one by one"
	case limits.Warn > 0 && f.Value > limits.Warn:
		f.Title = runs + " that differ, judged one by one: " + part
	default:
		return f, false
	}
	if is := c.Issue("rank-repeated"); is != nil {
		f.Next = Follow(*is)
	}
	return f, true
}
