package judge

import "assay/summary"

// withoutWarmUp returns the windows of all devices without the steps of warm-up,
// where those are so much of the time of all steps that they are a finding and two
// others are left to judge by. Else it returns the whole windows: what runs between
// the steps of a server is part of what bounds it.
func (c *court) withoutWarmUp(states []StepState, groups []stepGroup) summary.Activity {
	rule := c.rules[RuleWarmUpSteps]
	if len(groups) == 0 || int64(len(groups[0].steps)) < c.rules[RuleSteadySteps].MinEvents {
		return c.total
	}
	rest := c.total
	var all, left int64
	for i, st := range c.Steps {
		all = summary.Plus(all, st.WallNS)
		if !states[i].counts() {
			left = summary.Plus(left, st.WallNS)
		}
		if states[i] != StepWarmUp {
			continue
		}
		for set, ns := range st.Activity {
			if rest[set] -= ns; rest[set] < 0 {
				return c.total // steps overlap, so they cannot be taken away one by one
			}
		}
	}
	if float64(left) < rule.Warn*float64(all) || rest.Busy() == 0 {
		return c.total
	}
	return rest
}
