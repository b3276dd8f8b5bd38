package logs

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"assay/internal/stat"
	"assay/logs"
	"assay/summary"
)

// phaseRows adds a row for each phase, and the outermost phases to each step. Timers of the same phase at the
// same level are summed. A timer inside a timer of the same phase is part of it and has no row.
func (m *seriesMeasure) phaseRows(of []*logs.Series) {
	var producers []string
	trees := map[string]*phaseTree{}
	for _, s := range of {
		if trees[s.Producer] == nil {
			trees[s.Producer] = &phaseTree{both: m.both[s.Producer], index: map[string]int{}, byName: map[string]*logs.Series{}}
			producers = append(producers, s.Producer)
		}
		trees[s.Producer].byName[s.As] = s
	}
	for _, s := range of {
		t := trees[s.Producer]
		if path, part := m.phasePath(s, t.byName, 0); !part {
			t.add(path, s, m.phaseOf(s) != "")
		}
	}
	for _, p := range producers {
		t := trees[p]
		t.link()
		if t.both.at == nil {
			t.total()
		} else {
			m.eachStep(t)
		}
		m.out.Phases = append(m.out.Phases, t.rows()...)
	}
	for i := range m.out.Steps {
		slices.SortStableFunc(m.out.Steps[i].Phases, func(a, b summary.StepPhase) int { return cmp.Compare(b.NS, a.NS) })
	}
}

// A phaseTree divides the time of steps among the phases of one producer. By construction no phase takes longer
// than the step, and nested phases take no longer than the phase around them.
type phaseTree struct {
	both   stepTimes
	list   []*loggedPhase
	index  map[string]int // by path
	byName map[string]*logs.Series
	order  []int // indices of list, parents before what is nested
	around int   // the phase that contains others without having said so; -1 if none
}

// A loggedPhase sums the timers of one path.
type loggedPhase struct {
	row    summary.Phase
	series []*logs.Series
	known  bool // its name is that of a phase
	parent int  // index of the phase around it, or -1
	sum    float64
	values []float64

	now, nowOwn float64 // in one step: the time, and that without nested phases
	ns, own     float64 // in all steps that count
	outside     float64
}

func (t *phaseTree) add(path string, s *logs.Series, known bool) {
	i, ok := t.index[path]
	if !ok {
		i = len(t.list)
		t.index[path] = i
		t.list = append(t.list, &loggedPhase{row: summary.Phase{Device: summary.NoDevice, Path: path, Example: s.As,
			Producer: s.Producer, Source: summary.SourceLog}, known: known})
	}
	p := t.list[i]
	p.series = append(p.series, s)
	p.row.Count += s.N
	p.sum += s.Sum
	p.values = append(p.values, s.Points.Value...)
	p.row.MaxNS = max(p.row.MaxNS, nanoseconds(s.Max))
}

// link finds the phase around each phase.
func (t *phaseTree) link() {
	for i, p := range t.list {
		p.parent = -1
		if up, _, nested := cutLast(p.row.Path); nested {
			if k, ok := t.index[up]; ok {
				p.parent = k
			}
		}
		t.order = append(t.order, i)
	}
	slices.SortStableFunc(t.order, func(a, b int) int {
		return cmp.Compare(t.list[a].row.Depth(), t.list[b].row.Depth())
	})
	t.around = -1
}

// total divides the time of all steps together, where single steps are not known.
func (t *phaseTree) total() {
	for _, p := range t.list {
		p.now = p.sum
		if t.both.longest > 0 && !fits(float64(p.row.MaxNS), t.both.longest) {
			p.now, p.outside = 0, p.sum
		}
	}
	if t.both.total <= 0 {
		return
	}
	t.divide(t.both.total)
	for _, p := range t.list {
		p.ns, p.own = p.now, p.nowOwn
	}
}

// eachStep divides each step.
func (m *seriesMeasure) eachStep(t *phaseTree) {
	values := map[stepKey][]float64{}
	var keys []stepKey
	for i, p := range t.list {
		for _, s := range p.series {
			for k, v := range s.Points.Value {
				key := keyOfStep(s, k)
				step, ok := t.both.at[key]
				switch {
				case !ok || !(v > 0):
					continue
				case p.parent < 0 && !fits(v, step.ns):
					p.outside += v
					continue
				case values[key] == nil:
					values[key] = make([]float64, len(t.list))
					keys = append(keys, key)
				}
				values[key][i] += v
			}
		}
	}
	t.findAround(values)
	for _, key := range keys {
		step := t.both.at[key]
		for i, p := range t.list {
			p.now = values[key][i]
		}
		t.divide(step.ns)
		for _, p := range t.list {
			p.ns += p.now * float64(step.covers)
			p.own += p.nowOwn * float64(step.covers)
		}
		if at, ok := m.stepAt[key]; ok && key.n == 0 {
			t.mark(&m.out.Steps[at])
		}
	}
}

