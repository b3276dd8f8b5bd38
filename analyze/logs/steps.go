package logs

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"assay/logs"
	"assay/summary"
)

// The metrics from which steps and phases are made.
const (
	metricStep  = "step.time"
	metricPhase = "step.phase"
	metricWait  = "step.wait" // a phase as well
)

// isTimer reports whether a series is the times of a phase.
func isTimer(s *logs.Series) bool { return s.Metric.Name == metricPhase || s.Metric.Name == metricWait }

// steps returns the series of the times of steps: one for each producer, or for each rank
// that logs them.
func (m *seriesMeasure) steps() (out []*logs.Series) {
	for i := range m.log.Series {
		if s := &m.log.Series[i]; s.Metric.Name == metricStep && s.N > 0 {
			out = append(out, s)
		}
	}
	return out
}

// phases returns the series of the times of phases, one for each timer: of several ranks
// that of the one with the longest total.
func (m *seriesMeasure) phases() (out []*logs.Series) {
	index := map[[2]string]int{}
	for i := range m.log.Series {
		s := &m.log.Series[i]
		if !isTimer(s) || s.N == 0 {
			continue
		}
		key := [2]string{s.Producer, s.As}
		k, ok := index[key]
		switch {
		case !ok:
			index[key] = len(out)
			out = append(out, s)
		case s.Sum > out[k].Sum:
			out[k] = s
		}
	}
	return out
}

// sumOfPhases returns the times of steps whose producer logs only their phases: the sum of
// the outermost ones, of each step that has one. Phases that have no step, such as those
// before the first one, count for none.
func sumOfPhases(phases []*logs.Series) (*logs.Series, bool) {
	type key struct {
		run  int32
		step int64
	}
	sums, times := map[key]float64{}, map[key]int64{}
	var order []key
	for _, s := range phases {
		if s.Inside != "" || s.Sampled() {
			continue
		}
		for i, v := range s.Points.Value {
			k := key{s.Points.RunAt(i), s.Points.StepAt(i)}
			if k.step == logs.NoStep {
				continue
			}
			if _, ok := sums[k]; !ok {
				order = append(order, k)
				times[k] = logs.NoTime
			}
			sums[k] += v
			times[k] = max(times[k], s.Points.TimeAt(i))
		}
	}
	if len(order) == 0 {
		return nil, false
	}
	slices.SortStableFunc(order,
		func(a, b key) int { return cmp.Or(cmp.Compare(a.run, b.run), cmp.Compare(a.step, b.step)) })
	metric, _ := logs.MetricOf(metricStep)
	out := &logs.Series{Metric: metric, As: metricStep, Producer: phases[0].Producer, N: int64(len(order)),
		Min: math.Inf(1), Max: math.Inf(-1)}
	for _, k := range order {
		v := sums[k]
		out.Min, out.Max, out.Sum = min(out.Min, v), max(out.Max, v), out.Sum+v
		p := &out.Points
		p.Value, p.Step, p.Time, p.Run = append(p.Value, v), append(p.Step, k.step), append(p.Time, times[k]),
			append(p.Run, k.run)
	}
	return out, true
}

// clockBack is by how much the time of a step may be before that of the one logged before it, in ns.
const clockBack = int64(2e9)

// maxLoggedSteps is the maximum number of rows of steps of a log. Statistics cover all steps.
const maxLoggedSteps = 20_000

// stepRows adds a row for each step. If several ranks log a step, its longest time counts.
func (m *seriesMeasure) stepRows(of []*logs.Series) {
	var rows []summary.Step
	index, kept := map[stepKey]int{}, map[string]keeping{}
	for _, s := range of {
		start, moved := int64(0), int64(0)
		for i, v := range s.Points.Value {
			if !(v >= 0 && v < math.MaxInt64/4) {
				continue
			}
			wall := int64(math.Round(v))
			k := keyOfStep(s, i)
			kept[s.Producer] = kept[s.Producer].with(k.n == 0, s.Points.TimeAt(i) != logs.NoTime)
			row := summary.Step{Device: summary.NoDevice, Name: fmt.Sprintf("step %d", k.step), Number: k.step, StartNS: start,
				WallNS: wall, Source: summary.SourceLog, Marker: s.Producer}
			if t := s.Points.TimeAt(i); t != logs.NoTime { // a step is logged when it is done
				row.StartNS = m.sinceStart(t) + moved - wall
				if back := start - row.StartNS - wall; i > 0 && back > clockBack { // the clock was set: the order of the log counts
					moved, row.StartNS = moved+back+wall, start
				}
			}
			start = summary.Plus(start, wall)
			j, ok := index[k]
			switch {
			case ok && wall > rows[j].WallNS:
				rows[j] = row
			case !ok && len(rows) < m.maxSteps():
				index[k] = len(rows)
				rows = append(rows, row)
			}
		}
	}
	m.out.Steps, m.stepAt = rows, index
	m.intervals(kept)
}

// A stepKey identifies a step of a log.
type stepKey struct {
	producer string // two programs may write one log, and number their steps alike
	run      int32
	step     int64
	n        int // position, for steps without a number
}

// keyOfStep returns the step of a value.
func keyOfStep(s *logs.Series, i int) stepKey {
	k := stepKey{producer: s.Producer, run: s.Points.RunAt(i), step: s.Points.StepAt(i)}
	if k.step == logs.NoStep {
		k.step, k.n = int64(i), 1
	}
	return k
}

func (m *seriesMeasure) maxSteps() int { return min(maxLoggedSteps, m.most) }
