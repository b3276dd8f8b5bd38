package logs

import (
	"cmp"
	"slices"

	"assay/logs"
	"assay/summary"
)

// stepTimes are the steps of a producer that have both a time and a phase. Shares of phases use only
// these, because a program may log phases of steps whose time it does not log.
type stepTimes struct {
	at    map[stepKey]float64 // nil if values have no step numbers
	n     int64
	total float64
}

// stepsWithPhases returns the steps of a producer that have both a time and a phase. A value
// without a step among others that have one was logged before the first step, such as the
// time of the setup. If no value has a step, or there is only a sample of them, all steps count if no
// timer has more values than there are steps; else none do.
func stepsWithPhases(steps, phases []*logs.Series, producer string) stepTimes {
	known := map[stepKey]float64{}
	whole, numbered := stepTimes{}, true
	for _, s := range steps {
		if s.Producer != producer {
			continue
		}
		numbered = numbered && tellsSteps(s)
		whole.n, whole.total = max(whole.n, s.N), max(whole.total, s.Sum)
		for i, v := range s.Points.Value {
			if k := keyOfStep(s, i); v > known[k] { // of several ranks the longest one counts
				known[k] = v
			}
		}
	}
	some, once := false, true
	for _, s := range phases {
		if s.Producer == producer {
			numbered = numbered && !s.Sampled()
			some, once = some || s.Points.Step != nil, once && s.N == 1
		}
	}
	if !numbered || !some && !(once && whole.n > 2) {
		for _, s := range phases {
			if s.Producer == producer && s.N > whole.n {
				return stepTimes{}
			}
		}
		return whole
	}
	out := stepTimes{at: map[stepKey]float64{}}
	for _, s := range phases {
		if s.Producer != producer {
			continue
		}
		for i := range s.Points.Value {
			k := keyOfStep(s, i)
			v, ok := known[k]
			if _, done := out.at[k]; !ok || done {
				continue
			}
			out.at[k] = v
			out.n, out.total = out.n+1, out.total+v
		}
	}
	return out
}

// tellsSteps reports whether all values of a series were kept, each with its step.
func tellsSteps(s *logs.Series) bool {
	if s.Sampled() || s.Points.Step == nil {
		return false
	}
	for _, step := range s.Points.Step {
		if step == logs.NoStep {
			return false
		}
	}
	return true
}

// sum returns the total time of a timer in these steps, in ns.
func (t *stepTimes) sum(s *logs.Series) (sum float64) {
	if t.at == nil {
		if t.n == 0 {
			return 0
		}
		return s.Sum
	}
	for i, v := range s.Points.Value {
		if _, ok := t.at[keyOfStep(s, i)]; ok {
			sum += v
		}
	}
	return sum
}

// row returns the row for a timer with a total of ns in these steps.
func (t *stepTimes) row(ns float64) *summary.InSteps {
	return &summary.InSteps{Steps: t.n, StepNS: nanoseconds(t.total), NS: nanoseconds(ns), OwnNS: nanoseconds(ns)}
}

// inSteps finds the steps of each producer that have both a time and phases.
func (m *seriesMeasure) inSteps(steps, phases []*logs.Series) {
	m.both = map[string]stepTimes{}
	for _, s := range phases {
		if _, ok := m.both[s.Producer]; !ok {
			m.both[s.Producer] = stepsWithPhases(steps, phases, s.Producer)
		}
	}
}

// timerRow returns the row of one series or of several together. A phase also gets its time in steps:
// of several ranks, that of the rank with the longest total.
func (m *seriesMeasure) timerRow(of []*logs.Series) summary.Series {
	row := m.row(of)
	if of[0].Metric.Name == metricPhase && row.N > 0 {
		longest := slices.MaxFunc(of, func(a, b *logs.Series) int { return cmp.Compare(a.Sum, b.Sum) })
		both := m.both[longest.Producer]
		row.InSteps = both.row(both.sum(longest))
	}
	return row
}
