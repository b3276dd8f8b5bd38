package logs

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"assay/internal/stat"
	"assay/logs"
	"assay/summary"
)

// The metrics from which steps and phases are made.
const (
	metricStep  = "step.time"
	metricPhase = "step.phase"
)

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
		if s.Metric.Name != metricPhase || s.N == 0 {
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

// maxLoggedSteps is the maximum number of rows of steps of a log. Statistics cover all steps.
const maxLoggedSteps = 20_000

// stepRows adds a row for each step. If several ranks log a step, its longest time counts.
func (m *seriesMeasure) stepRows(of []*logs.Series) {
	var rows []summary.Step
	index := map[stepKey]int{}
	for _, s := range of {
		start := int64(0)
		for i, v := range s.Points.Value {
			if !(v >= 0 && v < math.MaxInt64/4) {
				continue
			}
			wall := int64(math.Round(v))
			k := keyOfStep(s, i)
			row := summary.Step{Device: summary.NoDevice, Name: fmt.Sprintf("step %d", k.step), Number: k.step, StartNS: start,
				WallNS: wall, Source: summary.SourceLog, Marker: s.Producer}
			if t := s.Points.TimeAt(i); t != logs.NoTime { // a step is logged when it is done
				row.StartNS = m.sinceStart(t) - wall
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

// phasesOfSteps adds the outermost phases to each step with a number. A time longer than the step is
// left out: it belongs to something outside, such as an evaluation after the step.
func (m *seriesMeasure) phasesOfSteps(of []*logs.Series) {
	for _, s := range of {
		if s.Inside != "" || s.Sampled() {
			continue
		}
		name, _ := m.phasePath(s, nil, 0)
		for i, v := range s.Points.Value {
			at, ok := m.stepAt[keyOfStep(s, i)]
			if !ok || s.Points.StepAt(i) == logs.NoStep || !(v > 0) {
				continue
			}
			st, ns := &m.out.Steps[at], nanoseconds(v)
			if ns > st.WallNS+st.WallNS/100 {
				continue
			}
			k := slices.IndexFunc(st.Phases, func(p summary.StepPhase) bool { return p.Name == name })
			if k < 0 {
				k = len(st.Phases)
				st.Phases = append(st.Phases, summary.StepPhase{Name: name})
			}
			st.Phases[k].NS = summary.Plus(st.Phases[k].NS, ns)
		}
	}
	for i := range m.out.Steps {
		slices.SortStableFunc(m.out.Steps[i].Phases, func(a, b summary.StepPhase) int { return cmp.Compare(b.NS, a.NS) })
	}
}

func (m *seriesMeasure) maxSteps() int { return min(maxLoggedSteps, m.most) }

// phaseRows adds a row for each phase. Timers of the same phase at the same level are summed. A timer
// inside a timer of the same phase is part of it and has no row.
func (m *seriesMeasure) phaseRows(of []*logs.Series) {
	byName := map[string]*logs.Series{}
	for _, s := range of {
		byName[s.As] = s
	}
	type key struct{ producer, path string }
	paths := map[key]*loggedPhase{}
	var order []key
	for _, s := range of {
		path, part := m.phasePath(s, byName, 0)
		if part {
			continue
		}
		k := key{s.Producer, path}
		p := paths[k]
		if p == nil {
			p = &loggedPhase{row: summary.Phase{Device: summary.NoDevice, Path: path, Example: s.As, Producer: s.Producer,
				Source: summary.SourceLog}}
			paths[k] = p
			order = append(order, k)
		}
		both := m.both[s.Producer]
		p.add(s, both.sum(s))
	}
	for _, outer := range order {
		row := paths[outer].finish()
		both := m.both[row.Producer]
		row.HostOwnNS, row.InSteps = row.HostNS, both.row(paths[outer].inSteps)
		for _, inner := range order {
			if up, _, nested := cutLast(inner.path); nested && up == outer.path && inner.producer == outer.producer {
				row.HostOwnNS = max(0, row.HostOwnNS-nanoseconds(paths[inner].sum))
				row.InSteps.OwnNS = max(0, row.InSteps.OwnNS-nanoseconds(paths[inner].inSteps))
			}
		}
		m.out.Phases = append(m.out.Phases, row)
	}
}

// cutLast splits a path before its last part.
func cutLast(path string) (up, name string, ok bool) {
	i := strings.LastIndexByte(path, '/')
	if i < 0 {
		return "", path, false
	}
	return path[:i], path[i+1:], true
}

// phasePath returns the path of a timer, and whether it is part of a timer of the same
// phase.
func (m *seriesMeasure) phasePath(s *logs.Series, byName map[string]*logs.Series, depth int) (path string, part bool) {
	name := m.rules.Match(s.As).Phase
	if name == "" {
		name = timerName(s.As)
	}
	up := byName[s.Inside]
	if s.Inside == "" || up == nil || up == s || depth >= summary.MaxPhaseDepth {
		return name, false
	}
	around, part := m.phasePath(up, byName, depth+1)
	if _, last, _ := cutLast(around); part || last == name {
		return around, true
	}
	return around + "/" + name, false
}

// timerName returns the name of a timer without the prefixes of producers.
func timerName(as string) string {
	for _, prefix := range []string{"timing_s/", "timing/train/", "timing/", "perf/"} {
		as = strings.TrimPrefix(as, prefix)
	}
	return strings.ReplaceAll(as, "/", ".")
}

// A loggedPhase sums the timers of one path.
type loggedPhase struct {
	row     summary.Phase
	sum     float64
	inSteps float64 // the part in steps that have a time
	values  []float64
}

func (p *loggedPhase) add(s *logs.Series, inSteps float64) {
	p.row.Count += s.N
	p.sum, p.inSteps = p.sum+s.Sum, p.inSteps+inSteps
	p.values = append(p.values, s.Points.Value...)
	p.row.MaxNS = max(p.row.MaxNS, nanoseconds(s.Max))
}

func (p *loggedPhase) finish() summary.Phase {
	p.row.HostNS = nanoseconds(p.sum)
	if len(p.values) > 0 {
		p.row.MedianNS = nanoseconds(stat.MedianInPlace(p.values))
	}
	return p.row
}

// nanoseconds rounds a time that is not negative.
func nanoseconds(v float64) int64 {
	if !(v > 0) {
		return 0
	}
	return int64(math.Round(min(v, math.MaxInt64/4)))
}
