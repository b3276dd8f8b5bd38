package judge

import (
	"cmp"
	"fmt"
	"slices"

	"assay/summary"
	"assay/unit"
)

// slowSteps reports the steps that are far over the median of their kind. Where these are
// at equal distances, periodicStalls has all of it.
func (c *evaluator) slowSteps() []reading {
	f, ok := c.slow(c.rules[RuleSlowSteps])
	f.Next = []Step{advise("compare-the-slowest-step"), advise("schedule-garbage-collection")}
	r := reading{Finding: f, reached: ok, explains: map[string]int64{}}
	if f.GainNS != nil {
		r.explains[RulePeriodicStalls] = *f.GainNS
	}
	return r.ifReached()
}

// periodicStalls reports slow steps at equal distances.
func (c *evaluator) periodicStalls() (Finding, bool) {
	period, ok := c.period(c.states, c.groups)
	slow, isSlow := c.slow(c.rules[RuleSlowSteps])
	if !ok || !isSlow {
		return Finding{}, false
	}
	rule := c.rules[RulePeriodicStalls]
	f := slow
	level, limit, ok := rule.level(f.Value)
	f.Title, f.Evidence = fmt.Sprintf("Periodic slow steps: every %d%s step is slow", period, ordinal(period)), append([]string{slow.Title}, slow.Evidence...)
	f.Rule, f.Warn, f.Critical = rule.ID, rule.Warn, rule.Critical
	f.Level, _ = rule.tempered(level, limit, int64(len(c.Steps)))
	f.Next = []Step{advise("find-what-is-periodic", "n", fmt.Sprint(period)), advise("schedule-garbage-collection")}
	return f, ok
}

// slow measures the steps that are far over the median of their kind.
func (c *evaluator) slow(rule Rule) (Finding, bool) {
	slow, all := int64(0), int64(0)
	for _, g := range c.groups {
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
	f.Title = fmt.Sprintf("Slow steps: %s of %s are %s or more over the median (%s)", unit.Count(slow), unit.Count(all), unit.Percent(rule.Margin), unit.Share(slow, all))
	if level > Info {
		f.Title += over(limit)
	}
	medians := map[string]int64{}
	for _, g := range c.groups {
		medians[g.Marker+"\x00"+g.Kind] = g.MedianNS
	}
	var worst []int
	for i := range c.Steps {
		if c.states[i] == StepSlow {
			worst = append(worst, i)
		}
	}
	slices.SortStableFunc(worst, func(a, b int) int { return cmp.Compare(c.Steps[b].WallNS, c.Steps[a].WallNS) })
	for _, i := range worst[:min(mostPlaces, len(worst))] {
		f.Where = append(f.Where, c.stepPlace(i))
		st := c.Steps[i]
		f.Evidence = append(f.Evidence, fmt.Sprintf("%s at %s on %s: %s, median %s, idle %s", shortStep(st), unit.Timestamp(st.StartNS),
			c.device(st.Input, st.Rank, st.Device), unit.Duration(st.WallNS), unit.Duration(medians[st.Marker+"\x00"+st.Kind]), unit.Duration(st.Activity.Idle())))
	}
	f.gain(c.overMedian(worst, medians))
	return f, true
}

// stepPlace returns the place of a step.
func (c *evaluator) stepPlace(i int) Place {
	st := c.Steps[i]
	at := placeOf(st.Input, st.Rank, st.Device).at(st.StartNS, st.WallNS)
	at.Step = st.Name
	return at
}

// overMedian returns the time of slow steps over the median of their kind, the time of
// all steps, and the name of the latter.
func (c *evaluator) overMedian(slow []int, medians map[string]int64) (over, all int64, of string) {
	for _, i := range slow {
		st := c.Steps[i]
		over = summary.Plus(over, max(0, st.WallNS-medians[st.Marker+"\x00"+st.Kind]))
	}
	for _, st := range c.Steps {
		all = summary.Plus(all, st.WallNS)
	}
	return over, all, "all steps"
}

// fewestPeriods is the number of slow steps from which they can be periodic. Two have
// only one distance.
const fewestPeriods = 3

// period returns the distance between slow steps, if it is the same on every GPU that
// has any.
func (c *evaluator) period(states []StepState, groups []stepGroup) (int, bool) {
	period, found := 0, false
	for _, g := range groups {
		at := map[deviceKey]int{}    // steps so far
		last := map[deviceKey]int{}  // the last slow step, from 1
		count := map[deviceKey]int{} // slow steps
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

// ordinal returns the ending of an ordinal number: "st", "nd", "rd" or "th".
func ordinal(n int) string {
	switch {
	case n%100 >= 11 && n%100 <= 13:
		return "th"
	case n%10 == 1:
		return "st"
	case n%10 == 2:
		return "nd"
	case n%10 == 3:
		return "rd"
	}
	return "th"
}
