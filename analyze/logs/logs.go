// Package logs measures logs: statistics of each metric, steps and phases whose times were logged,
// and results of benchmarks.
//
// Start with logs.go (Measure). steps.go makes rows of steps, intervals.go finds how many steps a record has,
// insteps.go relates timers to the time of steps, phases.go divides each step among its phases, groups.go
// describes process groups.
package logs

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"assay/analyze/phase"
	"assay/internal/diag"
	"assay/internal/stat"
	"assay/logs"
	"assay/summary"
)

// Measure measures a log: statistics of each metric at each place and at all places together, steps
// and phases, and benchmark results as they were reported. Tables have at most most rows.
func Measure(l *logs.Log, in summary.Input, phases *phase.Rules, most int, issues *diag.Ledger) *summary.Summary {
	in.Events, in.Complete = l.Records, l.Complete
	s := &summary.Summary{Schema: summary.Schema, Devices: []summary.Device{}, Kernels: []summary.Kernel{}}
	m := &seriesMeasure{log: l, rules: phases, most: most, out: s}
	steps, parts := m.steps(), m.phases()
	derived := false
	if len(steps) == 0 && len(parts) > 0 {
		if sum, ok := sumOfPhases(parts); ok {
			steps, derived = []*logs.Series{sum}, true
		}
	}
	// SpanNS stays 0: it is the denominator of shares of a timeline, and a log has none.
	if l.Clock.Known && l.Clock.Dated && l.Clock.Zoned {
		in.BaseTimeNS = &l.Clock.Start
	}
	s.Inputs = []summary.Input{in}
	m.stepRows(steps)
	m.inSteps(steps, parts)
	for i := range l.Series {
		s.Series = append(s.Series, m.timerRow([]*logs.Series{&l.Series[i]}))
	}
	if derived {
		row := m.row(steps)
		row.Derived = "sum of the phases"
		s.Series = append(s.Series, row)
	}
	m.pooled()
	m.phaseRows(parts)
	for i := range l.Benchmarks {
		s.Benchmarks = append(s.Benchmarks, benchmarkRow(&l.Benchmarks[i], i))
	}
	for _, c := range l.Settings {
		s.Settings = append(s.Settings, summary.Setting{Producer: c.Producer, Key: c.Key, Name: c.Name, Value: c.Value, Line: c.Line, Varies: c.Varies})
	}
	for _, r := range l.Readings {
		row := summary.Health{Rank: in.Rank, Node: r.Node, Part: r.Part, Property: r.Property, Name: r.Name, Value: r.Last, Times: r.Times, Line: r.Line, At: r.At}
		if r.First != r.Last {
			row.First = r.First
		}
		s.Health = append(s.Health, row)
	}
	for i := range l.Groups {
		s.Groups = append(s.Groups, groupRow(&l.Groups[i], in))
	}
	m.noteUnverified(issues)
	m.noteTimers(parts, issues)
	return s
}

// A seriesMeasure measures one log.
type seriesMeasure struct {
	log    *logs.Log
	rules  *phase.Rules // say which metrics are phases
	most   int          // rows of a table
	out    *summary.Summary
	stepAt map[stepKey]int      // indices of the rows of steps
	warm   []bool               // by row of a step: it is warm-up
	both   map[string]stepTimes // by producer: the steps that have a time and phases
}

// noteUnverified adds an issue if the format is known only from a program's source code, not from a
// real log.
func (m *seriesMeasure) noteUnverified(issues *diag.Ledger) {
	for _, p := range m.log.Producers {
		issues.AddN(diag.Issue{Code: "log-form-unverified", Severity: diag.Info, First: diag.Pos{File: p.Name, Line: 1}},
			p.Unverified)
	}
}

