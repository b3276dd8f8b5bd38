package timeline

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"assay/judge/rule"
	"assay/judge/tree"
	"assay/summary"
)

// withoutWarmUp returns the windows of all GPUs without the work that a program does only once, and
// the name of that work: warm-up steps, or else phases of setup and warm-up; ofSteps says which.
// Without either it returns the whole windows.
func withoutWarmUp(c *Evaluator, states []StepState, groups []stepGroup) (rest summary.Activity, left string, ofSteps bool) {
	if rest := withoutWarmUpSteps(c, states, groups); rest != c.Total {
		return rest, "warm-up", true
	}
	oneTime := c.oneTimePhases()
	if rest := withoutPhases(c, oneTime); rest != c.Total {
		return rest, strings.Join(oneTime.names(), " and "), false
	}
	return c.Total, "", false
}

// A oneTimePhases is the activity in the phases that a program runs only once.
type oneTimePhases struct {
	phases map[string]summary.Activity
	all    summary.Activity
}

// oneTimePhases adds up the phases that a program runs only once, with all nested phases.
func (c *Evaluator) oneTimePhases() oneTimePhases {
	out := oneTimePhases{phases: map[string]summary.Activity{}}
	for _, p := range c.Phases {
		parts := strings.Split(p.Path, "/")
		if i := slices.IndexFunc(parts, runsOnce); i >= 0 {
			out.phases[parts[i]] = out.phases[parts[i]].Plus(p.Activity)
			out.all = out.all.Plus(p.Activity)
		}
	}
	return out
}

// names returns the phases, longest first.
func (o oneTimePhases) names() []string {
	return slices.SortedFunc(maps.Keys(o.phases), func(a, b string) int {
		return cmp.Or(cmp.Compare(o.phases[b].Window(), o.phases[a].Window()), strings.Compare(a, b))
	})
}

// without returns the part of a outside these phases.
func (o oneTimePhases) without(a summary.Activity) summary.Activity {
	for set, ns := range o.all {
		a[set] -= ns
	}
	return a
}

// withoutPhases returns the windows without these phases, if they exceed their warn limit and
// enough is left to judge. The copies of loading a model, for example, are not the bottleneck of a
// run.
func withoutPhases(c *Evaluator, oneTime oneTimePhases) summary.Activity {
	rest, window := oneTime.without(c.Total), float64(c.Total.Window())
	enough := rest.Busy() > 0 && float64(rest.Window()) >= c.Limits[rule.TooLittleWork].MinShare*window
	if float64(oneTime.all.Window()) < c.Limits[rule.WarmUpPhases].Warn*window || !enough ||
		slices.ContainsFunc(rest[:], isNegative) {
		return c.Total
	}
	return rest
}

func isNegative(ns int64) bool { return ns < 0 }

// mostOnce is the share of the windows from which phases that run once decide the verdict, if too few steady
// steps are left.
const mostOnce = 0.75

// onlyStart returns the finding on the phases that a program runs once if the capture shows little else:
// they are nearly all of the windows, and the steps are warm-up. What is left then says nothing about the
// steps of the program. It returns nil if steps are not marked, because the rest may be all of the work.
func onlyStart(c *Evaluator, t tree.Tree) *tree.Node {
	steady := int64(0)
	for _, state := range c.states {
		if state.counts() {
			steady++
		}
	}
	if len(c.states) == 0 || steady >= c.Limits[rule.SteadySteps].MinEvents*int64(max(1, c.GPUs)) {
		return nil
	}
	for _, n := range t.Own {
		if n.ID == rule.WarmUpPhases && n.Finding.Value >= mostOnce {
			return n
		}
	}
	return nil
}

// withoutWarmUpSteps returns the windows of all GPUs without the warm-up steps, if these exceed
// their warn limit or decide which part of the windows is over its limit, and at least two other
// steps are left. Otherwise it returns the whole windows, for which all causes are known.
func withoutWarmUpSteps(c *Evaluator, states []StepState, groups []stepGroup) summary.Activity {
	limits := c.Limits[rule.WarmUpSteps]
	if len(groups) == 0 || int64(len(groups[0].steps)) < c.Limits[rule.SteadySteps].MinEvents {
		return c.Total
	}
	rest := c.Total
	var all, left int64
	for i, st := range c.Steps {
		all += st.WallNS
		if !states[i].counts() {
			left += st.WallNS
		}
		if states[i] != StepWarmUp {
			continue
		}
		for set, ns := range withinWindow(c, st) {
			if rest[set] -= ns; rest[set] < 0 {
				return c.Total // steps overlap, so they cannot be subtracted one by one
			}
		}
	}
	if rest.Busy() == 0 || float64(left) < limits.Warn*float64(all) && !decides(c, rest) {
		return c.Total
	}
	return rest
}

// decides reports whether a part of the windows is over a limit only with the warm-up, or only
// without it.
func decides(c *Evaluator, rest summary.Activity) bool {
	return slices.ContainsFunc(parts(), func(p part) bool {
		over := func(a summary.Activity) bool {
			_, _, ok := c.Limits[p.rule].Level(float64(p.time(a)) / float64(max(1, a.Window())))
			return ok
		}
		return over(c.Total) != over(rest)
	})
}

// inWarmUp reports whether most of a time is in a warm-up step of a GPU, if the judged windows
// leave these out.
func inWarmUp(c *Evaluator, d *summary.Device, from, ns int64) bool {
	if c.Left == "" {
		return false
	}
	within := int64(0)
	for i, st := range c.Steps {
		if c.states[i] == StepWarmUp && st.Input == d.Input && st.Rank == d.Rank && st.Device == d.Device {
			within += max(0, min(from+ns, st.StartNS+st.WallNS)-max(from, st.StartNS))
		}
	}
	return within > ns-within
}
