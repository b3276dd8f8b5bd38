package logs

import (
	"cmp"
	"slices"

	"assay/logs"
	"assay/summary"
)

// stepTimes are the steps of a producer that have both a time and a phase. Shares of phases use only
// these, because a program may log phases of steps whose time it does not log; and of these only the steps that
// are no warm-up.
type stepTimes struct {
	at      map[stepKey]stepTime // nil if values have no step numbers
	n       int64
	total   float64
	longest float64 // of all steps
}

// A stepTime is the time of a step, or the mean of the steps of one record.
type stepTime struct {
	ns     float64
	covers int64 // steps of the record; 0 in warm-up
}

// fits reports whether a time can be within a step of some length. Logs round times.
func fits(ns, step float64) bool { return ns <= step*1.01 }

// stepsWithPhases returns the steps of a producer that have both a time and a phase. A value
// without a step among others that have one was logged before the first step, such as the
// time of the setup. If no value has a step, or there is only a sample of them, all steps count if no
// timer has more values than there are steps; else none do.
func (m *seriesMeasure) stepsWithPhases(steps, phases []*logs.Series, producer string) stepTimes {
	known := map[stepKey]float64{}
	whole, numbered := stepTimes{}, true
	for _, s := range steps {
		if s.Producer != producer {
			continue
		}
		numbered = numbered && tellsSteps(s)
		whole.n, whole.total, whole.longest = max(whole.n, s.N), max(whole.total, s.Sum), max(whole.longest, s.Max)
		for i, v := range s.Points.Value {
			if k := keyOfStep(s, i); possible(v) && v > known[k] { // of several ranks the longest one counts
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
				return stepTimes{longest: whole.longest}
			}
		}
		return whole
	}
	out, wrong := stepTimes{at: map[stepKey]stepTime{}, longest: whole.longest}, impossibleSteps(known, phases, producer)
	for _, s := range phases {
		if s.Producer != producer {
			continue
		}
		for i := range s.Points.Value {
			k := keyOfStep(s, i)
			v, ok := known[k]
			if _, done := out.at[k]; !ok || done || wrong[k] {
				continue
			}
			at := stepTime{v, m.covers(k)}
			out.at[k] = at
			out.n, out.total = out.n+at.covers, out.total+v*float64(at.covers)
		}
	}
	return out
}

// longest is the time in ns above which no timer can be right: 100 hours.
const longest = 100 * 3600 * 1_000_000_000

func possible(ns float64) bool { return ns >= 0 && ns <= longest }

// single reports whether the values that are no numbers are the exception. Some programs write them for timers that
// most steps lack.
func single(s *logs.Series) bool { return 2*(s.NaN+s.Inf) <= s.N }

// impossibleSteps returns the steps with a timer that is negative, far too long, or not a number. Without it the
// others are not the whole step.
func impossibleSteps(steps map[stepKey]float64, phases []*logs.Series, producer string) map[stepKey]bool {
	wrong := map[stepKey]bool{}
	for _, s := range phases {
		if s.Producer != producer {
			continue
		}
		has := map[stepKey]bool{}
		for i, v := range s.Points.Value {
			k := keyOfStep(s, i)
			has[k] = true
			if !possible(v) {
				wrong[k] = true
			}
		}
		for k := range steps { // NaN values are not among the values
			if s.NaN+s.Inf > 0 && single(s) && !s.Sampled() && !has[k] {
				wrong[k] = true
			}
		}
	}
	return wrong
}

// covers returns the number of steps of the record of a step, or 0 if it is warm-up.
func (m *seriesMeasure) covers(k stepKey) int64 {
	i, ok := m.stepAt[k]
	switch {
	case !ok:
		return 1
	case m.warm[i]:
		return 0
	}
	return m.out.Steps[i].Covers()
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
		return min(s.Sum, t.total)
	}
	for i, v := range s.Points.Value {
		if step := t.at[keyOfStep(s, i)]; fits(v, step.ns) {
			sum += min(v, step.ns) * float64(step.covers)
		}
	}
	return sum
}

// row returns the row for a timer with a total of ns in these steps, and its part without nested ones.
func (t *stepTimes) row(ns, own float64) *summary.InSteps {
	return &summary.InSteps{Steps: t.n, StepNS: nanoseconds(t.total), NS: nanoseconds(ns), OwnNS: nanoseconds(own)}
}

// inSteps finds the steps of each producer that have both a time and phases.
func (m *seriesMeasure) inSteps(steps, phases []*logs.Series) {
	m.both = map[string]stepTimes{}
	for _, s := range phases {
		if _, ok := m.both[s.Producer]; !ok {
			m.both[s.Producer] = m.stepsWithPhases(steps, phases, s.Producer)
		}
	}
}

// timerRow returns the row of one series or of several together. A phase also gets its time in steps:
// of several ranks, that of the rank with the longest total.
func (m *seriesMeasure) timerRow(of []*logs.Series) summary.Series {
	row := m.row(of)
	if isTimer(of[0]) && row.N > 0 {
		longest := slices.MaxFunc(of, func(a, b *logs.Series) int { return cmp.Compare(a.Sum, b.Sum) })
		both := m.both[longest.Producer]
		ns := both.sum(longest)
		row.InSteps = both.row(ns, ns)
	}
	return row
}
