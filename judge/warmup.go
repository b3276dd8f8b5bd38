package judge

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"assay/summary"
)

// withoutWarmUp returns the windows of all GPUs without the work that a program does
// only once, and its name: the warm-up steps, or else the phases of setup and
// warm-up. Without either it returns the whole windows.
func (c *evaluator) withoutWarmUp(states []StepState, groups []stepGroup) (summary.Activity, string) {
	if rest := c.withoutWarmUpSteps(states, groups); rest != c.total {
		return rest, "warm-up"
	}
	once := c.onceOnly()
	if rest := c.withoutPhases(once); rest != c.total {
		return rest, strings.Join(once.names(), " and ")
	}
	return c.total, ""
}

// A onceOnly is the activity in the phases that a program runs only once.
type onceOnly struct {
	phases map[string]summary.Activity
	all    summary.Activity
}

// onceOnly adds up the phases that a program runs only once, with all nested phases.
func (c *evaluator) onceOnly() onceOnly {
	out := onceOnly{phases: map[string]summary.Activity{}}
	for _, p := range c.Phases {
		parts := strings.Split(p.Path, "/")
		if i := slices.IndexFunc(parts, doneOnce); i >= 0 {
			out.phases[parts[i]] = out.phases[parts[i]].Plus(p.Activity)
			out.all = out.all.Plus(p.Activity)
		}
	}
	return out
}

// names returns the phases, longest first.
func (o onceOnly) names() []string {
	return slices.SortedFunc(maps.Keys(o.phases), func(a, b string) int {
		return cmp.Or(cmp.Compare(o.phases[b].Window(), o.phases[a].Window()), strings.Compare(a, b))
	})
}

// without returns the part of a outside these phases.
func (o onceOnly) without(a summary.Activity) summary.Activity {
	for set, ns := range o.all {
		a[set] -= ns
	}
	return a
}

// withoutPhases returns the windows without these phases, if the phases exceed their
// warn limit and enough is left to judge. The copies of loading a model, for example,
// are not the bottleneck of a run.
func (c *evaluator) withoutPhases(once onceOnly) summary.Activity {
	rest, window := once.without(c.total), float64(c.total.Window())
	enough := rest.Busy() > 0 && float64(rest.Window()) >= c.rules[RuleTooLittleWork].MinShare*window
	if float64(once.all.Window()) < c.rules[RuleWarmUpPhases].Warn*window || !enough || slices.ContainsFunc(rest[:], isNegative) {
		return c.total
	}
	return rest
}

func isNegative(ns int64) bool { return ns < 0 }

// withoutWarmUpSteps returns the windows of all GPUs without the warm-up steps, if
// these exceed their warn limit and at least two other steps are left. Otherwise it
// returns the whole windows, because the time between the steps of a server counts.
func (c *evaluator) withoutWarmUpSteps(states []StepState, groups []stepGroup) summary.Activity {
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
				return c.total // steps overlap, so they cannot be subtracted one by one
			}
		}
	}
	if float64(left) < rule.Warn*float64(all) || rest.Busy() == 0 {
		return c.total
	}
	return rest
}
