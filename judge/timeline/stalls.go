package timeline

import (
	"cmp"
	"fmt"
	"slices"

	"assay/internal/unit"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/judge/tree"
	"assay/summary"
)

// slowSteps reports steps that are far over the median of their kind. If they are at equal
// distances, the finding of periodicStalls explains all of them.
func (c *Evaluator) slowSteps() []tree.Reading {
	f, ok := slow(c, c.Limits[rule.SlowSteps])
	f.Next = []finding.Step{finding.Advise("compare-the-slowest-step"), finding.Advise("schedule-garbage-collection")}
	r := tree.Reading{Finding: f, Reached: ok, Explains: map[string]int64{}}
	if f.GainNS != nil {
		r.Explains[rule.PeriodicStalls] = *f.GainNS
	}
	return r.IfReached()
}

// periodicStalls reports slow steps at equal distances.
func (c *Evaluator) periodicStalls() (finding.Finding, bool) {
	period, ok := period(c, c.states, c.groups)
	slow, isSlow := slow(c, c.Limits[rule.SlowSteps])
	if !ok || !isSlow {
		return finding.Finding{}, false
	}
	limits := c.Limits[rule.PeriodicStalls]
	f := slow
	level, limit, ok := limits.Level(f.Value)
	f.Title, f.Evidence = fmt.Sprintf("Periodic slow steps: every %d%s step is slow", period, ordinal(period)),
		append([]string{slow.Title}, slow.Evidence...)
	f.Rule, f.Warn, f.Critical = limits.ID, limits.Warn, limits.Critical
	f.Level, _ = limits.Tempered(level, limit, int64(len(c.Steps)))
	f.Next = []finding.Step{finding.Advise("find-what-is-periodic", "n", fmt.Sprint(period)),
		finding.Advise("schedule-garbage-collection")}
	if cause, known := commonCauseOf(c, slowOf(c), mediansOf(c)); known {
		f.Evidence = append([]string{cause.evidence()}, f.Evidence...)
		f.Next = finding.JoinSteps(cause.advice(), f.Next)
	}
	return f, ok
}

// slow measures the steps that are far over the median of their kind.
func slow(c *Evaluator, limits rule.Rule) (finding.Finding, bool) {
	slow, all := int64(0), int64(0)
	for _, g := range c.groups {
		if n := int64(len(g.steps)); n >= limits.MinEvents {
			slow, all = slow+g.Slow, all+n
		}
	}
	if slow == 0 {
		return finding.Finding{}, false
	}
	level, limit, ok := limits.Level(float64(slow) / float64(all))
	if !ok {
		return finding.Finding{}, false
	}
	level, limit = limits.Tempered(level, limit, all)
	f := finding.Finding{Rule: limits.ID, Level: level, Value: float64(slow) / float64(all), Warn: limits.Warn,
		Critical: limits.Critical}
	f.Title = fmt.Sprintf("Slow steps: %s of %s are %s or more over the median (%s)", unit.Count(slow), unit.Count(all),
		unit.Percent(limits.Margin), unit.Share(slow, all))
	if level > finding.Info {
		f.Title += rule.Over(limit)
	}
	medians, worst := mediansOf(c), slowOf(c)
	slices.SortStableFunc(worst, func(a, b int) int { return cmp.Compare(c.Steps[b].WallNS, c.Steps[a].WallNS) })
	for _, i := range worst[:min(finding.MostPlaces, len(worst))] {
		f.Where = append(f.Where, stepPlace(c, i))
		st := c.Steps[i]
		median, in := medians[st.Marker+"\x00"+st.Kind], ""
		if cause, known := causeOfStep(c, i, st.WallNS-median); known {
			in = fmt.Sprintf(", %s in %q", unit.Duration(cause.ns), finding.Short(cause.name))
		}
		f.Evidence = append(f.Evidence, fmt.Sprintf("%s at %s on %s: %s, median %s, idle %s", shortStep(st),
			unit.Timestamp(st.StartNS),
			c.Device(st.Input, st.Rank, st.Device), unit.Duration(st.WallNS), unit.Duration(median),
			unit.Duration(st.Activity.Idle()))+in)
	}
	f.Gain(overMedian(c, worst, medians))
	return f, true
}

// stepPlace returns a step as a place.
func stepPlace(c *Evaluator, i int) finding.Place {
	st := c.Steps[i]
	at := finding.PlaceOf(st.Input, st.Rank, st.Device).At(st.StartNS, st.WallNS)
	at.Step = st.Name
	return at
}

// overMedian returns the ns by which slow steps exceed the median of their kind, the ns of all
// steps, and the name of that denominator.
func overMedian(c *Evaluator, slow []int, medians map[string]int64) (over, all int64, of string) {
	for _, i := range slow {
		st := c.Steps[i]
		over += max(0, st.WallNS-medians[st.Marker+"\x00"+st.Kind])
	}
	for _, st := range c.Steps {
		all += st.WallNS
	}
	return over, all, "all steps"
}

// fewestPeriods is the least number of slow steps that can be called periodic, because two have
// only one distance.
const fewestPeriods = 3

// period returns the number of steps from one slow step to the next, if it is the same on every GPU
// that has slow steps.
func period(c *Evaluator, states []StepState, groups []stepGroup) (int, bool) {
	period, found := 0, false
	for _, g := range groups {
		at := map[summary.GPU]int{}    // steps so far
		last := map[summary.GPU]int{}  // the last slow step, counted from 1
		count := map[summary.GPU]int{} // number of slow steps
		for _, i := range g.steps {
			d := deviceOf(c, i)
			at[d]++
			if states[i] != StepSlow {
				continue
			}
			if count[d]++; count[d] > 1 {
				if distance := at[d] - last[d]; period == 0 {
					period = distance
				} else if distance != period {
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
