package judge

import (
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/judge/timeline"
	"assay/summary"
)

// finalize sets the fields that do not depend on the rule: confidence, how to confirm, and fixes
// for the frameworks that were found.
func finalize(s *summary.Summary, found []finding.Finding, stacks []rule.Stack) {
	on := rule.SettingOf(s, stacks)
	for i := range found {
		// The remedies for a framework are more specific than those for a phase.
		on.Complete(&found[i], timeline.IsOfPhases(found[i].Rule))
	}
}