// row returns the statistics of the values of one series, or of several together.
func (m *seriesMeasure) row(of []*logs.Series) summary.Series {
	f := of[0]
	r := summary.Series{Metric: f.Metric.Name, Unit: f.Metric.Unit, Better: string(f.Metric.Better),
		Role: string(f.Metric.Role), Pool: string(f.Metric.Pool),
		Producer: f.Producer, Name: f.As, Inside: f.Inside}
	if len(of) > 1 {
		r.Pooled = int64(len(of))
		r.Labels = m.labels(f, sharedLabel)
	} else {
		r.Labels = m.labels(f, func(string) bool { return true })
	}
	var all logs.Points
	var sum float64
	runs := int32(0)
	for _, s := range of {
		r.N += s.N
		r.NaN, r.Infinite, r.Missing = r.NaN+s.NaN, r.Infinite+s.Inf, r.Missing+s.Missing
		r.Sampled = r.Sampled || s.Sampled()
		sum += s.Sum
		for _, run := range s.Points.Run {
			runs = max(runs, run)
		}
	}
	if runs > 0 {
		r.Runs = int64(runs) + 1
	}
	if len(of) == 1 {
		all = f.Points
	} else {
		all = joinedPoints(of)
	}
	if r.N == 0 || len(all.Value) == 0 {
		r.N = 0
		return r
	}
	m.statistics(&r, of, &all, sum)
	return r
}

// statistics sets the statistics of a row that has values.
func (m *seriesMeasure) statistics(r *summary.Series, of []*logs.Series, all *logs.Points, sum float64) {
	least, most := math.Inf(1), math.Inf(-1)
	for _, s := range of {
		if s.N > 0 { // the bounds of a series without values are no values
			least, most = min(least, s.Min), max(most, s.Max)
		}
	}
	median, mad := stat.MAD(all.Value)
	mean := sum / float64(r.N)
	r.Min, r.Median, r.Max, r.Mean, r.Sum = &least, &median, &most, finite(mean), finite(sum)
	if r.Mean == nil || r.Sum == nil { // beyond what a float64 can be
		*r = summary.Series{Metric: r.Metric, Unit: r.Unit, Better: r.Better, Role: r.Role, Producer: r.Producer,
			Name: r.Name, Labels: r.Labels, Pooled: r.Pooled}
		return
	}
	first, last := all.Value[0], all.Value[len(all.Value)-1]
	r.MAD, r.First, r.Last = finite(mad), &first, &last
	if r.N > 1 && !r.Sampled {
		r.After = finite((sum - first) / float64(r.N-1))
	}
	m.extent(r, all)
	if len(of) > 1 {
		r.Together = together(of)
	} else {
		r.Strip = m.strip(all)
	}
}

// extent sets the first and last step and time.
func (m *seriesMeasure) extent(r *summary.Series, p *logs.Points) {
	r.FirstStep, r.LastStep = ends(p.Step, logs.NoStep)
	if r.FirstNS, r.LastNS = ends(p.Time, logs.NoTime); r.FirstNS != nil {
		*r.FirstNS, *r.LastNS = m.sinceStart(*r.FirstNS), m.sinceStart(*r.LastNS)
	}
}

// sinceStart returns a time of the log since its first one.
func (m *seriesMeasure) sinceStart(t int64) int64 { return summary.Plus(t, -m.log.Clock.Start) }

// ends returns the minimum and the maximum of a column, ignoring the value none; nil if there is no
// other value.
func ends(column []int64, none int64) (least, most *int64) {
	low, high, found := int64(0), int64(0), false
	for _, v := range column {
		switch {
		case v == none:
		case !found:
			low, high, found = v, v, true
		default:
			low, high = min(low, v), max(high, v)
		}
	}
	if !found {
		return nil, nil
	}
	return &low, &high
}

// finite returns a pointer to v, or nil if it is not finite.
func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// together combines the medians of several series: the sum for metrics that add up, the maximum for
// times, and nil for other metrics.
func together(of []*logs.Series) *float64 {
	var v float64
	n := 0
	for _, s := range of {
		if s.Points.Len() == 0 {
			continue
		}
		median := stat.Median(s.Points.Value)
		switch {
		case s.Metric.Pool == logs.PoolSum:
			v += median
		case s.Metric.Pool != logs.PoolWorst:
			return nil
		case n == 0, s.Metric.Better == logs.Higher && median < v, s.Metric.Better != logs.Higher && median > v:
			v = median
		}
		n++
	}
	if n == 0 {
		return nil
	}
	return finite(v)
}

// sharedLabel reports whether a row of several places keeps a label.
func sharedLabel(name string) bool { return name == "phase" }