// mark adds the outermost phases to a step.
func (t *phaseTree) mark(st *summary.Step) {
	for _, p := range t.list {
		if p.parent < 0 && p.now > 0 {
			name, _, _ := strings.Cut(p.row.Path, "/")
			st.Phases = append(st.Phases, summary.StepPhase{Name: name, NS: nanoseconds(p.now)})
		}
	}
}

// leastOverlap is the share of the time of steps from which on outermost phases overlap: less is rounding.
const leastOverlap = 0.02

// findAround finds the phase that contains others, although nothing says so: if the outermost phases together
// take longer than the steps, and there is a timer of no known phase that is at least as long as this excess, it
// times a part of the program in which the others ran.
func (t *phaseTree) findAround(values map[stepKey][]float64) {
	excess, total := 0.0, 0.0
	sums := make([]float64, len(t.list))
	for key, v := range values {
		step := t.both.at[key].ns
		sum := 0.0
		for i, p := range t.list {
			if p.parent < 0 {
				sums[i] += v[i]
				sum += v[i]
			}
		}
		excess, total = excess+max(0, sum-step), total+step
	}
	if excess < leastOverlap*total {
		return
	}
	for i, p := range t.list {
		if p.parent < 0 && !p.known && sums[i] >= 0.99*excess && (t.around < 0 || sums[i] > sums[t.around]) {
			t.around = i
		}
	}
}

// divide divides a time among the phases, whose times are in now: it limits each to the time around it, and sets
// the time without nested phases.
func (t *phaseTree) divide(step float64) {
	inner := make([]float64, len(t.list)) // by phase, the sum of what is nested; the last one is that of the step
	top := 0.0
	for _, p := range t.list {
		if p.parent >= 0 {
			inner[p.parent] += p.now
		} else {
			top += p.now
		}
	}
	if t.around >= 0 && top > step {
		p := t.list[t.around]
		p.now = max(0, p.now-(top-step))
	}
	for _, i := range t.order {
		p := t.list[i]
		if p.parent < 0 {
			p.now = min(p.now, step)
			p.nowOwn = p.now
			continue
		}
		up := t.list[p.parent]
		if all := inner[p.parent]; all > up.now { // they ran in parallel
			p.now *= up.now / all
		}
		p.nowOwn = p.now
		up.nowOwn = max(0, up.nowOwn-p.now)
	}
}

// rows returns the rows of all phases.
func (t *phaseTree) rows() (out []summary.Phase) {
	for _, p := range t.list {
		row := p.row
		row.HostNS = nanoseconds(p.sum)
		row.HostOwnNS = row.HostNS
		for _, inner := range t.list {
			if inner.parent >= 0 && t.list[inner.parent] == p {
				row.HostOwnNS = max(0, row.HostOwnNS-nanoseconds(inner.sum))
			}
		}
		if len(p.values) > 0 {
			row.MedianNS = nanoseconds(stat.MedianInPlace(p.values))
		}
		row.InSteps, row.OutsideNS = t.both.row(p.ns, p.own), nanoseconds(p.outside)
		out = append(out, row)
	}
	return out
}

// cutLast splits a path before its last part.
func cutLast(path string) (up, name string, ok bool) {
	i := strings.LastIndexByte(path, '/')
	if i < 0 {
		return "", path, false
	}
	return path[:i], path[i+1:], true
}

// phaseOf returns the phase that a timer measures, or "" if its name is unknown.
func (m *seriesMeasure) phaseOf(s *logs.Series) string {
	if s.Metric.Name == metricWait {
		return "wait"
	}
	return m.rules.Match(s.As).Phase
}

// phasePath returns the path of a timer, and whether it is part of a timer of the same
// phase.
func (m *seriesMeasure) phasePath(s *logs.Series, byName map[string]*logs.Series, depth int) (path string, part bool) {
	name := m.phaseOf(s)
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

// nanoseconds rounds a time that is not negative.
func nanoseconds(v float64) int64 {
	if !(v > 0) {
		return 0
	}
	return int64(math.Round(min(v, math.MaxInt64/4)))
}
