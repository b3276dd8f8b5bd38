package judge

import (
	"cmp"
	"fmt"
	"slices"

	"assay/summary"
	"assay/unit"
)

// slowSteps says which steps are far over the median of their kind.
func (c *court) slowSteps(states []StepState, groups []stepGroup) (Finding, bool) {
	rule := c.rules[RuleSlowSteps]
	slow, all := int64(0), int64(0)
	for _, g := range groups {
		if n := int64(len(g.steps)); n >= rule.MinEvents {
			slow, all = slow+g.Slow, all+n
		}
	}
	if slow == 0 {
		return Finding{}, false
	}
	level, limit, ok := rule.level(float64(slow) / float64(all))
	if !ok {
		return Finding{}, false
	}
	level, limit = rule.tempered(level, limit, all)
	f := Finding{Rule: rule.ID, Level: level, Value: float64(slow) / float64(all), Warn: rule.Warn, Critical: rule.Critical}
	f.Title = fmt.Sprintf("%s of %s are over the median of their kind by %s or more (%s)", unit.Count(slow), plural(all, "step"), unit.Percent(rule.Margin), unit.Share(slow, all))
	if level > Info {
		f.Title += ", " + reaches(f, limit)
	}
	medians := map[string]int64{}
	for _, g := range groups {
		medians[g.Marker+"\x00"+g.Kind] = g.MedianNS
	}
	var worst []int
	for i := range c.Steps {
		if states[i] == StepSlow {
			worst = append(worst, i)
		}
	}
	slices.SortStableFunc(worst, func(a, b int) int { return cmp.Compare(c.Steps[b].WallNS, c.Steps[a].WallNS) })
	for _, i := range worst[:min(mostPlaces, len(worst))] {
		f.Where = append(f.Where, c.stepPlace(i))
		st := c.Steps[i]
		f.Evidence = append(f.Evidence, fmt.Sprintf("%s at %s of the trace on %s took %s, the median is %s; its idle time is %s", shortStep(st), unit.Timestamp(st.StartNS),
			c.device(st.Input, st.Rank, st.Device), unit.Duration(st.WallNS), unit.Duration(medians[st.Marker+"\x00"+st.Kind]), unit.Duration(st.Activity.Idle())))
	}
	f.gain(c.overMedian(worst, medians))
	if period, ok := c.period(states, groups); ok {
		return c.periodic(f, period), true
	}
	f.Next = []Step{advise("compare-the-slowest-step"), advise("schedule-garbage-collection")}
	return f, true
}

// stepPlace names a step.
func (c *court) stepPlace(i int) Place {
	st := c.Steps[i]
	at := placeOf(st.Input, st.Rank, st.Device).at(st.StartNS, st.WallNS)
	at.Step = st.Name
	return at
}

// overMedian returns by how much steps are over the median of their kind, of the
// time of all steps.
func (c *court) overMedian(slow []int, medians map[string]int64) (over, all int64, of string) {
	for _, i := range slow {
		st := c.Steps[i]
		over = summary.Plus(over, max(0, st.WallNS-medians[st.Marker+"\x00"+st.Kind]))
	}
	for _, st := range c.Steps {
		all = summary.Plus(all, st.WallNS)
	}
	return over, all, "all steps"
}

// fewestPeriods is how many slow steps it takes to see that they come at equal
// distances: of two there is but one.
const fewestPeriods = 3

// period returns after how many steps a slow one comes, if all of them do so on
// every device that has any.
func (c *court) period(states []StepState, groups []stepGroup) (int, bool) {
	period, found := 0, false
	for _, g := range groups {
		at := map[deviceKey]int{}    // how many steps came
		last := map[deviceKey]int{}  // slow one, from 1
		count := map[deviceKey]int{} // slow ones
		for _, i := range g.steps {
			d := c.deviceOf(i)
			at[d]++
			if states[i] != StepSlow {
				continue
			}
			if count[d]++; count[d] > 1 {
				if apart := at[d] - last[d]; period == 0 {
					period = apart
				} else if apart != period {
					return 0, false
				}
			}
			last[d] = at[d]
		}
		for _, n := range count {
			if n < fewestPeriods {
				return 0, false
			}
			found = true
		}
	}
	return period, found && period > 1
}

// periodic turns the finding on slow steps into one on what happens every few
// steps.
func (c *court) periodic(f Finding, period int) Finding {
	rule := c.rules[RulePeriodicStalls]
	level, limit, ok := rule.level(f.Value)
	if !ok {
		return f
	}
	f.Title = fmt.Sprintf("every %d steps one is far over the median: %s", period, f.Title)
	f.Rule, f.Warn, f.Critical = rule.ID, rule.Warn, rule.Critical
	f.Level, _ = rule.tempered(level, limit, int64(len(c.Steps)))
	f.Next = []Step{advise("find-what-is-periodic", "n", fmt.Sprint(period)), advise("schedule-garbage-collection")}
	return f
}