// labels returns the labels of a series for which want is true. The timer of a phase also gets the
// label of the phase.
func (m *seriesMeasure) labels(s *logs.Series, want func(string) bool) map[string]string {
	out := map[string]string{}
	for _, l := range s.Labels {
		if want(l.Name) {
			out[l.Name] = l.Value
		}
	}
	if isTimer(s) {
		if p := m.phaseOf(s); p != "" {
			out["phase"] = p
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// pooled adds a row for each metric that was measured at several places.
func (m *seriesMeasure) pooled() {
	type key struct{ producer, metric, as, unit, labels string }
	groups := map[key][]*logs.Series{}
	var order []key
	for i := range m.log.Series {
		s := &m.log.Series[i]
		if s.Label("cpu") == "all" { // already the mean of the others
			continue
		}
		var shared []string
		for _, l := range s.Labels {
			if sharedLabel(l.Name) {
				shared = append(shared, l.Name+"="+l.Value)
			}
		}
		k := key{s.Producer, s.Metric.Name, s.As, s.Metric.Unit, strings.Join(shared, " ")}
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], s)
	}
	for _, k := range order {
		if len(groups[k]) > 1 {
			m.out.Series = append(m.out.Series, m.timerRow(groups[k]))
		}
	}
}

// joinedPoints returns the points of several series by time, or by step.
func joinedPoints(of []*logs.Series) logs.Points {
	type point struct {
		v          float64
		step, time int64
	}
	var list []point
	for _, s := range of {
		for i, v := range s.Points.Value {
			list = append(list, point{v, s.Points.StepAt(i), s.Points.TimeAt(i)})
		}
	}
	order := func(a, b point) int { return cmp.Or(cmp.Compare(a.time, b.time), cmp.Compare(a.step, b.step)) }
	if !slices.IsSortedFunc(list, order) {
		slices.SortStableFunc(list, order)
	}
	var p logs.Points
	for _, at := range list {
		p.Value, p.Step, p.Time = append(p.Value, at.v), append(p.Step, at.step), append(p.Time, at.time)
	}
	return p
}

// strip returns the values for pictures.
func (m *seriesMeasure) strip(p *logs.Points) *summary.SeriesStrip {
	n := p.Len()
	at := func(i int) int64 { return int64(i) }
	by := "index"
	switch {
	case p.Step != nil && !slices.Contains(p.Step, logs.NoStep):
		by, at = "step", p.StepAt
	case p.Time != nil && !slices.Contains(p.Time, logs.NoTime):
		by, at = "time", func(i int) int64 { return m.sinceStart(p.TimeAt(i)) }
	}
	st := &summary.SeriesStrip{By: by}
	if n <= summary.MaxStrip {
		for i, v := range p.Value {
			st.X, st.Values = append(st.X, at(i)), append(st.Values, v)
		}
		return st
	}
	for g := range summary.MaxStrip {
		from, to := g*n/summary.MaxStrip, (g+1)*n/summary.MaxStrip
		group := p.Value[from:to]
		st.X, st.Values = append(st.X, at(from)), append(st.Values, stat.Median(group))
		st.Low, st.High = append(st.Low, slices.Min(group)), append(st.High, slices.Max(group))
	}
	return st
}

// benchmarkRow returns the row of a result of a benchmark.
func benchmarkRow(b *logs.Benchmark, number int) summary.Benchmark {
	r := summary.Benchmark{Number: number, Line: b.Line, Producer: b.Producer, Title: b.Title, Metrics: []summary.Figure{}}
	if b.Time != logs.NoTime && b.Time != 0 {
		r.TimeNS = &b.Time
	}
	for _, l := range b.Settings {
		if r.Settings == nil {
			r.Settings = map[string]string{}
		}
		r.Settings[l.Name] = l.Value
	}
	for _, f := range b.Metrics {
		if finite(f.Value) == nil {
			continue // reported as something that is not a number
		}
		r.Metrics = append(r.Metrics, summary.Figure{Metric: f.Metric.Name, Stat: f.Stat, Name: f.As, Unit: f.Metric.Unit,
			Better: string(f.Metric.Better), Role: string(f.Metric.Role), Value: f.Value})
	}
	return r
}
