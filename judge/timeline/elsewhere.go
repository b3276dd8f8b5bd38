package timeline

import (
	"fmt"
	"slices"
	"strings"

	"assay/internal/unit"
	"assay/judge/finding"
	"assay/summary"
)

// mostlyIdle is the idle share of generation from which it must run in another process. The rest is
// work that was queued before.
const mostlyIdle = 0.95

// generatedElsewhere returns the idle time in ns of generation phases that launch nothing: an
// inference engine in another process generates, which the capture does not show. It is 0 if that
// is less than half of the idle time.
func generatedElsewhere(c *Evaluator) int64 {
	var all summary.Activity
	for _, p := range c.Phases {
		if !slices.Contains(strings.Split(p.Path, "/"), "generation") {
			continue
		}
		if p.Launched > 0 {
			return 0
		}
		all = all.Plus(p.Activity)
	}
	idle := all.Idle()
	if float64(idle) < mostlyIdle*float64(all.Window()) || idle < c.Total.Idle()-idle {
		return 0
	}
	return idle
}

// engineEvidence explains the idle time while another process generates.
func engineEvidence(c *Evaluator, ns int64) []string {
	return []string{fmt.Sprintf("generation: %s of the idle time (%s); this process launches nothing in it, so another one generates",
		unit.Share(ns, c.Total.Idle()), unit.DurationOf(ns, c.Total.Idle()))}
}

// engineAdvice returns the fixes against idle time if another process generates: this thread only
// waits, so moving its code to another thread does not help.
func engineAdvice(c *Evaluator, next []finding.Step) []finding.Step {
	if generatedElsewhere(c) == 0 {
		return next
	}
	return finding.JoinSteps([]finding.Step{finding.Advise("profile-the-engine").For("idle=engine")},
		finding.Without(next, []string{"move-off-the-launching-thread"}))
}
